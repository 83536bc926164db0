#include "tools/vectors.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "codegen/packing/packing.h"
#include "interop/json_file.h"
#include "isa/attributes.h"
#include "pipeline/tensor_view.h"

namespace rshift {
namespace {

// JSON has no infinities: "inf" and "-inf", which float() of Python reads.
Json NumberJson(float number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

const TensorRecord& Tensor(const ProgramImage& image, const Command& command, Field field) {
  return image.tensors[command.Tensor(field)];
}

NumpyArray Weights(Shape shape) {
  NumpyArray array{.name = "weights", .dtype = DType::kS8, .shape = std::move(shape), .bytes = {}};
  array.bytes.resize(static_cast<size_t>(NumElements(array.shape)));
  return array;
}

NumpyArray UnpackDepthwise(const Command& command, int64_t channels,
                           std::span<const uint8_t> packed) {
  const int64_t kh = command.Get(Field::kKernelH), kw = command.Get(Field::kKernelW);
  NumpyArray array = Weights({channels, 1, kh, kw});
  const int64_t row = RoundUp(channels, kPanelChannels);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < kh * kw; ++tap)
      array.bytes[c * kh * kw + tap] = packed[tap * row + c];
  }
  return array;
}

NumpyArray UnpackConv(const Command& command, int64_t ic, int64_t oc,
                      std::span<const uint8_t> packed) {
  const int64_t kh = command.Get(Field::kKernelH), kw = command.Get(Field::kKernelW);
  const int64_t groups = command.Get(Field::kGroups);
  const ConvDims dims{groups, oc / groups, ic / groups, kh, kw, command.Get(Field::kDilationW)};
  const PackedShape shape = ConvPackedShape(dims);
  const bool stem = UsesStemIm2col(dims);
  NumpyArray array = Weights({oc, ic / groups, kh, kw});
  size_t at = 0;
  for (int64_t o = 0; o < oc; ++o) {
    const uint8_t* base = packed.data() + o / dims.oc_per_group * shape.group_bytes();
    for (int64_t c = 0; c < dims.ic_per_group; ++c) {
      for (int64_t tap = 0; tap < kh * kw; ++tap) {
        const int64_t row = o % dims.oc_per_group;
        array.bytes[at++] = base[stem ? shape.Offset(row, 0, tap * dims.ic_per_group + c)
                                      : shape.Offset(row, tap, c)];
      }
    }
  }
  return array;
}

NumpyArray UnpackMatMul(int64_t k, int64_t n, std::span<const uint8_t> packed) {
  const PackedShape shape{1, n, k, 1};
  NumpyArray array = Weights({k, n});
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t o = 0; o < n; ++o) array.bytes[i * n + o] = packed[shape.Offset(o, 0, i)];
  }
  return array;
}

// Of a 16-bit command: `outer` matrices [inputs, taps] of the model, each turned around.
NumpyArray UnpackS16(Shape shape, int64_t outer, int64_t inputs, int64_t taps,
                     std::span<const uint8_t> packed) {
  NumpyArray array = Weights(std::move(shape));
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t at = o * inputs * taps;
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t t = 0; t < taps; ++t)
        array.bytes[at + i * taps + t] = packed[at + t * inputs + i];
    }
  }
  return array;
}

// A word of each record.
NumpyArray Words(const char* name, std::span<const uint8_t> records, size_t word) {
  const size_t channels = records.size() / sizeof(ChannelRequant);
  NumpyArray array{.name = name,
                   .dtype = DType::kS32,
                   .shape = {static_cast<int64_t>(channels)},
                   .bytes = std::vector<uint8_t>(channels * sizeof(int32_t))};
  for (size_t c = 0; c < channels; ++c) {
    std::memcpy(array.bytes.data() + c * sizeof(int32_t),
                records.data() + c * sizeof(ChannelRequant) + word * sizeof(int32_t),
                sizeof(int32_t));
  }
  return array;
}

std::span<const uint8_t> ConstantBytes(const Program& program, const TensorRecord& record) {
  return program.constants().subspan(record.offset, record.bytes());
}

Json FieldTensorJson(const TensorRecord& record) {
  Json json = {{"name", record.name},
               {"dtype", Name(record.dtype)},
               {"shape", OnnxShape(record)},
               {"memory_shape", record.shape},
               {"layout", record.layout == Layout::kNhwc ? "nhwc" : "plain"}};
  if (record.quantized) {
    json["scale"] = record.scale;
    json["zero_point"] = record.zero_point;
  }
  return json;
}

void AddConstant(const Program& program, const Command& command, Field field,
                 CommandVectors* vectors, Json* json) {
  const TensorRecord& record = Tensor(program.image(), command, field);
  const std::span<const uint8_t> bytes = ConstantBytes(program, record);
  std::vector<NumpyArray> arrays;
  if (field == Field::kWeights && HasIntegerWeights(command)) {
    arrays.push_back(UnpackWeights(program.image(), command, bytes));
    (*json)["shape"] = arrays[0].shape;
    json->erase("memory_shape");
  } else if (field == Field::kRequant) {
    arrays = UnpackRequant(program.image(), command, bytes);
  } else {
    arrays.push_back(ToArray(record, std::as_bytes(bytes), /*raw=*/true));
    arrays[0].name = Name(field);
    if (record.dtype == DType::kBytes) arrays[0].dtype = DType::kU8;  // a table
  }
  for (NumpyArray& array : arrays) {
    (*json)["arrays"].push_back(array.name);
    vectors->arrays.push_back(std::move(array));
  }
}

void AddTensor(const Program& program, const Command& command, const FieldSpec& field,
               const std::vector<NumpyArray>& values, CommandVectors* vectors) {
  const int32_t id = command.Tensor(field.field);
  if (id < 0) return;
  const TensorRecord& record = program.image().tensors[id];
  Json json = FieldTensorJson(record);
  json["arrays"] = Json::array();
  if (record.region == Region::kConst) {
    AddConstant(program, command, field.field, vectors, &json);
  } else if (!values[id].name.empty()) {
    NumpyArray array = values[id];
    array.name = Name(field.field);
    json["arrays"].push_back(array.name);
    vectors->arrays.push_back(std::move(array));
  }
  vectors->entry["tensors"][Name(field.field)] = std::move(json);
}

}  // namespace

bool HasIntegerWeights(const Command& command) {
  return TraitsOf(command.opcode).buffers == BufferForm::kRequant ||
         command.opcode == Opcode::kConvS16 || command.opcode == Opcode::kMatMulS16;
}

NumpyArray UnpackWeights(const ProgramImage& image, const Command& command,
                         std::span<const uint8_t> packed) {
  const int64_t in = Tensor(image, command, Field::kSrc).shape.back();
  const int64_t out = Tensor(image, command, Field::kDst).shape.back();
  if (command.opcode == Opcode::kDepthwise) return UnpackDepthwise(command, out, packed);
  if (command.opcode == Opcode::kMatMul) return UnpackMatMul(in, out, packed);
  if (command.opcode == Opcode::kMatMulS16) return UnpackS16({in, out}, 1, in, out, packed);
  if (command.opcode == Opcode::kConvS16) {
    const int64_t kh = command.Get(Field::kKernelH), kw = command.Get(Field::kKernelW);
    const int64_t inputs = in / command.Get(Field::kGroups);
    return UnpackS16({out, inputs, kh, kw}, out, inputs, kh * kw, packed);
  }
  return UnpackConv(command, in, out, packed);
}

std::vector<NumpyArray> UnpackRequant(const ProgramImage& image, const Command& command,
                                      std::span<const uint8_t> records) {
  const auto channels = static_cast<size_t>(Tensor(image, command, Field::kDst).shape.back());
  const size_t size = channels * sizeof(ChannelRequant);
  std::vector<NumpyArray> arrays = {Words("bias", records.first(size), 0),
                                    Words("multiplier", records.first(size), 1),
                                    Words("rshift", records.first(size), 2)};
  if (records.size() == size) return arrays;
  arrays.push_back(Words("multiplier_below_0", records.subspan(size), 1));
  arrays.push_back(Words("rshift_below_0", records.subspan(size), 2));
  return arrays;
}

CommandVectors DescribeCommand(const Program& program, int index,
                               const std::vector<NumpyArray>& values) {
  const ProgramImage& image = program.image();
  const Command& command = image.commands[index];
  const OpSpec* spec = FindOp(command.opcode);
  CommandVectors vectors;
  vectors.entry = {{"index", index}, {"opcode", spec->name}};
  if (static_cast<size_t>(index) < image.command_names.size())
    vectors.entry["node"] = image.command_names[index];
  vectors.entry["attributes"] = Json::object();
  vectors.entry["tensors"] = Json::object();
  for (const FieldSpec& field : spec->fields) {
    if (IsTensor(field.kind)) {
      AddTensor(program, command, field, values, &vectors);
    } else if (field.kind == FieldKind::kFloat) {
      vectors.entry["attributes"][Name(field.field)] = NumberJson(command.GetFloat(field.field));
    } else {
      vectors.entry["attributes"][Name(field.field)] = command.Get(field.field);
    }
  }
  return vectors;
}

}  // namespace rshift
