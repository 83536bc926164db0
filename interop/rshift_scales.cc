// Our own form of a scale set, YAML, which holds all of it:
//
//   rshift_scales: 1
//   source: "tensorrt"
//   entries:
//     - {name: "conv1", scale: 0.0078125, signed: true}
//     - {name: "conv1.weight", kind: weights, axis: 0, scale: [0.01, 0.02], signed: true}
//     - {name: "x", threshold: 1.5, low: -1.5, high: 1.2, min: -3, max: 2.5}
//     - {name: "softmax", float: true}
//   precisions:
//     "conv7": F32
#include "interop/format_list.h"
#include "interop/text_table.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

bool Recognise(const std::string& text) { return text.find("rshift_scales:") != std::string::npos; }

std::vector<double> Numbers(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) return {ReadDouble(part, what)};
  std::vector<double> numbers;
  for (const auto& element : part.node) numbers.push_back(ReadDouble({element, part.where}, what));
  return numbers;
}

std::vector<int64_t> Integers(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) return {ReadInt(part, what)};
  std::vector<int64_t> numbers;
  for (const auto& element : part.node) numbers.push_back(ReadInt({element, part.where}, what));
  return numbers;
}

Subject SubjectOf(const YamlPart& part, const std::string& what) {
  const std::string kind = ReadString(part, what);
  for (const Subject subject :
       {Subject::kTensor, Subject::kWeights, Subject::kLayerInput, Subject::kLayerWeights}) {
    if (kind == Name(subject)) return subject;
  }
  FailAt(part, what, " is '", kind, "', expected tensor, weights, layer_input or layer_weights");
}

ScaleEntry ReadEntry(const YamlPart& part) {
  ScaleEntry e;
  CheckKeys(part, "an entry",
            {"name", "kind", "threshold", "low", "high", "scale", "zero_point", "min", "max",
             "bits", "signed", "axis", "float"});
  e.name = ReadString(Child(part, "name", "an entry"), "name");
  const std::string what = "'" + e.name + "'";
  const auto number = [&](const char* key) -> std::optional<double> {
    if (!HasKey(part, key)) return std::nullopt;
    return ReadDouble(Child(part, key, what), what + ": " + key);
  };
  const auto numbers = [&](const char* key) {
    return HasKey(part, key) ? Numbers(Child(part, key, what), what + ": " + key)
                             : std::vector<double>();
  };
  if (HasKey(part, "kind")) e.subject = SubjectOf(Child(part, "kind", what), what + ": kind");
  e.threshold = number("threshold");
  e.min = number("min");
  e.max = number("max");
  e.low = numbers("low");
  e.high = numbers("high");
  e.scales = numbers("scale");
  if (HasKey(part, "zero_point"))
    e.zero_points = Integers(Child(part, "zero_point", what), what + ": zero_point");
  const auto integer = [&](const char* key, int otherwise) {
    if (!HasKey(part, key)) return otherwise;
    return SmallInt(ReadInt(Child(part, key, what), what + ": " + key),
                    Location(part) + ": " + what + ": " + key);
  };
  e.bits = integer("bits", 8);
  e.axis = integer("axis", -1);
  if (HasKey(part, "signed"))
    e.is_signed = ReadBool(Child(part, "signed", what), what + ": signed");
  e.is_float = HasKey(part, "float") && ReadBool(Child(part, "float", what), what + ": float");
  return e;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  CheckTextLimits(text, where);
  const YamlPart root = ParseYaml(text, where);
  const std::string what = "the scales";
  CheckKeys(root, what,
            {"rshift_scales", "source", "method", "header", "samples", "entries",
             "names_end_in_operator", "precisions"});
  const YamlPart version = Child(root, "rshift_scales", what);
  if (const int64_t found = ReadInt(version, "rshift_scales"); found != 1)
    FailAt(version, "version ", found, " of the scales, expected 1");
  ScaleSet set;
  const auto text_of = [&](const char* key) {
    return HasKey(root, key) ? ReadString(Child(root, key, what), key) : std::string();
  };
  set.method = text_of("method");
  set.header = text_of("header");
  if (HasKey(root, "samples")) set.samples = ReadInt(Child(root, "samples", what), "samples");
  set.names_end_in_operator =
      HasKey(root, "names_end_in_operator") &&
      ReadBool(Child(root, "names_end_in_operator", what), "names_end_in_operator");
  if (HasKey(root, "entries")) {
    const YamlPart entries = Child(root, "entries", what);
    if (!entries.node.IsSequence()) FailAt(entries, "entries is not a list");
    for (const auto& entry : entries.node) set.entries.push_back(ReadEntry({entry, where}));
  }
  if (!HasKey(root, "precisions")) return set;
  const YamlPart precisions = Child(root, "precisions", what);
  CheckKeys(precisions, "precisions", {});
  for (const auto& entry : precisions.node) {
    set.precisions[entry.first.Scalar()] = ReadString({entry.second, where}, "precision");
  }
  return set;
}

std::string Quoted(const std::string& text) {
  YAML::Emitter out;
  out << YAML::DoubleQuoted << text;
  return out.c_str();
}

template <typename T, typename Text>
std::string List(const char* key, const std::vector<T>& numbers, Text text) {
  if (numbers.empty()) return "";
  // Lines of YAML are limited (kMaxYamlLine).
  constexpr size_t kPerLine = 500;
  std::string list;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) list += i % kPerLine == 0 ? ",\n      " : ", ";
    list += text(numbers[i]);
  }
  return Cat(", ", key, ": ", numbers.size() == 1 ? list : "[" + list + "]");
}

std::string EntryLine(const ScaleEntry& e) {
  std::string line = "  - {name: " + Quoted(e.name);
  if (e.subject != Subject::kTensor) line += Cat(", kind: ", Name(e.subject));
  const auto one = [&](const char* key, const std::optional<double>& number) {
    if (number) line += Cat(", ", key, ": ", NumberText(*number));
  };
  one("threshold", e.threshold);
  line += List("low", e.low, NumberText) + List("high", e.high, NumberText);
  line += List("scale", e.scales, NumberText);
  line += List("zero_point", e.zero_points, [](int64_t zero) { return std::to_string(zero); });
  one("min", e.min);
  one("max", e.max);
  if (e.bits != 8) line += Cat(", bits: ", e.bits);
  if (e.is_signed) line += Cat(", signed: ", *e.is_signed ? "true" : "false");
  if (e.axis >= 0) line += Cat(", axis: ", e.axis);
  return line + (e.is_float ? ", float: true}\n" : "}\n");
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses*) {
  std::string out = "rshift_scales: 1\nsource: " + Quoted(set.format) + "\n";
  if (!set.method.empty()) out += "method: " + Quoted(set.method) + "\n";
  if (!set.header.empty()) out += "header: " + Quoted(set.header) + "\n";
  if (set.samples > 0) out += "samples: " + std::to_string(set.samples) + "\n";
  if (set.names_end_in_operator) out += "names_end_in_operator: true\n";
  out += set.entries.empty() ? "entries: []\n" : "entries:\n";
  for (const ScaleEntry& entry : set.entries) out += EntryLine(entry);
  if (!set.precisions.empty()) out += "precisions:\n";
  for (const auto& [name, precision] : set.precisions)
    out += "  " + Quoted(name) + ": " + Quoted(precision) + "\n";
  return out;
}

}  // namespace

const ScaleFormat kRshiftScales = {"rshift-scales",
                                   "our own, YAML: holds all of a set",
                                   ".scales.yaml scales.yaml .yaml",
                                   Recognise,
                                   Read,
                                   Write};

}  // namespace rshift
