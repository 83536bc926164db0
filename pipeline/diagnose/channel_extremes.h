// The extremes of every activation of a float program: by channel over all samples, and by sample.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_CHANNEL_EXTREMES_H_
#define RSHIFT_PIPELINE_DIAGNOSE_CHANNEL_EXTREMES_H_

#include <map>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"

namespace rshift {

struct ChannelExtremes {
  std::vector<float> min, max;      // by index of the last dimension
  std::vector<float> sample_peaks;  // the largest |x| of each sample
};

// By tensor. `graph`: after RunPasses. Tensors that the program does not keep apart are left out.
// What is not finite is passed over. The result does not depend on `threads` (0: DefaultThreads()).
std::map<std::string, ChannelExtremes> MeasureExtremes(const Graph& graph, const Dataset& samples,
                                                       int threads,
                                                       const ProgressFunction& progress);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_CHANNEL_EXTREMES_H_
