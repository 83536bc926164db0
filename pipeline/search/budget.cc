#include "pipeline/search/budget.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace rshift {
namespace {

constexpr const char* kExpected =
    "expected cosine=0.999, top1=99 (percent), boxes=0.95 (recall and precision), float-layers=2 "
    "or time=40evaluations";

// The whole of `text`, or nothing.
template <typename T>
std::optional<T> NumberIn(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

template <typename T>
void Set(std::optional<T>* field, std::optional<T> value, bool fits, const std::string& text) {
  RSHIFT_REQUIRE(value && fits, ErrorCode::kInvalidInput, "--budget ", text, ": ", kExpected);
  RSHIFT_REQUIRE(!*field, ErrorCode::kInvalidInput, "--budget ", text, ": given twice");
  *field = value;
}

}  // namespace

SearchBudget ParseBudget(const std::vector<std::string>& texts) {
  constexpr std::string_view kUnit = "evaluations";
  SearchBudget budget;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (key == "cosine") {
      const auto number = NumberIn<double>(value);
      Set(&budget.cosine, number, number && *number > 0 && *number <= 1, text);
    } else if (key == "top1") {
      const auto number = NumberIn<double>(value);
      Set(&budget.top1, number, number && *number > 0 && *number <= 100, text);
    } else if (key == "boxes") {
      const auto number = NumberIn<double>(value);
      Set(&budget.boxes, number, number && *number > 0 && *number <= 1, text);
    } else if (key == "float-layers") {
      const auto number = NumberIn<int64_t>(value);
      Set(&budget.float_layers, number, number && *number >= 0, text);
    } else if (key == "time" && value.ends_with(kUnit)) {
      const auto number = NumberIn<int64_t>(value.substr(0, value.size() - kUnit.size()));
      Set(&budget.evaluations, number, number && *number >= 1, text);
    } else {
      Fail(ErrorCode::kInvalidInput, "--budget ", text, ": ", kExpected);
    }
  }
  return budget;
}

}  // namespace rshift
