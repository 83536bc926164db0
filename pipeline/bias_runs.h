// The float and the integer program run on the samples that a bias correction is measured on.
#ifndef RSHIFT_PIPELINE_BIAS_RUNS_H_
#define RSHIFT_PIPELINE_BIAS_RUNS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/bias_layers.h"
#include "pipeline/channel_moments.h"
#include "pipeline/input_gram.h"
#include "pipeline/output_compare.h"

namespace rshift {

// Means of a layer's channels (bias_layers.h), by layer and sample.
using SampleMeans = std::vector<std::vector<std::vector<double>>>;

// What the float program gives.
struct FloatRuns {
  SampleMeans floating;  // with float weights
  SampleMeans alone;     // with integer weights, of the float program's values as integers
  std::vector<OutputValues> outputs;  // by which programs are judged
};

// What an integer program gives.
struct IntegerRuns {
  SampleMeans means;
  std::vector<double> quality;  // of each sample's outputs, in dB (output_quality.h)
};

// Of both programs side by side: moments[layer][output channel][sample]; empty for a layer without
// rows.
struct PairedRuns {
  SampleMeans means;  // of the integer program
  std::vector<std::vector<std::vector<ChannelMoments>>> moments;
};

// Every sample by one thread, and sums over samples in their order: the same numbers for any number
// of threads. A set of layers is FindBiasLayers' of the graphs that are run.
class BiasRuns {
 public:
  BiasRuns(const Graph& floating, const Dataset& samples, int threads,
           const ProgressFunction& progress)
      : floating_(floating), samples_(samples), threads_(threads), progress_(progress) {}

  // `progress` hears of the samples.
  const FloatRuns& RunFloat(const std::vector<BiasLayer>& layers);
  // `integer`: as the program is compiled from, after RunTargetPasses. RunFloat comes before.
  IntegerRuns RunInteger(const Graph& integer, const std::vector<BiasLayer>& layers) const;
  // `rows`: of each layer, WindowRowsOf its node or nothing. RunFloat comes before.
  PairedRuns RunBoth(const Graph& integer, const std::vector<BiasLayer>& layers,
                     const std::vector<std::optional<WindowRows>>& rows) const;

 private:
  const Graph& floating_;
  const Dataset& samples_;
  int threads_;
  const ProgressFunction& progress_;
  std::vector<std::string> judged_;  // tensors, by name
  FloatRuns float_runs_;
  std::optional<Program> float_program_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_BIAS_RUNS_H_
