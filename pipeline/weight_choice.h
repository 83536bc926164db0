// Integers of the weights chosen by the samples: which way each is rounded, where each channel is
// clipped. docs/weights.md.
#ifndef RSHIFT_PIPELINE_WEIGHT_CHOICE_H_
#define RSHIFT_PIPELINE_WEIGHT_CHOICE_H_

#include <cstdint>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/weight_methods.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/set_weights.h"

namespace rshift {

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
