#include "pipeline/complete_tensors.h"

#include "codegen/container/strided_bytes.h"

namespace rshift {
namespace {

bool Reads(const Command& command, int32_t tensor) {
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    const bool is_input =
        field.kind == FieldKind::kTensorIn || field.kind == FieldKind::kTensorInOpt;
    if (is_input && command.Tensor(field.field) == tensor) return true;
  }
  return false;
}

}  // namespace

CompleteTensors CompletedTensors(const ProgramImage& image) {
  constexpr int kNever = -2, kFromStart = -1;
  const int commands = static_cast<int>(image.commands.size());
  std::vector<int> done(image.tensors.size(), kNever);
  for (int c = 0; c < commands; ++c) done[image.commands[c].Tensor(Field::kDst)] = c;
  std::vector<bool> is_input(image.tensors.size());
  for (const Binding& input : image.inputs) is_input[input.tensor] = true;
  for (size_t t = 0; t < image.tensors.size(); ++t) {
    if (done[t] != kNever || is_input[t] || image.tensors[t].region != Region::kArena) continue;
    // A view: complete with the last write to its bytes before it is first read, and before the
    // commands of later nodes: a part of a Concat is read by no command, and its bytes are used
    // again afterwards. Tensors are listed in the order of the nodes that make them.
    for (const Binding& input : image.inputs) {
      if (Overlap(image.tensors[input.tensor], image.tensors[t])) done[t] = kFromStart;
    }
    for (int c = 0; c < commands && !Reads(image.commands[c], static_cast<int32_t>(t)); ++c) {
      const int32_t dst = image.commands[c].Tensor(Field::kDst);
      if (dst > static_cast<int32_t>(t)) break;
      if (Overlap(image.tensors[dst], image.tensors[t])) done[t] = c;
    }
  }
  CompleteTensors complete{.at_start = {}, .after = {}};
  complete.after.resize(image.commands.size());
  for (size_t t = 0; t < done.size(); ++t) {
    if (done[t] == kFromStart) complete.at_start.push_back(static_cast<int32_t>(t));
    if (done[t] >= 0) complete.after[done[t]].push_back(static_cast<int32_t>(t));
  }
  return complete;
}

}  // namespace rshift
