// Strict reading of JSON: duplicate keys, wrong kinds and missing members are errors that name the
// file and the member.
#ifndef RSHIFT_INTEROP_JSON_FILE_H_
#define RSHIFT_INTEROP_JSON_FILE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace rshift {

// In the file's order.
using Json = nlohmann::ordered_json;

// Throws kInvalidInput with the place of a syntax error, for a key that occurs twice in its object,
// for nesting deeper than 64 and for a text that is no object.
Json ParseJson(const std::string& text, const std::string& where);

// The member of an object; throws kInvalidInput naming `what` when it is missing.
const Json& Member(const Json& object, const char* key, const std::string& what);
// Throw kInvalidInput naming `what` for another kind.
double JsonNumber(const Json& value, const std::string& what);
int64_t JsonInteger(const Json& value, const std::string& what);  // also 3.0
std::string JsonString(const Json& value, const std::string& what);
bool JsonBool(const Json& value, const std::string& what);  // also "True" and "False"
// One number, or a list of them.
std::vector<double> JsonNumbers(const Json& value, const std::string& what);
std::vector<int64_t> JsonIntegers(const Json& value, const std::string& what);

// With line ends and indents, and one at the end. Throws kUnsupported for names that are no UTF-8.
std::string JsonFileText(const Json& json);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_JSON_FILE_H_
