#include "interop/json_file.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rshift {
namespace {

constexpr size_t kMaxDepth = 64;

template <typename T, typename Read>
std::vector<T> OneOrMore(const Json& value, const std::string& what, Read read) {
  if (!value.is_array()) return {read(value, what)};
  std::vector<T> numbers;
  for (const Json& element : value) numbers.push_back(read(element, what));
  return numbers;
}

// Looks for keys that occur twice and for depth; the parser itself says what is wrong with the
// text. (Its callback would do, but takes quadratic time for lists of objects.)
class Watcher : public nlohmann::json_sax<Json> {
 public:
  explicit Watcher(const std::string& where) : where_(where) {}

  bool start_object(size_t) override { return Enter(); }
  bool start_array(size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& key) override {
    RSHIFT_REQUIRE(keys_.back().insert(key).second, ErrorCode::kInvalidInput, where_, ": '", key,
                   "' occurs twice; keep one of them");
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Enter() {
    RSHIFT_REQUIRE(keys_.size() < kMaxDepth, ErrorCode::kInvalidInput, where_, ": more than ",
                   kMaxDepth, " levels of JSON");
    keys_.emplace_back();
    return true;
  }
  bool Leave() {
    keys_.pop_back();
    return true;
  }

  const std::string& where_;
  std::vector<std::set<std::string>> keys_;  // of the open objects; of lists none
};

}  // namespace

Json ParseJson(const std::string& text, const std::string& where) {
  try {
    Watcher watcher(where);
    Json::sax_parse(text, &watcher);
    Json json = Json::parse(text);
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
