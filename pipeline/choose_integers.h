// The integers of weights and biases that a deployment takes: the methods of weight_choice.h and
// bias_correction.h one beside the other. docs/weights.md, docs/bias_correction.md.
#ifndef RSHIFT_PIPELINE_CHOOSE_INTEGERS_H_
#define RSHIFT_PIPELINE_CHOOSE_INTEGERS_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/bias_correction.h"
#include "pipeline/weight_choice.h"
#include "pipeline/weight_methods.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/set_biases.h"
#include "quantize/set_weights.h"

namespace rshift {

struct IntegerRequest {
  const Graph& floating;  // as of ChooseWeights and CorrectBiases
  const CalibrationTable& table;
  const QuantizeOptions& options;
  WeightMethods weights;
  BiasCorrectionMode bias_correction;
  // Read once, when something is measured; may throw.
  std::function<std::unique_ptr<Dataset>()> samples;
  // The samples were given for this: what goes wrong is an error even of kAuto.
  bool samples_given = false;
  int threads = 1;
  ProgressFunction progress = {};
};

struct IntegerChoice {
  NodeWeights weights;                                   // others than the nearest
  NodeBiases biases;                                     // others than floating's
  std::optional<WeightChoiceReport> weight_report = {};  // nothing: not asked for
  std::optional<BiasCorrectionReport> bias_report = {};  // likewise
  // Of each sample's outputs in dB, of the program with these; empty without bias correction.
  std::vector<double> quality = {};
};

// What is kAuto and cannot be measured leaves the program as it is, with `why_none` in its report;
// what was asked for by name throws.
IntegerChoice ChooseIntegers(const IntegerRequest& request);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHOOSE_INTEGERS_H_
