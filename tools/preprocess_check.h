// model_calibrate --check: is the preprocessing the one that the model was trained with?
#ifndef RSHIFT_TOOLS_PREPROCESS_CHECK_H_
#define RSHIFT_TOOLS_PREPROCESS_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"

namespace rshift {

struct PreprocessCheckOptions {
  std::vector<std::string> dataset;
  std::string labels;   // "" or what ReadLabels takes
  std::string picture;  // "" or where the first input goes as .png
  int64_t samples = 100;
  uint64_t seed = 0;
  int threads = 0;  // 0: one
  bool json = false;
};

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

// Prints the results of every variant and the verdict. Throws kInvalidInput when another one is
// clearly better. `model`: as ImportOnnx gives it, before the passes.
void CheckPreprocess(const Graph& model, const Preprocess& preprocess,
                     const PreprocessCheckOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_CHECK_H_
