#include "runtime/step.h"

#include <algorithm>

#include "base/error.h"

namespace rshift {

void FaultKeeper::Report(int64_t number, int64_t index, int64_t size) noexcept {
  const std::lock_guard lock(mutex_);
  if (number >= number_) return;
  number_ = number, index_ = index, size_ = size;
}

std::string FaultKeeper::Text() const {
  if (number_ == kNone) return "";
  return Cat("index ", index_, " (element ", number_, " of src2) is outside an axis of ", size_);
}

Range ThreadRange(int64_t total, int64_t grain, const Team& team) {
  const int64_t blocks = (total + grain - 1) / grain;
  // The first `rest` members take one block more.
  const int64_t each = blocks / team.count, rest = blocks % team.count;
  const int64_t first = team.index * each + std::min<int64_t>(team.index, rest);
  const int64_t last = first + each + (team.index < rest ? 1 : 0);
  return {std::min(first * grain, total), std::min(last * grain, total)};
}

std::string CommandName(const ProgramImage& image, size_t index) {
  const OpSpec* op = FindOp(image.commands[index].opcode);
  std::string name = Cat("command ", index, " (", op == nullptr ? "?" : op->name);
  if (index < image.command_names.size()) name += Cat(" '", image.command_names[index], "'");
  return name + ")";
}

const TensorRecord& StepContext::Record(Field f) const {
  return program->image().tensors[static_cast<size_t>(command->Tensor(f))];
}

const std::vector<uint32_t>& StepContext::WeightSums() const {
  const auto index = static_cast<size_t>(command - program->image().commands.data());
  return program->proof().weight_sums[index];
}

bool StepContext::Has(Field f) const { return command->Tensor(f) >= 0; }

const void* StepContext::In(Field f) const {
  const TensorRecord& record = Record(f);
  if (record.region == Region::kConst) return program->constants().data() + record.offset;
  return arena + record.offset;
}

void* StepContext::Out(Field f) const { return arena + Record(f).offset; }

}  // namespace rshift
