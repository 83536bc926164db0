#include "tests/codegen/container/sample_program.h"

#include <algorithm>
#include <cstring>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"

namespace rshift {
namespace {

TensorRecord Activation(const char* name, DType dtype, Shape shape, uint64_t offset) {
  TensorRecord tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.layout = Layout::kNhwc;
  tensor.shape = std::move(shape);
  tensor.offset = offset;
  return tensor;
}

TensorRecord Quantized(TensorRecord tensor, float scale, int32_t zero_point) {
  tensor.quantized = true;
  tensor.scale = scale;
  tensor.zero_point = zero_point;
  return tensor;
}

int32_t AddConstant(ProgramImage& image, const char* name, std::span<const uint8_t> bytes) {
  TensorRecord tensor;
  tensor.name = name;
  tensor.dtype = DType::kBytes;
  tensor.region = Region::kConst;
  tensor.shape = {static_cast<int64_t>(bytes.size())};
  tensor.offset = image.constants.size();
  image.constants.insert(image.constants.end(), bytes.begin(), bytes.end());
  image.constants.resize((image.constants.size() + 63) / 64 * 64);
  image.tensors.push_back(tensor);
  return static_cast<int32_t>(image.tensors.size()) - 1;
}

}  // namespace

ProgramImage SampleProgram() {
  ProgramImage image;
  image.meta = {{"mode", "asymmetric"}, {"model", "sample"}};
  image.tensors = {
      Activation("data", DType::kF32, {1, 2, 2, 3}, 0),
      Quantized(Activation("data_q", DType::kS8, {1, 2, 2, 3}, 64), 0.5f, -3),
      Quantized(Activation("conv", DType::kU8, {1, 2, 2, 2}, 128), 0.25f, 7),
      Activation("conv_f", DType::kF32, {1, 2, 2, 2}, 192),
      Activation("prob", DType::kF32, {1, 2, 2, 2}, 256),
  };
  image.arena_size = 256 + 32 + 64;
  const std::vector<int8_t> weights = {1, -2, 3, 4, 5, -6};
  const std::vector<int8_t> packed =
      PackConvWeights({.groups = 1, .oc_per_group = 2, .ic_per_group = 3, .taps = 1}, weights);
  const ChannelRequant records[2] = {{10, 1 << 30, 33}, {-20, 1500000000, 34}};
  std::vector<uint8_t> record_bytes(sizeof(records));
  std::memcpy(record_bytes.data(), records, sizeof(records));
  const int32_t weights_id = AddConstant(
      image, "conv.weights", {reinterpret_cast<const uint8_t*>(packed.data()), packed.size()});
  const int32_t requant_id = AddConstant(image, "conv.requant", record_bytes);
  image.constants.resize(image.constants.size() + 64);

  Command conv = NewCommand(Opcode::kConv);
  conv.Set(Field::kDst, 2).Set(Field::kSrc, 1).Set(Field::kWeights, weights_id);
  conv.Set(Field::kRequant, requant_id).Set(Field::kClampHiQ, 255);
  image.commands = {
      NewCommand(Opcode::kQuantize).Set(Field::kDst, 1).Set(Field::kSrc, 0),
      conv,
      NewCommand(Opcode::kDequantize).Set(Field::kDst, 3).Set(Field::kSrc, 2),
      NewCommand(Opcode::kSoftmaxF32).Set(Field::kDst, 4).Set(Field::kSrc, 3).Set(Field::kAxis, 3),
  };
  image.command_names = {"quantize", "conv", "dequantize", "softmax"};
  image.inputs = {{"data", 0}};
  image.outputs = {{"prob", 4}};
  return image;
}

ProgramImage SampleProgramOf4Bits() {
  ProgramImage image = SampleProgram();
  TensorRecord &weights = image.tensors[5], &requant = image.tensors[6];
  const std::vector<uint8_t> before = image.constants;  // weights, requant records, slack
  std::copy_n(before.begin() + 64, 64, image.constants.begin());
  std::copy_n(before.begin(), 64, image.constants.begin() + 64);
  requant.offset = 0;
  weights.offset = 64;
  image.constants_of_4_bits = 64;
  return image;
}

}  // namespace rshift
