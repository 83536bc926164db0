#include "yaml/reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>

#include "base/file_kind.h"

namespace rshift {
namespace {

std::string List(std::initializer_list<std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string ScalarText(const YamlPart& part, const std::string& what) {
  if (!part.node.IsDefined() || !part.node.IsScalar()) {
    FailAt(part, what, " is not a single value; write one value behind the colon");
  }
  return part.node.Scalar();
}

}  // namespace

std::string Location(const YamlPart& part) {
  const int line = part.node.IsDefined() ? part.node.Mark().line : -1;
  return line < 0 ? part.where : Cat(part.where, ":", line + 1);
}

void CheckTextLimits(const std::string& text, const std::string& where) {
  RSHIFT_REQUIRE(text.size() <= kMaxYamlBytes, ErrorCode::kInvalidInput, where, ": ", text.size(),
                 " bytes, a YAML file has at most ", kMaxYamlBytes);
  int line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    RSHIFT_REQUIRE(end - begin <= kMaxYamlLine, ErrorCode::kInvalidInput, where, ":", line, ": ",
                   end - begin, " bytes in one line, a YAML file has at most ", kMaxYamlLine,
                   KindNote({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
    begin = end + 1;
  }
}

YamlPart ParseYaml(const std::string& text, const std::string& where) {
  CheckTextLimits(text, where);
  try {
    return {YAML::Load(text), where};
  } catch (const YAML::Exception& error) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()),
                                         text.size());
    std::string why = error.msg;  // quotes a character of the file, which may be a NUL
    std::replace_if(
        why.begin(), why.end(), [](unsigned char c) { return c < 0x20; }, '?');
    const bool is_alias = error.msg.find("anchor") != std::string::npos;
    Fail(ErrorCode::kInvalidInput, where, ":", error.mark.line + 1, ": not valid YAML: ", why,
         is_alias ? "; put a name that begins with * or & in quotes" : "", KindNote(bytes));
  }
}

void CheckKeys(const YamlPart& part, const std::string& what,
               std::initializer_list<std::string_view> known) {
  if (!part.node.IsDefined() || !part.node.IsMap()) {
    FailAt(part, what, " is not a map; expected lines 'key: value'");
  }
  std::set<std::string> seen;
  for (const auto& entry : part.node) {
    const YamlPart at{entry.first, part.where};
    const std::string key = ScalarText(at, "a key of " + what);
    if (!seen.insert(key).second) FailAt(at, what, " has '", key, "' twice; keep one of them");
    if (known.size() != 0 && std::find(known.begin(), known.end(), key) == known.end()) {
      FailAt(at, what, " has an unknown key '", key, "', expected ", List(known));
    }
  }
}

bool HasKey(const YamlPart& map, const std::string& key) {
  const YAML::Node& node = map.node;
  return node[key].IsDefined();
}

YamlPart Child(const YamlPart& map, const std::string& key, const std::string& what) {
  const YAML::Node& node = map.node;
  const YAML::Node child = node[key];
  if (!child.IsDefined()) FailAt(map, what, " has no '", key, "'; add it");
  return {child, map.where};
}

std::string ReadString(const YamlPart& part, const std::string& what) {
  return ScalarText(part, what);
}

bool ParseFloat(std::string_view text, float* value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*value);
}

float ReadFloat(const YamlPart& part, const std::string& what) {
  const std::string text = ScalarText(part, what);
  float value = 0;
  if (!ParseFloat(text, &value)) FailAt(part, what, " is '", text, "', expected a finite number");
  return value;
}

double ReadDouble(const YamlPart& part, const std::string& what) {
  const std::string text = ScalarText(part, what);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    FailAt(part, what, " is '", text, "', expected a finite number");
  }
  return value;
}

int64_t ReadInt(const YamlPart& part, const std::string& what) {
  const std::string text = ScalarText(part, what);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    FailAt(part, what, " is '", text, "', expected a whole number");
  }
  return value;
}

int ReadEither(const YamlPart& part, const std::string& what, int a, int b) {
  const int64_t value = ReadInt(part, what);
  if (value != a && value != b) {
    FailAt(part, what, " is ", value, ", expected ", a, " or ", b);
  }
  return static_cast<int>(value);
}

bool ReadBool(const YamlPart& part, const std::string& what) {
  const std::string text = ScalarText(part, what);
  if (text == "true") return true;
  if (text == "false") return false;
  FailAt(part, what, " is '", text, "', expected true or false");
}

}  // namespace rshift
