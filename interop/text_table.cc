#include "interop/text_table.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"
#include "base/number_text.h"

namespace rshift {
namespace {

// kOutOfRange: a number that no double is: 1e999, 1e-999.
enum class Parsed { kNoNumber, kOutOfRange, kNumber };

Parsed Parse(std::string_view word, double* value) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *value);
  if (word.empty() || error == std::errc::invalid_argument || end != word.data() + word.size())
    return Parsed::kNoNumber;
  return error == std::errc::result_out_of_range ? Parsed::kOutOfRange : Parsed::kNumber;
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view line) {
  constexpr const char* kBlanks = " \t\r\v\f";
  std::vector<std::string> words;
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

void EachLine(const std::string& text, const std::string& where,
              const std::function<void(const std::string&, const std::string&)>& take) {
  std::istringstream in(text);
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    take(line, Cat(where, ":", ++number));
  }
}

std::string FirstLine(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = WordsOf(line);
    if (!words.empty() && words[0][0] != '#') return line;
  }
  return "";
}

bool IsNumber(std::string_view word) {
  double ignored = 0;
  return Parse(word, &ignored) != Parsed::kNoNumber;
}

double NumberOf(const std::string& word, const std::string& place) {
  double value = 0;
  const Parsed parsed = Parse(word, &value);
  RSHIFT_REQUIRE(parsed != Parsed::kNoNumber, ErrorCode::kInvalidInput, place, ": '",
                 word.substr(0, 80), "', expected a number");
  RSHIFT_REQUIRE(parsed == Parsed::kNumber, ErrorCode::kInvalidInput, place, ": '",
                 word.substr(0, 80), "' is out of the range of numbers");
  return value;
}

std::string NumberText(double number) { return ShortestText(number); }
std::string FloatNumberText(double number) { return ShortestText(static_cast<float>(number)); }

void CheckWord(const std::string& name, const char* format) {
  RSHIFT_REQUIRE(
      !name.empty() && name[0] != '#' && name.find_first_of(" \t\r\n\v\f") == std::string::npos,
      ErrorCode::kUnsupported, "'", name, "': ", format,
      " cannot hold a name that is empty, has blanks or begins with #; choose another format");
}

}  // namespace rshift
