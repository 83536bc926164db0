#include "codegen/memory/lifetime.h"

namespace rshift {
namespace {

void Touch(Lifetime& life, int64_t command, bool read) {
  if (!life.used) life = {command, command, true, read};
  life.last = command;
}

}  // namespace

std::vector<Lifetime> TensorLifetimes(const ProgramImage& image) {
  std::vector<Lifetime> lives(image.tensors.size());
  for (size_t i = 0; i < image.commands.size(); ++i) {
    const Command& command = image.commands[i];
    const OpSpec* spec = FindOp(command.opcode);
    if (spec == nullptr) continue;
    // Reads come before the write, so that a command in place counts as a read of what was there.
    for (const bool writes : {false, true}) {
      for (const FieldSpec& field : spec->fields) {
        if (field.kind == FieldKind::kInt || field.kind == FieldKind::kFloat) continue;
        if ((field.kind == FieldKind::kTensorOut) != writes) continue;
        const int64_t tensor = command.Get(field.field);
        if (tensor < 0 || tensor >= static_cast<int64_t>(lives.size())) continue;
        Touch(lives[tensor], static_cast<int64_t>(i), !writes);
      }
    }
  }
  return lives;
}

}  // namespace rshift
