#include "tests/runtime/f32/command_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/container/container.h"

namespace rshift::testing {
namespace {

uint64_t RoundUp(uint64_t size) { return (size + 63) / 64 * 64; }

int32_t AddTensor(const TestTensor& tensor, const std::string& name, ProgramImage* image) {
  TensorRecord record;
  record.name = name;
  record.dtype = tensor.dtype;
  record.layout = tensor.layout;
  record.shape = tensor.shape;
  record.region = tensor.constant ? Region::kConst : Region::kArena;
  if (tensor.constant) {
    record.offset = image->constants.size();
    image->constants.insert(image->constants.end(), tensor.bytes.begin(), tensor.bytes.end());
    image->constants.resize(RoundUp(image->constants.size()) + 64);
  } else {
    record.offset = image->arena_size;
    image->arena_size = RoundUp(image->arena_size + record.bytes()) + 64;
  }
  image->tensors.push_back(record);
  return static_cast<int32_t>(image->tensors.size()) - 1;
}

}  // namespace

TestTensor BoolTensor(Shape shape, const std::vector<uint8_t>& values) {
  TestTensor tensor = Make<uint8_t>(std::move(shape), values);
  tensor.dtype = DType::kBool;
  return tensor;
}

TestTensor Constant(TestTensor tensor) {
  tensor.constant = true;
  return tensor;
}

TestTensor Nhwc(TestTensor tensor) {
  tensor.layout = Layout::kNhwc;
  return tensor;
}

TestTensor RandomFloats(const Shape& shape, std::mt19937& random, float lo, float hi) {
  std::vector<float> values(NumElements(shape));
  // Not std::uniform_real_distribution: its numbers differ between standard libraries.
  for (float& value : values) {
    value = lo + (hi - lo) * static_cast<float>(random() >> 8) / 16777216.0f;
  }
  return Make<float>(shape, values);
}

CommandCase::CommandCase(Opcode opcode, std::vector<std::pair<Field, TestTensor>> tensors,
                         DType dst_type, Shape dst_shape, Layout dst_layout)
    : inputs(std::move(tensors)) {
  command.opcode = opcode;
  dst.dtype = dst_type;
  dst.shape = std::move(dst_shape);
  dst.layout = dst_layout;
  for (const FieldSpec& spec : FindOp(opcode)->fields) {
    if (spec.field == Field::kClampLoF)
      SetFloat(spec.field, -std::numeric_limits<float>::infinity());
    if (spec.field == Field::kClampHiF)
      SetFloat(spec.field, std::numeric_limits<float>::infinity());
  }
}

CommandCase& CommandCase::Set(Field field, int64_t value) {
  command.Set(field, value);
  return *this;
}

CommandCase& CommandCase::SetFloat(Field field, float value) {
  command.SetFloat(field, value);
  return *this;
}

const TestTensor& CommandCase::Input(Field field) const {
  return std::find_if(inputs.begin(), inputs.end(),
                      [field](const auto& input) { return input.first == field; })
      ->second;
}

ProgramImage ImageOf(const CommandCase& test) {
  ProgramImage image;
  Command command = test.command;
  for (const FieldSpec& spec : FindOp(command.opcode)->fields) {
    if (spec.kind == FieldKind::kTensorInOpt || spec.kind == FieldKind::kConstOpt) {
      command.Set(spec.field, -1);
    }
  }
  for (const auto& [field, tensor] : test.inputs) {
    const int32_t id = AddTensor(tensor, Name(field), &image);
    command.Set(field, id);
    if (!tensor.constant) image.inputs.push_back({Name(field), id});
  }
  command.Set(Field::kDst, AddTensor(test.dst, "result", &image));
  image.outputs.push_back({"result", command.Tensor(Field::kDst)});
  image.commands.push_back(command);
  image.command_names.push_back("tested");
  image.meta["mode"] = "f32";
  return image;
}

TestTensor RunCommand(const CommandCase& test, int threads, Isa isa, bool portable) {
  const std::vector<uint8_t> file = WriteContainer(ImageOf(test));
  const Program program = Program::FromBytes(file, "test.rshift");
  Session session(program,
                  {.threads = threads, .isa = isa, .least_share_ns = 0, .portable = portable});
  int index = 0;
  for (const auto& [field, tensor] : test.inputs) {
    if (tensor.constant) continue;
    const std::span<std::byte> input = session.Input(index++);
    EXPECT_EQ(input.size(), tensor.bytes.size());
    std::copy_n(reinterpret_cast<const std::byte*>(tensor.bytes.data()), input.size(),
                input.data());
  }
  session.Run();
  session.Run();  // a second run must not depend on the first
  TestTensor result = test.dst;
  const std::span<const std::byte> output = session.Output(0);
  result.bytes.resize(output.size());
  std::copy_n(output.data(), output.size(), reinterpret_cast<std::byte*>(result.bytes.data()));
  return result;
}

TestTensor RunOnAnyThreads(const CommandCase& test) {
  TestTensor result = RunCommand(test, 1);
  EXPECT_EQ(result.bytes, RunCommand(test, 2).bytes) << "2 threads";
  EXPECT_EQ(result.bytes, RunCommand(test, 3).bytes) << "3 threads";
  return result;
}

TestTensor RunOnAnyIsa(const CommandCase& test, bool portable) {
  const TestTensor result = RunCommand(test, 1, Isa::kScalar, portable);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
    if (!CpuSupports(isa)) continue;
    EXPECT_EQ(result.bytes, RunCommand(test, 1, isa, portable).bytes) << Name(isa);
  }
  for (int threads = 2; threads <= 4; ++threads) {
    EXPECT_EQ(result.bytes, RunCommand(test, threads, BestIsa(), portable).bytes)
        << threads << " threads";
  }
  return result;
}

std::string ErrorOf(const CommandCase& test) {
  return rshift::ErrorOf([&] {
    const Program program = Program::FromBytes(WriteContainer(ImageOf(test)), "test.rshift");
    const Session session(program, {.threads = 1});
  });
}

int64_t BroadcastOffset(const Shape& shape, const Shape& index) {
  const size_t lead = index.size() - shape.size();
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    offset = offset * shape[d] + (shape[d] == 1 ? 0 : index[lead + d]);
  }
  return offset;
}

void ExpectClose(const std::vector<float>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) && std::isnan(got[i])) continue;
    if (static_cast<double>(got[i]) == want[i]) continue;  // infinities too
    const double limit = tolerance * std::max(1.0, std::fabs(want[i]));
    ASSERT_LE(std::fabs(got[i] - want[i]), limit)
        << "element " << i << ": " << got[i] << " for " << want[i];
  }
}

}  // namespace rshift::testing
