// model_tool disasm and diff: the command stream as text and as JSON.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "codegen/container/container.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

nlohmann::json TensorJson(const TensorRecord& r) {
  nlohmann::json json = {{"name", r.name},
                         {"type", Name(r.dtype)},
                         {"shape", r.shape},
                         {"layout", r.layout == Layout::kNhwc ? "nhwc" : "plain"},
                         {"region", r.region == Region::kConst ? "constants" : "arena"},
                         {"offset", r.offset},
                         {"row_pitch", r.row_pitch()}};
  if (r.quantized) json.update({{"scale", r.scale}, {"zero_point", r.zero_point}});
  return json;
}

// Tensors by index; fields at their defaults are left out, as in the text.
nlohmann::json CommandJson(const ProgramImage& image, size_t index) {
  const Command& command = image.commands[index];
  const OpSpec& spec = *FindOp(command.opcode);
  const Command defaults = NewCommand(command.opcode);
  nlohmann::json tensors = nlohmann::json::object(), fields = nlohmann::json::object();
  for (const FieldSpec& field : spec.fields) {
    const int64_t value = command.Get(field.field);
    if (IsTensor(field.kind)) {
      if (value >= 0) tensors[Name(field.field)] = value;
    } else if (value != defaults.Get(field.field)) {
      if (field.kind == FieldKind::kFloat)
        fields[Name(field.field)] = command.GetFloat(field.field);
      else
        fields[Name(field.field)] = value;
    }
  }
  return {{"index", index},
          {"opcode", spec.name},
          {"node", index < image.command_names.size() ? image.command_names[index] : ""},
          {"tensors", tensors},
          {"fields", fields}};
}

nlohmann::json BindingsJson(const std::vector<Binding>& bindings) {
  nlohmann::json json = nlohmann::json::array();
  for (const Binding& b : bindings) json.push_back({{"name", b.name}, {"tensor", b.tensor}});
  return json;
}

// What two programs differ in; empty lists where they do not.
struct Difference {
  struct Pair {
    std::string key;  // of the metadata; empty for lines
    int line = 0;     // from 1, of the disassembly
    bool in_a = true, in_b = true;
    std::string a, b;
  };
  std::vector<Pair> meta, lines;
  std::vector<std::string> sections;  // of other bytes, or that one program lacks
  uint64_t arena_a = 0, arena_b = 0;
  size_t constants_a = 0, constants_b = 0;
  bool constants = false;
};

std::vector<Difference::Pair> DifferentMeta(const ProgramImage& a, const ProgramImage& b) {
  std::set<std::string> keys;
  for (const auto& entry : a.meta) keys.insert(entry.first);
  for (const auto& entry : b.meta) keys.insert(entry.first);
  const auto value = [](const ProgramImage& image, const std::string& key) {
    const auto at = image.meta.find(key);
    return at == image.meta.end() ? std::string("(none)") : at->second;
  };
  std::vector<Difference::Pair> pairs;
  for (const std::string& key : keys) {
    const bool in_a = a.meta.contains(key), in_b = b.meta.contains(key);
    Difference::Pair pair{key, 0, in_a, in_b, value(a, key), value(b, key)};
    if (in_a != in_b || pair.a != pair.b) pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<Difference::Pair> DifferentLines(const ProgramImage& a, const ProgramImage& b) {
  std::istringstream lines_a(Disassemble(a)), lines_b(Disassemble(b));
  std::vector<Difference::Pair> pairs;
  for (int line = 1;; ++line) {
    Difference::Pair pair;
    pair.line = line;
    pair.in_a = static_cast<bool>(std::getline(lines_a, pair.a));
    pair.in_b = static_cast<bool>(std::getline(lines_b, pair.b));
    if (!pair.in_a && !pair.in_b) return pairs;
    if (pair.in_a != pair.in_b || pair.a != pair.b) pairs.push_back(std::move(pair));
  }
}

std::vector<std::string> DifferentSections(const ContainerView& a, const ContainerView& b) {
  std::map<std::string, std::pair<uint64_t, uint32_t>> sections_a, sections_b;
  std::set<std::string> kinds;
  for (const auto& s : a.sections) sections_a[s.kind] = {s.size, s.crc};
  for (const auto& s : b.sections) sections_b[s.kind] = {s.size, s.crc};
  for (const auto& s : a.sections) kinds.insert(s.kind);
  for (const auto& s : b.sections) kinds.insert(s.kind);
  std::vector<std::string> different;
  for (const std::string& kind : kinds) {
    const auto in_a = sections_a.find(kind), in_b = sections_b.find(kind);
    const bool both = in_a != sections_a.end() && in_b != sections_b.end();
    if (!both || in_a->second != in_b->second) different.push_back(kind);
  }
  return different;
}

Difference FindDifference(const ContainerView& a, const ContainerView& b) {
  const bool same =
      std::equal(a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end());
  return {DifferentMeta(a.image, b.image),
          DifferentLines(a.image, b.image),
          DifferentSections(a, b),
          a.image.arena_size,
          b.image.arena_size,
          a.constants.size(),
          b.constants.size(),
          !same};
}

void PrintDifference(const Difference& d) {
  for (const auto& m : d.meta)
    std::printf("meta %s: %s | %s\n", m.key.c_str(), m.a.c_str(), m.b.c_str());
  for (const auto& l : d.lines) {
    if (l.in_a) std::printf("%d < %s\n", l.line, l.a.c_str());
    if (l.in_b) std::printf("%d > %s\n", l.line, l.b.c_str());
  }
  if (d.arena_a != d.arena_b) {
    std::printf("arena: %llu | %llu bytes\n", static_cast<unsigned long long>(d.arena_a),
                static_cast<unsigned long long>(d.arena_b));
  }
  // Offsets of tensors, for one, are in no line of the disassembly.
  for (const std::string& kind : d.sections) std::printf("section %s differs\n", kind.c_str());
  if (d.sections.empty()) std::printf("the headers differ, every section is the same\n");
  if (d.constants)
    std::printf("constants differ (%zu | %zu bytes)\n", d.constants_a, d.constants_b);
}

nlohmann::json SideJson(bool there, const std::string& text) {
  return there ? nlohmann::json(text) : nlohmann::json(nullptr);
}

nlohmann::json DifferenceJson(const Difference& d) {
  nlohmann::json meta = nlohmann::json::array(), lines = nlohmann::json::array();
  for (const auto& m : d.meta)
    meta.push_back({{"key", m.key}, {"a", SideJson(m.in_a, m.a)}, {"b", SideJson(m.in_b, m.b)}});
  for (const auto& l : d.lines)
    lines.push_back({{"line", l.line}, {"a", SideJson(l.in_a, l.a)}, {"b", SideJson(l.in_b, l.b)}});
  return {{"meta", meta},
          {"disassembly", lines},
          {"sections", d.sections},
          {"arena_bytes", {d.arena_a, d.arena_b}},
          {"constants_equal", !d.constants},
          {"constant_bytes", {d.constants_a, d.constants_b}}};
}

}  // namespace

int DisasmCommand(const std::string& program, bool json) {
  const std::vector<uint8_t> bytes = ReadFile(program);
  const ProgramImage image = ReadContainer(bytes, program).image;
  if (!json) {
    std::fputs(Disassemble(image).c_str(), stdout);
    return 0;
  }
  nlohmann::json tensors = nlohmann::json::array(), commands = nlohmann::json::array();
  for (const TensorRecord& tensor : image.tensors) tensors.push_back(TensorJson(tensor));
  for (size_t i = 0; i < image.commands.size(); ++i) commands.push_back(CommandJson(image, i));
  PrintJson({{"file", program},
             {"inputs", BindingsJson(image.inputs)},
             {"outputs", BindingsJson(image.outputs)},
             {"tensors", tensors},
             {"commands", commands}});
  return 0;
}

int DiffCommand(const std::string& a, const std::string& b, bool json) {
  const std::vector<uint8_t> bytes_a = ReadFile(a), bytes_b = ReadFile(b);
  const ContainerView view_a = ReadContainer(bytes_a, a), view_b = ReadContainer(bytes_b, b);
  const bool equal = bytes_a == bytes_b;
  const Difference difference = FindDifference(view_a, view_b);
  if (json) {
    nlohmann::json out = DifferenceJson(difference);
    out.update({{"a", a}, {"b", b}, {"equal", equal}});
    PrintJson(out);
  } else if (equal) {
    std::printf("equal\n");
  } else {
    PrintDifference(difference);
  }
  return equal ? 0 : 1;
}

}  // namespace rshift
