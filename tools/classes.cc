#include "tools/classes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "calibrate/data/dataset.h"

namespace rshift {

bool HoldsClassScores(const Shape& shape) {
  return !shape.empty() &&
         std::count_if(shape.begin(), shape.end(), [](int64_t dim) { return dim != 1; }) == 1 &&
         NumElements(shape) > 1;
}

std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes) {
  std::istringstream text(ReadSmallText(path));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    names.push_back(line);
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  RSHIFT_REQUIRE(static_cast<int64_t>(names.size()) == classes, ErrorCode::kInvalidInput, path,
                 ": has ", names.size(), " lines, the model has ", classes,
                 " classes; expected the name of each on a line of its own, from class 0");
  return names;
}

std::vector<RankedClass> BestClasses(std::span<const float> scores, int64_t count) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) { return scores[static_cast<size_t>(i)]; };
  const auto better = [&](int64_t a, int64_t b) {
    if (std::isnan(score(a)) != std::isnan(score(b))) return std::isnan(score(b));
    if (score(a) > score(b)) return true;
    return !(score(a) < score(b)) && a < b;
  };
  const int64_t kept = std::min<int64_t>(count, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), better);
  std::vector<RankedClass> best;
  for (int64_t i = 0; i < kept; ++i) best.push_back({order[i], score(order[i])});
  return best;
}

nlohmann::json ClassesToJson(const std::vector<RankedClass>& best,
                             const std::vector<std::string>& names) {
  nlohmann::json json = nlohmann::json::array();
  for (const RankedClass& one : best) {
    json.push_back({{"class", one.index}, {"score", one.score}});
    if (!names.empty()) json.back()["name"] = names[static_cast<size_t>(one.index)];
  }
  return json;
}

void PrintClasses(const std::string& sample, const std::vector<RankedClass>& best,
                  const std::vector<std::string>& names) {
  std::printf("%s\n", sample.c_str());
  for (const RankedClass& one : best) {
    const std::string name = names.empty() ? "" : "  " + names[static_cast<size_t>(one.index)];
    std::printf("  %5lld  %12.6g%s\n", static_cast<long long>(one.index),
                static_cast<double>(one.score), name.c_str());
  }
}

}  // namespace rshift
