#include "isa/markdown.h"

#include <limits>
#include <sstream>

#include "base/error.h"
#include "isa/isa.h"

namespace rshift {
namespace {

constexpr const char* kIntroduction =
    R"(# The instruction set

Made from the table in `isa/isa_table.cc` by `isa/markdown.cc`; a test fails when this file differs
(`RSHIFT_UPDATE_DOCS=1 bin/codegen_docs_test` writes it anew).

A command is one fused operator. Its tensors are indices into the program's tensor table, which holds
their type, shape, layout, quantization and address. Opcodes and field numbers are part of the file
format: they are never renumbered.

A tensor that "may be a view" may lie in another one's memory, its rows a pitch apart, and begin at any element:
a Concat is written by the commands that make its parts. All others are dense and begin at a multiple
of 64 bytes. Commands read and write the bytes of their tensors only (reads: up to 64 bytes behind a row,
whose values do not matter).

A command with `fuse_with_previous` 1 is fused with the command before it: it works on bytes that one has
just stored, in place. The command before it is a convolution, matrix product or pool, or has `fuse_with_previous` 1
itself; dst, and src or src2, are the bytes of that command's dst (offset, pitch and shape). The bytes are
those of the two commands one after the other, but the first one's result is never all there.

)";

constexpr const char* kBroadcast =
    R"( take operands of dst's shape. One of the two may be
a constant that broadcasts to it, by the rules of NumPy: C numbers for a map of H x W x C, one each for a
channel. The bytes are those of the constant spread out.

)";

constexpr const char* kStream =
    R"(## The stream

One command after the other, `0x00` (end) last:

1. the opcode, one byte;
2. the presence mask, LEB128: bit *i* says that the *i*-th field of the opcode's list differs from its
   *sticky* value, the last value that field had in any command (0 at first);
3. for each present field, in list order: zigzag LEB128 of (value - sticky), modulo 2^64.

There is one encoding only: numbers in their shortest form, no present field without a change, no byte
after the end. Floats are stored as their bits. A tensor that is optional and absent is -1.

)";

// "`add`, `add_float` and `mul`": the commands that broadcast constants.
std::string BroadcastNames() {
  std::string text;
  for (const OpSpec& op : IsaTable()) {
    if (op.traits.broadcasts_constant) text += Cat(text.empty() ? "" : ", ", '`', op.name, '`');
  }
  const size_t last = text.rfind(", ");
  return last == std::string::npos ? text : text.replace(last, 2, " and ");
}

const char* ClassText(OpClass op_class) {
  switch (op_class) {
    case OpClass::kInteger:
      return "integer";
    case OpClass::kMove:
      return "data movement, any element type";
    case OpClass::kFloat:
      return "F32, runtime";
    case OpClass::kFloatLibrary:
      return "F32, rshift_float";
  }
  return "?";
}

std::string Number(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "-2^63";
  if (value == std::numeric_limits<int64_t>::max()) return "2^63-1";
  if (value == std::numeric_limits<int32_t>::min()) return "-2^31";
  if (value == std::numeric_limits<int32_t>::max()) return "2^31-1";
  if (value == int64_t{1} << 20) return "2^20";
  if (value == int64_t{1} << 40) return "2^40";
  return std::to_string(value);
}

void PutOp(const OpSpec& op, std::ostringstream& out) {
  out << "### " << static_cast<int>(op.opcode) << " `" << op.name << "`\n\n"
      << ClassText(op.op_class) << ". " << op.summary << "\n\n"
      << "| bit | field | number | kind | range |\n|---|---|---|---|---|\n";
  for (size_t i = 0; i < op.fields.size(); ++i) {
    const FieldSpec& field = op.fields[i];
    out << "| " << i << " | " << Name(field.field) << " | " << static_cast<int>(field.field)
        << " | " << Name(field.kind) << (field.view ? ", may be a view" : "") << " | ";
    if (field.kind == FieldKind::kInt) out << Number(field.lo) << " .. " << Number(field.hi);
    out << " |\n";
  }
  out << '\n';
}

}  // namespace

std::string IsaMarkdown() {
  std::ostringstream out;
  out << kIntroduction << BroadcastNames() << kBroadcast << kStream << "## Commands\n\n";
  for (const OpSpec& op : IsaTable()) PutOp(op, out);
  std::string text = out.str();
  text.pop_back();  // one newline at the end of the file
  return text;
}

}  // namespace rshift
