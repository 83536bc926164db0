// Integers of the weights chosen by the samples: which way each is rounded, where each channel is
// clipped. docs/weights.md.
#ifndef RSHIFT_PIPELINE_WEIGHT_CHOICE_H_
#define RSHIFT_PIPELINE_WEIGHT_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/weight_methods.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/set_weights.h"

namespace rshift {

// kAuto rounds the layers that cost the least first, until more would take more products of two
// numbers than these in all: some ten seconds of one thread.
inline constexpr double kMostAutoProducts = 1e11;

// What came of it.
struct WeightChoiceReport {
  WeightMethods methods;
  int64_t samples = 0;
  int candidates = 0;                  // layers whose weights could be chosen
  int costly = 0;                      // of them: left as they are for kMostAutoProducts
  int layers = 0;                      // of them: with other integers or scales than before
  int64_t weights = 0;                 // other integers
  int64_t channels = 0;                // clipped ones
  double gain_db = 0;                  // of the sums' error, the mean over those not left
  double before_db = 0, after_db = 0;  // of the outputs, over the samples
  bool kept = false;                   // false: the program is that of rounding to nearest
  std::string why_none = {};           // kAuto: for people, why nothing was measured
};

struct WeightChoice {
  NodeWeights weights;  // empty unless they are kept
  WeightChoiceReport report;
};

// `floating`: after RunPasses and Equalize, without parameters of its own. The inputs of each layer
// are those of the float program as the layer's integers. Kept only when the outputs over the
// samples are better by more than one standard error (paired_choice.h), with kAuto as it says.
// Threads change nothing. `without`: of each sample, the outputs' quality (dB) of what the program
// would be otherwise; empty: that of the nearest integers.
WeightChoice ChooseWeights(const Graph& floating, const CalibrationTable& table,
                           const QuantizeOptions& options, const Dataset& samples,
                           const WeightMethods& methods, int threads,
                           const ProgressFunction& progress = {},
                           const std::vector<double>& without = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_WEIGHT_CHOICE_H_
