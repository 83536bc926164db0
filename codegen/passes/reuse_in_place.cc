#include "codegen/passes/reuse_in_place.h"

#include <cstdint>
#include <vector>

namespace rshift {
namespace {

struct Uses {
  int tensors = 0, reads = 0, writes = 0;
  bool IsMadeAndReadOnce() const { return tensors == 1 && reads == 1 && writes == 1; }
};

std::vector<Uses> CountUses(const ProgramImage& image, const BufferTable& table) {
  std::vector<Uses> uses(table.buffers.size());
  for (const int32_t buffer : table.of) {
    if (buffer >= 0) ++uses[static_cast<size_t>(buffer)].tensors;
  }
  for (const Command& command : image.commands) {
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      const int32_t tensor = IsTensor(field.kind) ? command.Tensor(field.field) : -1;
      const int32_t buffer = tensor < 0 ? -1 : table.of[static_cast<size_t>(tensor)];
      if (buffer < 0) continue;
      Uses& use = uses[static_cast<size_t>(buffer)];
      ++(field.kind == FieldKind::kTensorOut ? use.writes : use.reads);
    }
  }
  return uses;
}

bool HasSamePlace(const TensorRecord& a, const TensorRecord& b) {
  return a.dtype == DType::kF32 && b.dtype == DType::kF32 && a.shape == b.shape && a.pitch == 0 &&
         b.pitch == 0;
}

}  // namespace

void ReuseInPlace(const ProgramImage& image, BufferTable& table) {
  const std::vector<Uses> uses = CountUses(image, table);
  // From the last command on: a chain of functions ends in the place of its result.
  for (auto command = image.commands.rbegin(); command != image.commands.rend(); ++command) {
    const OpTraits traits = TraitsOf(command->opcode);
    if (!traits.in_place || !IsFloatCompute(command->opcode)) continue;
    const auto dst = static_cast<size_t>(command->Tensor(Field::kDst));
    const int32_t to = table.of[dst];
    for (const FieldSpec& field : FindOp(command->opcode)->fields) {
      if (field.kind != FieldKind::kTensorIn) continue;
      const int32_t tensor = command->Tensor(field.field);
      const int32_t from = tensor < 0 ? -1 : table.of[static_cast<size_t>(tensor)];
      if (from < 0 || table.buffers[static_cast<size_t>(from)].input ||
          table.buffers[static_cast<size_t>(from)].output)
        continue;
      if (!uses[static_cast<size_t>(from)].IsMadeAndReadOnce() ||
          uses[static_cast<size_t>(to)].tensors != 1 || uses[static_cast<size_t>(to)].writes != 1)
        continue;
      if (!HasSamePlace(image.tensors[static_cast<size_t>(tensor)], image.tensors[dst])) continue;
      table.of[static_cast<size_t>(tensor)] = to;
      break;
    }
  }
}

}  // namespace rshift
