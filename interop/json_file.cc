#include "interop/json_file.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rshift {
namespace {

constexpr int kMaxDepth = 64;

template <typename T, typename Read>
std::vector<T> OneOrMore(const Json& value, const std::string& what, Read read) {
  if (!value.is_array()) return {read(value, what)};
  std::vector<T> numbers;
  for (const Json& element : value) numbers.push_back(read(element, what));
  return numbers;
}

}  // namespace

Json ParseJson(const std::string& text, const std::string& where) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    RSHIFT_REQUIRE(depth <= kMaxDepth, ErrorCode::kInvalidInput, where, ": more than ", kMaxDepth,
                   " levels of JSON");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      RSHIFT_REQUIRE(keys.back().insert(key).second, ErrorCode::kInvalidInput, where, ": '", key,
                     "' occurs twice; keep one of them");
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    RSHIFT_REQUIRE(json.is_object(), ErrorCode::kInvalidInput, where,
                   ": expected a JSON object { ... }");
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    const auto line = std::count(
        text.begin(), text.begin() + static_cast<int64_t>(std::min(error.byte, text.size())), '\n');
    const std::string said = error.what();
    const size_t reason = said.find(": syntax error");
    Fail(ErrorCode::kInvalidInput, where, ":", line + 1, ": not JSON",
         reason == std::string::npos ? "" : said.substr(reason),
         "; NaN and Infinity are no numbers of JSON");
  } catch (const nlohmann::json::exception& error) {
    Fail(ErrorCode::kInvalidInput, where, ": not JSON that can be read: ", error.what());
  }
}

const Json& Member(const Json& object, const char* key, const std::string& what) {
  RSHIFT_REQUIRE(object.is_object(), ErrorCode::kInvalidInput, what,
                 ": expected an object { ... }");
  const auto found = object.find(key);
  RSHIFT_REQUIRE(found != object.end(), ErrorCode::kInvalidInput, what, ": '", key, "' is missing");
  return *found;
}

double JsonNumber(const Json& value, const std::string& what) {
  RSHIFT_REQUIRE(value.is_number(), ErrorCode::kInvalidInput, what, ": found ",
                 value.dump().substr(0, 40), ", expected a number");
  return value.get<double>();
}

int64_t JsonInteger(const Json& value, const std::string& what) {
  const double number = JsonNumber(value, what);
  RSHIFT_REQUIRE(number == std::floor(number) && std::fabs(number) < 0x1p53,
                 ErrorCode::kInvalidInput, what, ": found ", number, ", expected an integer");
  return static_cast<int64_t>(number);
}

std::string JsonString(const Json& value, const std::string& what) {
  RSHIFT_REQUIRE(value.is_string(), ErrorCode::kInvalidInput, what, ": found ",
                 value.dump().substr(0, 40), ", expected a string");
  return value.get<std::string>();
}

bool JsonBool(const Json& value, const std::string& what) {
  if (value.is_boolean()) return value.get<bool>();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  RSHIFT_REQUIRE(text == "True" || text == "False" || text == "true" || text == "false",
                 ErrorCode::kInvalidInput, what, ": found ", value.dump().substr(0, 40),
                 ", expected true or false");
  return text[0] == 'T' || text[0] == 't';
}

std::vector<double> JsonNumbers(const Json& value, const std::string& what) {
  return OneOrMore<double>(value, what, JsonNumber);
}

std::vector<int64_t> JsonIntegers(const Json& value, const std::string& what) {
  return OneOrMore<int64_t>(value, what, JsonInteger);
}

std::string JsonFileText(const Json& json) {
  try {
    return json.dump(1) + "\n";
  } catch (const nlohmann::json::exception&) {
    Fail(ErrorCode::kUnsupported,
         "a name is no UTF-8, which JSON cannot hold; choose another format");
  }
}

}  // namespace rshift
