// Bytes -> commands. Whatever the bytes are, the result is kCorrupt or commands that encode to the
// same bytes.
#include <string>

#include "base/error.h"
#include "isa/isa.h"
#include "isa/stream.h"

namespace rshift {
namespace {

class Decoder {
 public:
  Decoder(std::span<const uint8_t> bytes, int64_t tensor_count)
      : bytes_(bytes), tensor_count_(tensor_count) {}

  std::vector<Command> Run() {
    std::vector<Command> commands;
    for (;;) {
      const size_t start = next_;
      const auto opcode = static_cast<Opcode>(Byte());
      if (opcode == Opcode::kEnd) break;
      const OpSpec* spec = FindOp(opcode);
      if (spec == nullptr) Bad(start, "unknown opcode ", static_cast<int>(opcode));
      if (static_cast<int64_t>(commands.size()) == kMaxCommands) {
        Bad(start, "more than ", kMaxCommands, " commands");
      }
      commands.push_back(DecodeCommand(*spec));
    }
    if (next_ != bytes_.size()) Bad(next_, bytes_.size() - next_, " bytes after the end command");
    return commands;
  }

 private:
  template <typename... Args>
  [[noreturn]] void Bad(size_t at, const Args&... args) const {
    Fail(ErrorCode::kCorrupt, "command stream, byte ", at, ": ", args...);
  }

  uint8_t Byte() {
    if (next_ == bytes_.size()) Bad(next_, "the stream ends without an end command");
    return bytes_[next_++];
  }

  uint64_t Leb128() {
    const size_t start = next_;
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      if (shift == 63 && byte > 1) Bad(start, "number is longer than 64 bits");
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) Bad(start, "number is not in its shortest form");
        return value;
      }
    }
  }

  Command DecodeCommand(const OpSpec& spec) {
    Command command;
    command.opcode = spec.opcode;
    const size_t mask_start = next_;
    const uint64_t mask = Leb128();
    if (mask >> spec.fields.size() != 0)
      Bad(mask_start, spec.name, ": presence mask has unknown bits");
    for (size_t i = 0; i < spec.fields.size(); ++i) {
      const FieldSpec& field = spec.fields[i];
      int64_t& last = sticky_[static_cast<size_t>(field.field)];
      const size_t start = next_;
      if ((mask >> i & 1) != 0) {
        const uint64_t delta = UnZigZag(Leb128());
        if (delta == 0) Bad(start, spec.name, ": ", Name(field.field), " is present but unchanged");
        last = static_cast<int64_t>(static_cast<uint64_t>(last) + delta);
      }
      const std::string error = FieldError(field, last, tensor_count_);
      if (!error.empty()) Bad(start, spec.name, ": ", Name(field.field), " is ", last, ", ", error);
      command.Set(field.field, last);
    }
    return command;
  }

  std::span<const uint8_t> bytes_;
  int64_t tensor_count_;
  size_t next_ = 0;
  StickyFields sticky_{};
};

}  // namespace

std::vector<Command> DecodeCommands(std::span<const uint8_t> bytes, int64_t tensor_count) {
  return Decoder(bytes, tensor_count).Run();
}

}  // namespace rshift
