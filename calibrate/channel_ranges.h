// Ranges of single channels, from a few samples: what equalization is chosen by.
#ifndef RSHIFT_CALIBRATE_CHANNEL_RANGES_H_
#define RSHIFT_CALIBRATE_CHANNEL_RANGES_H_

#include <functional>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "calibrate/observed_program.h"
#include "graph/graph.h"
#include "quantize/equalize/choose.h"

namespace rshift {

// Of the samples that a calibration uses, so many whose stored bytes have the lowest hashes: the
// same for every order, folder, thread count and shard.
inline constexpr size_t kChannelSamples = 16;
std::vector<int64_t> ChooseChannelSamples(const Dataset& dataset,
                                          const std::vector<int64_t>& samples, int threads);

struct MeasureChannelsOptions {
  int threads = 0;  // samples in parallel
  ProgressFunction progress = {};
  std::function<bool()> interrupted = {};  // polled; true: throw
};

// `program`: of `graph` (after RunPasses). `values`: f32 activations; channels are their last
// dimensions. The result does not depend on threads or order. What is not finite is passed over:
// CollectStatistics names it. Tensors that the program does not keep apart are left out.
MeasuredChannels MeasureChannels(const Graph& graph, ObservedProgram& program,
                                 const std::vector<ValueId>& values, const Dataset& dataset,
                                 const std::vector<int64_t>& samples,
                                 const MeasureChannelsOptions& options);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_CHANNEL_RANGES_H_
