// Strict reading of YAML: duplicate and unknown keys, wrong kinds and malformed numbers are errors
// that name the file and the line. Used for tables, targets and configurations.
#ifndef RSHIFT_YAML_READER_H_
#define RSHIFT_YAML_READER_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rshift {

// One node of a YAML text and where it came from.
struct YamlPart {
  YAML::Node node;
  std::string where;  // file name
};

// "file.yaml:12" of the part.
std::string Location(const YamlPart& part);

template <typename... Args>
[[noreturn]] void FailAt(const YamlPart& part, const Args&... args) {
  Fail(ErrorCode::kInvalidInput, Location(part), ": ", args...);
}

// What a file may hold, checked before it is parsed: the parser's time and memory, and those of its
// messages, grow with it.
inline constexpr size_t kMaxYamlBytes = size_t{64} << 20;
inline constexpr size_t kMaxYamlLine = size_t{64} << 10;

void CheckTextLimits(const std::string& text, const std::string& where);

// Throws kInvalidInput with the line of a syntax error, or of what is beyond the limits.
YamlPart ParseYaml(const std::string& text, const std::string& where);

// Throws unless `part` is a map without duplicate keys whose keys are all among `known`
// (an empty list allows any). `what` names the map in messages: "the tensor 'conv1'".
void CheckKeys(const YamlPart& part, const std::string& what,
               std::initializer_list<std::string_view> known);

bool HasKey(const YamlPart& map, const std::string& key);
// Throws when the key is missing.
YamlPart Child(const YamlPart& map, const std::string& key, const std::string& what);

// Scalars. `what` names the value in messages.
std::string ReadString(const YamlPart& part, const std::string& what);
float ReadFloat(const YamlPart& part, const std::string& what);    // finite
double ReadDouble(const YamlPart& part, const std::string& what);  // finite
int64_t ReadInt(const YamlPart& part, const std::string& what);
int ReadEither(const YamlPart& part, const std::string& what, int a, int b);
bool ReadBool(const YamlPart& part, const std::string& what);  // true or false

// A finite number with nothing behind it; false otherwise.
bool ParseFloat(std::string_view text, float* value);

}  // namespace rshift

#endif  // RSHIFT_YAML_READER_H_
