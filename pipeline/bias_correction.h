// Bias correction: integers miss the float program's numbers by an error that has a mean, channel
// by channel, and a bias can take that back. docs/bias_correction.md.
#ifndef RSHIFT_PIPELINE_BIAS_CORRECTION_H_
#define RSHIFT_PIPELINE_BIAS_CORRECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/set_biases.h"
#include "quantize/set_weights.h"

namespace rshift {

// kFast: what each layer loses by itself, given the float program's values. kFull: what it loses in
// the integer program, behind layers that are corrected already. kRegression: there also the slope
// by which each channel's accumulators come nearest to the float sums, as a scale of its weights.
// kAuto: as kFast, kept where the outputs of every second sample are better by kAutoGainDb
// (paired_choice.h) at least with what the other samples give, and the other way round.
enum class BiasCorrectionMode { kAuto, kOff, kFast, kFull, kRegression };

const char* Name(BiasCorrectionMode mode);
// A correction was asked for by its name: it is refused where there can be none.
bool AsksForCorrection(BiasCorrectionMode mode);
// Throws kInvalidInput for an unknown name.
BiasCorrectionMode ParseBiasCorrection(const std::string& name);

// What came of it.
struct BiasCorrectionReport {
  BiasCorrectionMode mode = BiasCorrectionMode::kOff;
  int64_t samples = 0;
  int passes = 0;  // runs of the integer program over all samples
  int layers = 0;  // whose biases are others now, of `candidates`
  int candidates = 0;
  int64_t channels = 0;       // of them
  int64_t slopes = 0;         // kRegression: channels with another scale
  double largest_quanta = 0;  // the largest correction, in steps of its layer's output
  std::string largest_node = {};
  double before_db = 0, after_db = 0;  // of the outputs, over the samples
  bool kept = false;                   // false: the program is the uncorrected one
  std::string why_none = {};           // kAuto: for people, why nothing was measured
};

struct BiasCorrection {
  NodeBiases biases;    // empty unless they are kept
  NodeWeights weights;  // as given, or with the scales of kRegression
  // Of each sample's outputs in dB, of the program as it is kept; kAuto: by the other half's
  // biases. Empty where no layer has a bias to correct.
  std::vector<double> quality;
  BiasCorrectionReport report;
};

// Measured where a bias acts: on the sums of the products, before activation and requantization,
// from exact integer sums of what each layer reads (bias_layers.h). A correction is kept only when
// the outputs over the samples are better by more than one standard error (paired_choice.h), of
// kAuto by kAutoGainDb, too.
//
// `floating`: after RunPasses and Equalize, without parameters of its own. `weights`: other
// integers than the nearest (weight_choice.h). Threads change nothing.
BiasCorrection CorrectBiases(const Graph& floating, const CalibrationTable& table,
                             const QuantizeOptions& options, const Dataset& samples,
                             BiasCorrectionMode mode, int threads,
                             const ProgressFunction& progress = {}, NodeWeights weights = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_BIAS_CORRECTION_H_
