#include "tests/fuzz/program_maker.h"

#include <limits>

#include "base/error.h"
#include "tests/runtime/view_program.h"

namespace rshift::testing {
namespace {

constexpr const char* kGuard = "guard";

void AddGuard(ProgramBuilder& b) {
  const int32_t tensor = b.Input({DType::kU8, {64}});
  b.image.inputs.back().name = Cat(kGuard, tensor);
}

// Modes, roundings and flags: any that the table allows, mostly those the maker has chosen.
void ChooseModes(Maker& m) {
  for (Command& command : m.b.image.commands) {
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      const bool choice = field.field == Field::kMode || field.field == Field::kFlags ||
                          field.field == Field::kRounding || field.field == Field::kCoordinate;
      if (choice && m.Chance(4)) command.Set(field.field, m.random.Int(field.lo, field.hi));
    }
  }
}

// A table in place of what the command stores, in its pass.
void AddFusedEpilogue(Maker& m) {
  const Command& first = m.b.image.commands.back();
  TensorRecord record = m.b[first.Tensor(Field::kDst)];
  if (!TraitsOf(first.opcode).leads_epilogue || SizeOf(record.dtype) != 1) return;
  const int32_t src = first.Tensor(Field::kDst);
  const auto dst = static_cast<int32_t>(m.b.image.tensors.size());
  record.name = "fused epilogue";
  m.b.image.tensors.push_back(record);
  const int32_t table = m.b.Const(DType::kBytes, {256}, m.random.Data(256));
  m.b.Add(Opcode::kTable, dst, src).Set(Field::kTable, table).Set(Field::kFuseWithPrevious, 1);
}

}  // namespace

bool IsGuard(const Binding& input) { return input.name.starts_with(kGuard); }

int64_t Maker::Dim() {
  const int64_t kind = random.Int(0, 39);
  return kind == 0 ? 0 : kind < 3 ? random.Int(7, 80) : scale * random.Int(1, 6);
}

Shape Maker::Dims(int64_t least_rank, int64_t most_rank) {
  Shape shape(static_cast<size_t>(random.Int(least_rank, most_rank)));
  for (int64_t& dim : shape) dim = Dim();
  return shape;
}

int32_t Maker::Dst(const TensorSpec& spec) {
  AddGuard(b);
  const int32_t tensor = b.Output(spec);
  AddGuard(b);
  return tensor;
}

float Maker::Number() {
  switch (random.Int(0, 15)) {
    case 0:
      return 0.0f;
    case 1:
      return std::numeric_limits<float>::max();
    case 2:
      return -std::numeric_limits<float>::infinity();
    case 3:
      return 1e-40f;
    default:
      return random.Float(-4.0f, 4.0f);
  }
}

void Maker::Clamp(Command& command) {
  const DType type = b[command.Tensor(Field::kDst)].dtype;
  const int64_t lo = random.Int(Lowest(type), Highest(type));
  const bool open = Chance(2);
  command.Set(Field::kClampLoQ, open ? Lowest(type) : lo);
  command.Set(Field::kClampHiQ, open ? Highest(type) : random.Int(lo, Highest(type)));
}

int32_t Maker::Floats(int64_t count, float lo, float hi) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = random.Float(lo, hi);
  return b.Const(DType::kF32, {count}, values);
}

RandomWindow::RandomWindow(Maker& m, bool pads) {
  src = {m.random.Int(1, 2), 0, 0, std::max<int64_t>(m.Dim(), 1)};
  dst = src;
  for (size_t d = 0; d < 2; ++d) {
    kernel[d] = m.random.Int(1, 4), stride[d] = m.random.Int(1, 3);
    dilation[d] = m.Chance(4) ? m.random.Int(2, 3) : 1;
    before[d] = pads ? m.random.Int(0, kernel[d] - 1) : 0;
    after[d] = pads ? m.random.Int(0, kernel[d] - 1) : 0;
    const int64_t extent = (kernel[d] - 1) * dilation[d] + 1;
    dst[d + 1] = m.scale * m.random.Int(1, 6);
    // A few columns may be left over.
    src[d + 1] = (dst[d + 1] - 1) * stride[d] + extent - before[d] - after[d] +
                 m.random.Int(0, stride[d] - 1);
    if (src[d + 1] < 1) {
      src[d + 1] = dst[d + 1], kernel[d] = stride[d] = dilation[d] = 1;
      before[d] = after[d] = 0;
    }
  }
}

void RandomWindow::SetFields(Command& c) const {
  c.Set(Field::kKernelH, kernel[0]).Set(Field::kKernelW, kernel[1]);
  c.Set(Field::kStrideH, stride[0]).Set(Field::kStrideW, stride[1]);
  c.Set(Field::kDilationH, dilation[0]).Set(Field::kDilationW, dilation[1]);
  c.Set(Field::kPadTop, before[0]).Set(Field::kPadLeft, before[1]);
  c.Set(Field::kPadBottom, after[0]).Set(Field::kPadRight, after[1]);
}

ProgramBuilder MakeProgram(Opcode opcode, Random& random, int64_t scale) {
  ProgramBuilder b;
  Maker maker{b, random, scale};
  const bool known = MakeIntegerCommand(opcode, maker) || MakeInt16Command(opcode, maker) ||
                     MakeProductCommand(opcode, maker) || MakeMoveCommand(opcode, maker) ||
                     MakeFloatCommand(opcode, maker);
  const OpSpec* spec = FindOp(opcode);
  RSHIFT_REQUIRE(known, ErrorCode::kInternal, "opcode ", static_cast<int>(opcode), " (",
                 spec == nullptr ? "?" : spec->name,
                 ") has no random program: write one in tests/fuzz");
  ChooseModes(maker);
  if (maker.Chance(4)) AddFusedEpilogue(maker);
  return maker.Chance(5) ? AsViews(b).builder : b;
}

}  // namespace rshift::testing
