#include "tools/accuracy.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "pipeline/usage.h"

namespace rshift {

std::vector<int> ParseTop(const std::string& text) {
  std::vector<int> top;
  RequireUsage(text.empty() || text.back() != ',', "--top ", text, ": ends with a comma");
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    const bool digits = !part.empty() && part.size() < 7 &&
                        part.find_first_not_of("0123456789") == std::string::npos;
    RequireUsage(digits && std::stoi(part) > 0, "--top ", text, ": expected numbers such as 1,5");
    RequireUsage(std::find(top.begin(), top.end(), std::stoi(part)) == top.end(), "--top ", text,
                 ": ", part, " is given twice");
    top.push_back(std::stoi(part));
  }
  RequireUsage(!top.empty(), "--top: expected numbers such as 1,5");
  return top;
}

void Accuracy::Add(std::span<const float> scores, int64_t label, const std::string& sample) {
  RSHIFT_REQUIRE(label >= 0 && label < static_cast<int64_t>(scores.size()),
                 ErrorCode::kInvalidInput, sample, ": label ", label, " is outside the model's ",
                 scores.size(), " classes (see --label-offset)");
  const float own = scores[static_cast<size_t>(label)];
  int64_t better = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    RSHIFT_REQUIRE(!std::isnan(scores[i]), ErrorCode::kInvalidInput, sample, ": score ", i,
                   " is NaN");
    better += scores[i] > own || (scores[i] == own && static_cast<int64_t>(i) < label);
  }
  for (size_t i = 0; i < top_.size(); ++i) hits_[i] += better < top_[i];
  ++images_;
}

}  // namespace rshift
