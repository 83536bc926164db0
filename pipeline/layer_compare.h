// The float and the integer program of one model run side by side, compared tensor by tensor.
#ifndef RSHIFT_PIPELINE_LAYER_COMPARE_H_
#define RSHIFT_PIPELINE_LAYER_COMPARE_H_

#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/channel_error.h"
#include "pipeline/compare.h"
#include "pipeline/value_histogram.h"

namespace rshift {

// All figures over all samples together. Each comes twice: accumulated, as the program computes
// the tensor, with the errors of everything before it; and alone, as its command computes it when
// its inputs are the float program's values (quantized where they are integer). The first says how
// good the tensor is, the second where the damage is done.
struct LayerResult {
  std::string tensor;
  std::string command;   // what makes it in the integer program, as the disassembler names it
  bool integer = false;  // s8/u8; else F32 in both programs
  DType dtype = DType::kF32;
  bool moves = false;  // the command only moves elements
  float scale = 0;     // integer only
  int32_t zero_point = 0;
  Similarity similarity;
  ChannelSqnr channels;  // the same error, channel by channel
  Similarity alone;
  ChannelSqnr alone_channels;
  ValueHistogram values;  // of the float program
  // Elements at an end of the integer range whose float value lies beyond it.
  int64_t saturated = 0;
};

// Every tensor that a command of the integer program writes and that the float program also has, in
// program order. Both graphs are compiled so that every value exists. The data set is read once;
// costs one float and two integer runs for each sample. `progress` hears of two samples and more.
std::vector<LayerResult> CompareLayers(const Graph& floating, const Graph& integer,
                                       const Dataset& samples, int threads,
                                       const ProgressFunction& progress = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_LAYER_COMPARE_H_
