#include "codegen/passes/fuse_elementwise.h"

#include <algorithm>

namespace rshift {
namespace {

// What happens to a buffer.
struct Uses {
  std::vector<int32_t> tensors, writers, readers;  // readers: each command once
  std::vector<int32_t> passing;                    // tensors of first halves that were moved here

  bool IsMadeAndReadOnce() const {
    return tensors.size() == 1 && writers.size() == 1 && readers.size() == 1;
  }
};

class Fuser {
 public:
  Fuser(ProgramImage& image, BufferTable& table)
      : image_(image), table_(table), uses_(table.buffers.size()) {
    for (size_t t = 0; t < table.of.size(); ++t) {
      if (table.of[t] >= 0) uses_[table.of[t]].tensors.push_back(static_cast<int32_t>(t));
    }
    for (size_t c = 0; c < image.commands.size(); ++c) AddUses(static_cast<int32_t>(c));
    next_.assign(image.commands.size(), -1);
  }

  void Run() {
    for (size_t c = 0; c < image_.commands.size(); ++c) Fuse(static_cast<int32_t>(c));
    Reorder();
  }

 private:
  void AddUses(int32_t index) {
    const Command& command = image_.commands[index];
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      const int32_t tensor = IsTensor(field.kind) ? command.Tensor(field.field) : -1;
      const int32_t buffer = tensor < 0 ? -1 : table_.of[tensor];
      if (buffer < 0) continue;
      std::vector<int32_t>& list =
          field.kind == FieldKind::kTensorOut ? uses_[buffer].writers : uses_[buffer].readers;
      if (list.empty() || list.back() != index) list.push_back(index);
    }
  }

  const TensorRecord& Record(int32_t tensor) const { return image_.tensors[tensor]; }

  // The command whose fused epilogue `reader` can be by way of `tensor`; -1: none.
  int32_t FirstHalf(const Command& reader, int32_t tensor) const {
    const int32_t buffer = table_.of[tensor], dst = reader.Tensor(Field::kDst);
    if (buffer < 0 || table_.buffers[buffer].input || table_.buffers[buffer].output) return -1;
    const Uses& uses = uses_[buffer];
    if (!uses.IsMadeAndReadOnce() || uses_[table_.of[dst]].writers.size() != 1) return -1;
    const Command& writer = image_.commands[uses.writers[0]];
    const bool leads =
        TraitsOf(writer.opcode).leads_epilogue || writer.Get(Field::kFuseWithPrevious) != 0;
    const bool in_place =
        Record(tensor).shape == Record(dst).shape && Record(tensor).bytes() == Record(dst).bytes();
    return leads && in_place ? uses.writers[0] : -1;
  }

  void Fuse(int32_t index) {
    Command& command = image_.commands[index];
    int32_t first = -1, operand = -1;
    bool may = false;
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      may = may || field.field == Field::kFuseWithPrevious;
      if (field.kind != FieldKind::kTensorIn) continue;
      const int32_t half = FirstHalf(command, command.Tensor(field.field));
      if (half <= first) continue;
      first = half;
      operand = command.Tensor(field.field);
    }
    if (!may || first < 0) return;
    const int32_t dst = command.Tensor(Field::kDst);
    Uses& from = uses_[table_.of[operand]];
    Uses& to = uses_[table_.of[dst]];
    from.passing.push_back(operand);
    for (const int32_t tensor : from.passing) {
      table_.of[tensor] = table_.of[dst];
      image_.tensors[tensor].offset = Record(dst).offset;
      to.passing.push_back(tensor);
    }
    command.Set(Field::kFuseWithPrevious, 1);
    next_[first] = index;
  }

  // Each pass comes where its last command was.
  void Reorder() {
    std::vector<int32_t> before(next_.size(), -1), order;
    for (size_t c = 0; c < next_.size(); ++c) {
      if (next_[c] >= 0) before[next_[c]] = static_cast<int32_t>(c);
    }
    for (size_t c = 0; c < next_.size(); ++c) {
      if (next_[c] >= 0) continue;
      const size_t begin = order.size();
      for (auto i = static_cast<int32_t>(c); i >= 0; i = before[i]) order.push_back(i);
      std::reverse(order.begin() + static_cast<int64_t>(begin), order.end());
    }
    std::vector<Command> commands;
    std::vector<std::string> names;
    for (const int32_t c : order) {
      commands.push_back(image_.commands[c]);
      names.push_back(std::move(image_.command_names[c]));
    }
    image_.commands = std::move(commands);
    image_.command_names = std::move(names);
  }

  ProgramImage& image_;
  BufferTable& table_;
  std::vector<Uses> uses_;     // per buffer
  std::vector<int32_t> next_;  // per command: what is fused behind it, -1: none
};

}  // namespace

void FuseElementwise(ProgramImage& image, BufferTable& table) { Fuser(image, table).Run(); }

}  // namespace rshift
