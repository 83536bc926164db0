#include "runtime/verify.h"

#include <algorithm>

#include "codegen/container/strided_bytes.h"
#include "isa/ops/visit.h"
#include "runtime/verify/rules.h"

namespace rshift {
namespace {

using verify::CommandCheck;

bool SameBytes(const TensorRecord& a, const TensorRecord& b) {
  return a.region == b.region && a.offset == b.offset && a.shape == b.shape &&
         a.bytes() == b.bytes() && a.pitch == b.pitch;
}

// `stored`: the bytes of the arena that hold something. Constants always do. Parts of a Concat are
// strided bytes of it, which add up to the whole.
bool IsStored(const ByteSet& stored, const TensorRecord& tensor) {
  return tensor.region == Region::kConst || stored.Contains(StridedBytesOf(tensor));
}

// `written`: what the command writes.
void CheckOperand(const CommandCheck& check, Field field, const ByteSet& stored,
                  const StridedBytes& written) {
  const TensorRecord& src = check.Tensor(field);
  const TensorRecord& dst = check.Tensor(Field::kDst);
  check.Check(IsStored(stored, src), check.Describe(field),
              ": some of its bytes were never written");
  if (src.region != Region::kArena || !Overlap(StridedBytesOf(src), written)) return;
  check.Check(SameBytes(src, dst) && TraitsOf(check.command.opcode).in_place, check.Describe(field),
              " overlaps ", check.Describe(Field::kDst));
}

// A fused command works in place on what the first has stored. Operands that are not
// these bytes share none with them (CheckOperand), so that nothing but the order of independent
// elements differs from the two commands one after the other.
void CheckFuseWithPrevious(const CommandCheck& check) {
  if (check.command.Get(Field::kFuseWithPrevious) == 0) return;
  check.Check(check.index > 0, "fuse_with_previous without a command before it");
  const Command& before = check.image.commands[check.index - 1];
  check.Check(TraitsOf(before.opcode).leads_epilogue || before.Get(Field::kFuseWithPrevious) != 0,
              "fuse_with_previous behind a ", FindOp(before.opcode)->name,
              ", expected a convolution, matrix product, pool or a command fused with one");
  const TensorRecord& stored = check.image.tensors[static_cast<size_t>(before.Tensor(Field::kDst))];
  check.Check(SameBytes(check.Tensor(Field::kDst), stored), check.Describe(Field::kDst),
              " is not in place of what the command before it stores, '", stored.name, "'");
  const std::span<const FieldSpec> fields = FindOp(check.command.opcode)->fields;
  const bool reads = std::any_of(fields.begin(), fields.end(), [&](const FieldSpec& field) {
    return field.kind == FieldKind::kTensorIn && SameBytes(check.Tensor(field.field), stored);
  });
  check.Check(reads, "fuse_with_previous, but no operand is what the command before it stores, '",
              stored.name, "'");
}

void CheckDestination(const CommandCheck& check) {
  const TensorRecord& dst = check.Tensor(Field::kDst);
  check.Check(dst.region == Region::kArena, check.Describe(Field::kDst), " is a constant");
}

}  // namespace

Proof Verify(const ProgramImage& image, ConstantsCheck& constants, const std::string& where) {
  ByteSet stored;
  for (const Binding& input : image.inputs) {
    stored.Add(StridedBytesOf(image.tensors[static_cast<size_t>(input.tensor)]));
  }
  Proof proof;
  proof.weight_sums.resize(image.commands.size());
  for (size_t i = 0; i < image.commands.size(); ++i) {
    const Command& command = image.commands[i];
    const CommandCheck check{image, constants, command, i, where, proof.weight_sums[i]};
    const OpSpec* spec = FindOp(command.opcode);
    check.Check(spec != nullptr, "unknown opcode");
    CheckDestination(check);
    isa::Visit(command, [&](const auto& c) { verify::CheckCommand(check, c); });
    CheckFuseWithPrevious(check);
    const StridedBytes written = WrittenBytes(image, command);
    for (const FieldSpec& field : spec->fields) {
      const bool reads = IsTensor(field.kind) && field.kind != FieldKind::kTensorOut;
      if (reads && check.Has(field.field)) CheckOperand(check, field.field, stored, written);
    }
    stored.Add(written);
  }
  for (const Binding& output : image.outputs) {
    const TensorRecord& tensor = image.tensors[static_cast<size_t>(output.tensor)];
    RSHIFT_REQUIRE(IsStored(stored, tensor), ErrorCode::kCorrupt, where, ": output '", output.name,
                   "' (tensor '", tensor.name,
                   "'): some of its bytes are never written; the file is damaged or was written by "
                   "another version");
  }
  return proof;
}

}  // namespace rshift
