// Is the preprocessing the one that the model was trained with? The usual mistakes are tried beside
// it on the float model.
#ifndef RSHIFT_PIPELINE_PREPROCESS_TRIAL_H_
#define RSHIFT_PIPELINE_PREPROCESS_TRIAL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/first_norm.h"

namespace rshift {

struct PreprocessTrialOptions {
  std::vector<std::string> dataset;
  std::string labels;  // "" or what ReadLabels takes
  int64_t samples = 100;
  uint64_t seed = 0;
  int threads = 0;           // 0: one
  int64_t label_offset = 0;  // added to every label
  NoteFunction note = {};
  // Where there are neither labels nor a BatchNorm to judge by: the given one alone.
  bool only_if_judged = false;
};

// What one way of preparing the images leads to.
struct PreprocessResult {
  std::string variant;
  InputPreprocess recipe = {};
  float low = 0, high = 0;
  double mean = 0;
  // First BatchNorm behind a Conv of the input: mean over channels of |m - running mean| / running
  // deviation and |ln(deviation / running deviation)|. 0 would be the training data itself.
  std::optional<double> norm_distance;
  std::optional<double> confidence;  // of classifiers: mean of the largest probability
  // With labels: right answers at label offsets -1, 0, 1.
  std::array<int64_t, 3> hits = {0, 0, 0};
};

struct PreprocessResults {
  std::vector<PreprocessResult> variants;  // of VariantsOf, the given one first
  int64_t samples = 0;                     // of each
  bool labels = false;
};

// The input of the model that the first entry of `preprocess` is for. Throws kInvalidInput.
size_t PreprocessedInput(const std::vector<InputSpec>& inputs, const Preprocess& preprocess);

// `model`: as ImportOnnx gives it, before the passes.
PreprocessResults TryPreprocesses(const Graph& model, const Preprocess& preprocess,
                                  const PreprocessTrialOptions& options);

// What to tell a user whose way is clearly worse than another, by the BatchNorm alone, on the first
// options.samples of `samples`; "" where nothing is. `given`: options.dataset prepared by
// `preprocess`; it is opened in other ways only where it is too far from training. Throws what
// reading samples throws.
std::string SuspectPreprocess(const FirstNorm& norm, const Dataset& given,
                              const std::vector<int64_t>& samples, const Preprocess& preprocess,
                              const PreprocessTrialOptions& options);

// A way that is clearly better than what is given. The label says most, then the BatchNorm; the
// confidence says too little to be listened to.
struct BetterPreprocess {
  size_t variant = 0;    // index of PreprocessResults::variants
  int label_offset = 0;  // with which it is better
  std::string why;       // "top-1 80 % instead of 10 %"
};
// By how many right answers another way, or other labels, must be ahead: what is more than chance.
int64_t HitMargin(const PreprocessResults& results);
std::optional<BetterPreprocess> FindBetterPreprocess(const PreprocessResults& results);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PREPROCESS_TRIAL_H_
