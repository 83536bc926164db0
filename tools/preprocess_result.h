// What model_calibrate --check finds out, what follows from it, and how it is told.
#ifndef RSHIFT_TOOLS_PREPROCESS_RESULT_H_
#define RSHIFT_TOOLS_PREPROCESS_RESULT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rshift {

// What one way of preparing the images leads to.
struct PreprocessResult {
  std::string variant;
  float low = 0, high = 0;
  double mean = 0;
  // First BatchNorm behind a Conv of the input: mean over channels of |m - running mean| / running
  // deviation and |ln(deviation / running deviation)|. 0 would be the training data itself.
  std::optional<double> norm_distance;
  std::optional<double> confidence;  // of classifiers: mean of the largest probability
  int64_t hits[3] = {0, 0, 0};       // with labels: right answers at label offsets -1, 0, 1
};

// The label says most, then the BatchNorm, then the confidence. "" when `results`, the given one
// first, hold nothing clearly better; else what is. `samples`: of each.
std::string FindBetterPreprocess(const std::vector<PreprocessResult>& results, int64_t samples,
                                 bool labels);

// A line for each way of preparing the images, on the standard output.
void PrintPreprocess(const std::vector<PreprocessResult>& results, int64_t samples, bool labels);
nlohmann::json PreprocessJson(const std::vector<PreprocessResult>& results, int64_t samples,
                              bool labels, const std::string& better);
// When nothing is clearly better: how much that is worth.
std::string PreprocessHint(const std::vector<PreprocessResult>& results, bool labels);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_RESULT_H_
