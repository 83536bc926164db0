#include "tests/runtime/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/container/container.h"
#include "tests/runtime/allocations.h"
#include "tests/runtime/view_program.h"

namespace rshift::testing {
namespace {

constexpr uint64_t kSlack = 64;

uint64_t AlignUp(uint64_t value) { return (value + 63) / 64 * 64; }

}  // namespace

int32_t ProgramBuilder::Append(TensorRecord record) {
  record.name = Cat("t", image.tensors.size());
  image.tensors.push_back(std::move(record));
  return static_cast<int32_t>(image.tensors.size()) - 1;
}

int32_t ProgramBuilder::Arena(const TensorSpec& spec) {
  TensorRecord record;
  record.dtype = spec.dtype;
  record.shape = spec.shape;
  const bool bytes = spec.dtype == DType::kS8 || spec.dtype == DType::kU8;
  record.quantized = bytes || spec.dtype == DType::kS16;
  record.scale = record.quantized ? spec.scale : 0.0f;
  record.zero_point = spec.zero_point;
  record.offset = AlignUp(image.arena_size);
  image.arena_size = AlignUp(record.offset + record.bytes()) + kSlack;
  return Append(std::move(record));
}

int32_t ProgramBuilder::Input(const TensorSpec& spec) {
  const int32_t tensor = Arena(spec);
  image.inputs.push_back({Cat("in", image.inputs.size()), tensor});
  return tensor;
}

int32_t ProgramBuilder::Output(const TensorSpec& spec) {
  const int32_t tensor = Arena(spec);
  image.outputs.push_back({Cat("out", image.outputs.size()), tensor});
  return tensor;
}

int32_t ProgramBuilder::ConstBytes(DType dtype, const Shape& shape, const void* data) {
  TensorRecord record;
  record.dtype = dtype;
  record.shape = shape;
  record.region = Region::kConst;
  record.offset = AlignUp(image.constants.size());
  image.constants.resize(AlignUp(record.offset + record.bytes()) + kSlack);
  if (record.bytes() > 0) std::memcpy(image.constants.data() + record.offset, data, record.bytes());
  return Append(std::move(record));
}

int32_t ProgramBuilder::QuantizedConst(const TensorSpec& spec, const Bytes& data) {
  const int32_t tensor = ConstBytes(spec.dtype, spec.shape, data.data());
  (*this)[tensor].quantized = true;
  (*this)[tensor].scale = spec.scale;
  (*this)[tensor].zero_point = spec.zero_point;
  return tensor;
}

Command& ProgramBuilder::Add(Opcode opcode, int32_t dst, int32_t src) {
  Command command{.opcode = opcode};
  for (const FieldSpec& field : FindOp(opcode)->fields) {
    const bool absent = field.kind == FieldKind::kTensorInOpt || field.kind == FieldKind::kConstOpt;
    if (absent) command.Set(field.field, -1);
    if (field.kind == FieldKind::kInt) command.Set(field.field, std::max<int64_t>(field.lo, 0));
  }
  command.Set(Field::kDst, dst).Set(Field::kSrc, src);
  image.commands.push_back(command);
  return image.commands.back();
}

Bytes ProgramBuilder::File() const { return WriteContainer(image); }

Program ProgramBuilder::Build() const { return Program::FromBytes(File(), "test"); }

Bytes RunProgram(const Program& program, const std::vector<Bytes>& inputs,
                 const RunOptions& options) {
  Session session(program, {.threads = options.threads, .isa = options.isa, .least_share_ns = 0});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::span<std::byte> input = session.Input(static_cast<int>(i));
    EXPECT_EQ(input.size(), inputs[i].size());
    if (!inputs[i].empty()) std::memcpy(input.data(), inputs[i].data(), inputs[i].size());
  }
  const int64_t before = Allocations();
  session.Run();
  if (options.threads == 1) {  // a team that starts takes memory, once
    EXPECT_EQ(Allocations(), before) << "Session::Run takes memory from the heap";
  }
  Bytes outputs;
  for (size_t i = 0; i < program.image().outputs.size(); ++i) {
    const std::span<const std::byte> output = session.Output(static_cast<int>(i));
    const auto* data = reinterpret_cast<const uint8_t*>(output.data());
    outputs.insert(outputs.end(), data, data + output.size());
  }
  return outputs;
}

Bytes RunEverywhere(const ProgramBuilder& builder, const std::vector<Bytes>& inputs) {
  const Program program = builder.Build();
  const ViewProgram views = AsViews(builder);
  const Program view_program = views.builder.Build();
  const Bytes expected = RunProgram(program, inputs);
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot}) {
    if (!CpuSupports(isa)) continue;
    for (const int threads : {1, 2, 3}) {
      if (threads == 2 && isa != Isa::kScalar) continue;
      const std::string how = Cat(Name(isa), ", ", threads, " threads");
      EXPECT_EQ(RunProgram(program, inputs, {threads, isa}), expected) << how;
      EXPECT_EQ(RunViews(views, view_program, inputs, {threads, isa}), expected)
          << how << ", on views of tensors";
    }
  }
  return expected;
}

std::string LoadError(const ProgramBuilder& builder) {
  return ErrorOf(ErrorCode::kCorrupt, [&] { builder.Build(); });
}

void ExpectRefused(const ProgramBuilder& b, const std::string& part) {
  EXPECT_THAT(LoadError(b), ::testing::HasSubstr(part));
}

void ExpectRefused(ProgramBuilder b, const std::string& part,
                   const std::function<void(ProgramBuilder*)>& spoil) {
  ASSERT_EQ(LoadError(b), kNoError) << "the program is not valid to begin with";
  spoil(&b);
  ExpectRefused(b, part);
}

Bytes Random::Data(int64_t count) {
  Bytes bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
  return bytes;
}

int32_t Saturate(int64_t value, int32_t lo, int32_t hi) {
  return static_cast<int32_t>(value < lo ? lo : value > hi ? hi : value);
}

int64_t ShiftedProduct(int64_t value, int64_t multiplier, int rshift) {
  const __int128 doubled = static_cast<__int128>(value) * multiplier * 2;
  const __int128 one = static_cast<__int128>(1) << rshift;
  const __int128 numerator = doubled + one, denominator = one * 2;
  __int128 quotient = numerator / denominator;
  if (numerator % denominator < 0) quotient -= 1;  // floor
  return static_cast<int64_t>(quotient);
}

}  // namespace rshift::testing
