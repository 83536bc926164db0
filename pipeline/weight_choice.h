// Integers of the weights chosen by the samples: which way each is rounded, where each channel is
// clipped. docs/weights.md.
#ifndef RSHIFT_PIPELINE_WEIGHT_CHOICE_H_
#define RSHIFT_PIPELINE_WEIGHT_CHOICE_H_

#include <cstdint>
#include <string>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/set_weights.h"

namespace rshift {

// kNearest: each weight by itself. kGptq: the weights of a channel together, for the sake of the
// sums that they make of the samples.
enum class WeightRounding { kNearest, kGptq };
const char* Name(WeightRounding rounding);
// kOff: the largest weight of a channel is its last step. kMse: the scale with the least error of
// the sums.
enum class WeightClipping { kOff, kMse };
const char* Name(WeightClipping clipping);
// Throw kInvalidInput for an unknown name.
WeightRounding ParseWeightRounding(const std::string& name);
WeightClipping ParseWeightClipping(const std::string& name);

struct WeightMethods {
  WeightRounding rounding = WeightRounding::kNearest;
  WeightClipping clipping = WeightClipping::kOff;
  bool any() const {
    return rounding != WeightRounding::kNearest || clipping != WeightClipping::kOff;
  }
};

// What came of it.
struct WeightChoiceReport {
  WeightMethods methods;
  int64_t samples = 0;
  int candidates = 0;                  // layers whose weights could be chosen
  int layers = 0;                      // of them: with other integers or scales than before
  int64_t weights = 0;                 // other integers
  int64_t channels = 0;                // clipped ones
  double gain_db = 0;                  // of the sums' error, the mean over the candidates
  double before_db = 0, after_db = 0;  // of the outputs, over the samples
  bool kept = false;                   // false: the program is that of rounding to nearest
};

struct WeightChoice {
  NodeWeights weights;  // empty unless they are kept
  WeightChoiceReport report;
};

// `floating`: after RunPasses and Equalize, without parameters of its own. The inputs of each layer
// are those of the float program as the layer's integers. Kept only when the outputs over the
// samples are better by more than one standard error (paired_choice.h). Threads change nothing.
WeightChoice ChooseWeights(const Graph& floating, const CalibrationTable& table,
                           const QuantizeOptions& options, const Dataset& samples,
                           const WeightMethods& methods, int threads,
                           const ProgressFunction& progress = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_WEIGHT_CHOICE_H_
