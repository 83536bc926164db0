#include "tools/preprocess_result.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace rshift {

namespace {

std::string Percent(int64_t part, int64_t whole) {
  return Cat(static_cast<int>(
      std::lround(100.0 * static_cast<double>(part) / static_cast<double>(whole))));
}

}  // namespace

std::string BetterText(const PreprocessResults& results) {
  const auto better = FindBetterPreprocess(results);
  if (!better) return "";
  const std::string offset =
      better->label_offset == 0 ? "" : Cat(" with --label-offset ", better->label_offset);
  return Cat("'", results.variants[better->variant].variant, "'", offset, ": ", better->why);
}

void PrintPreprocess(const PreprocessResults& found) {
  const auto& [results, samples, labels] = found;
  std::printf("%-42s %22s %9s %10s%s\n", "preprocessing", "input values", "BatchNorm", "confidence",
              labels ? "  top-1 % at label offset -1 / 0 / 1" : "");
  const auto number = [](const std::optional<double>& value) {
    char text[32] = "-";
    if (value) std::snprintf(text, sizeof text, "%.3f", *value);
    return std::string(text);
  };
  for (size_t i = 0; i < results.size(); ++i) {
    const PreprocessResult& r = results[i];
    char values[64];
    std::snprintf(values, sizeof values, "%.4g to %.4g", r.low, r.high);
    std::string hits;
    for (const int64_t h : r.hits) hits += (hits.empty() ? "  " : " / ") + Percent(h, samples);
    std::printf("%s %-40s %22s %9s %10s%s\n", i == 0 ? "*" : " ", r.variant.c_str(), values,
                number(r.norm_distance).c_str(), number(r.confidence).c_str(),
                labels ? hits.c_str() : "");
  }
  std::printf(
      "*: as given; BatchNorm: distance from what the first one saw in training, 0 is best\n");
}

nlohmann::json PreprocessJson(const PreprocessResults& found, const std::string& better) {
  const auto& [results, samples, labels] = found;
  nlohmann::json variants = nlohmann::json::array();
  for (const PreprocessResult& r : results) {
    nlohmann::json entry = {
        {"name", r.variant}, {"low", r.low}, {"high", r.high}, {"mean", r.mean}};
    if (r.norm_distance) entry["batch_norm_distance"] = *r.norm_distance;
    if (r.confidence) entry["confidence"] = *r.confidence;
    if (labels) entry["hits_at_offset"] = {{"-1", r.hits[0]}, {"0", r.hits[1]}, {"1", r.hits[2]}};
    variants.push_back(std::move(entry));
  }
  return {{"samples", samples}, {"variants", variants}, {"better", better}};
}

std::string PreprocessHint(const PreprocessResults& found) {
  const auto& [results, samples, labels] = found;
  constexpr double kMuch = 1.2;
  if (!labels && results[0].norm_distance) {
    const auto nearest = std::min_element(
        results.begin(), results.end(),
        [](const auto& a, const auto& b) { return a.norm_distance < b.norm_distance; });
    if (*nearest->norm_distance * kMuch < *results[0].norm_distance)
      return Cat("hint: the first BatchNorm is a little nearer to training with '",
                 nearest->variant, "'; give --labels to know");
  }
  if (labels || results[0].norm_distance)
    return "nothing tried is clearly better than what is given";
  const auto best =
      std::max_element(results.begin(), results.end(),
                       [](const auto& a, const auto& b) { return a.confidence < b.confidence; });
  if (results[0].confidence && *best->confidence > kMuch * *results[0].confidence) {
    return Cat("hint: the network is surer of itself with '", best->variant, "' (",
               *best->confidence, " instead of ", *results[0].confidence,
               "); give --labels to know");
  }
  return "the model has no BatchNorm behind its first Conv: give --labels to tell right from wrong";
}

}  // namespace rshift
