// model_runner's run over a data set, by one or several streams.
#ifndef RSHIFT_TOOLS_RUN_SAMPLES_H_
#define RSHIFT_TOOLS_RUN_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "runtime/runtime.h"
#include "tools/carry.h"

namespace rshift {

struct SampleRunOptions {
  bool raw = false;           // integers as they are, not dequantized
  bool keep_outputs = false;  // fill SampleRun::outputs
  bool keep_tensors = false;  // fill SampleRun::tensors
  bool quiet = false;         // no progress bar
  // When set: inputs that the data set does not have; what the last run gives them stays here. Runs
  // follow each other then: one session.
  std::vector<CarriedInput>* carried = nullptr;
  // When set: gets output 0 of every sample as ONNX-order floats, in order of the samples.
  std::function<void(int64_t sample, const std::string& name, std::span<const float> scores)>
      on_scores = nullptr;
  // When set: gets all outputs of every sample, dequantized where `raw` is not set, in that order.
  std::function<void(int64_t sample, const std::vector<NumpyArray>& outputs)> on_outputs = nullptr;
};

struct SampleRun {
  std::vector<NumpyArray> outputs, tensors;  // stacked over the samples, in their order
  std::vector<std::string> names;            // of the samples
  std::vector<double> milliseconds;          // of each inference, without reading the sample
  double seconds = 0;                        // of the whole run, with reading
};

// Every sample of `dataset` through one of `sessions`, as many in flight as there are sessions. The
// result does not depend on their number; an error is that of the first sample that has one.
SampleRun RunSamples(const Program& program, std::span<Session> sessions, const Dataset& dataset,
                     const SampleRunOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_RUN_SAMPLES_H_
