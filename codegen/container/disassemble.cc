// Program image -> text for people.
#include <iomanip>
#include <sstream>

#include "base/error.h"
#include "codegen/container/container.h"

namespace rshift {
namespace {

// Names come from files: whatever is not printable must not reach a terminal.
std::string Printable(const std::string& name) {
  std::ostringstream out;
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out << c;
    } else {
      out << "\\x" << std::hex << std::setw(2) << std::setfill('0') << static_cast<int>(byte);
    }
  }
  return out.str();
}

std::string TensorText(const ProgramImage& image, int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(image.tensors.size())) return "none";
  const TensorRecord& tensor = image.tensors[id];
  const char* type = Has4Bits(image, tensor) ? "s4" : Name(tensor.dtype);
  std::string text = Cat(Printable(tensor.name), ":", type, "[", ToString(tensor.shape), "]",
                         tensor.layout == Layout::kNhwc ? "nhwc" : "");
  if (tensor.pitch != 0) text += Cat("/", tensor.pitch);
  if (tensor.quantized) text += Cat("{", tensor.scale, ",", tensor.zero_point, "}");
  return text;
}

std::string FieldText(const ProgramImage& image, const FieldSpec& spec, const Command& command) {
  switch (spec.kind) {
    case FieldKind::kInt:
      return Cat(command.Get(spec.field));
    case FieldKind::kFloat:
      return Cat(command.GetFloat(spec.field));
    case FieldKind::kTensorOut:
    case FieldKind::kTensorIn:
    case FieldKind::kTensorInOpt:
    case FieldKind::kConst:
    case FieldKind::kConstOpt:
      break;
  }
  return TensorText(image, command.Get(spec.field));
}

std::string CommandText(const ProgramImage& image, const Command& command) {
  const OpSpec* spec = FindOp(command.opcode);
  if (spec == nullptr) return Cat("unknown opcode ", static_cast<int>(command.opcode));
  const Command defaults = NewCommand(command.opcode);
  std::ostringstream out;
  out << std::left << std::setw(14) << spec->name;
  for (const FieldSpec& field : spec->fields) {
    const bool required = field.kind == FieldKind::kTensorOut ||
                          field.kind == FieldKind::kTensorIn || field.kind == FieldKind::kConst;
    if (!required && command.Get(field.field) == defaults.Get(field.field)) continue;
    out << ' ' << Name(field.field) << '=' << FieldText(image, field, command);
  }
  return out.str();
}

}  // namespace

std::string Disassemble(const ProgramImage& image) {
  std::ostringstream out;
  for (const Binding& input : image.inputs) {
    out << "input  " << Printable(input.name) << " = " << TensorText(image, input.tensor) << '\n';
  }
  for (const Binding& output : image.outputs) {
    out << "output " << Printable(output.name) << " = " << TensorText(image, output.tensor) << '\n';
  }
  for (size_t i = 0; i < image.commands.size(); ++i) {
    out << std::setw(4) << i << "  " << CommandText(image, image.commands[i]);
    if (i < image.command_names.size()) out << "  ; " << Printable(image.command_names[i]);
    out << '\n';
  }
  return out.str();
}

}  // namespace rshift
