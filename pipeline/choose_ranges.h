// Method auto: for each tensor the range, of those that the threshold methods find, with which its
// consumers compute the best integers.
#ifndef RSHIFT_PIPELINE_CHOOSE_RANGES_H_
#define RSHIFT_PIPELINE_CHOOSE_RANGES_H_

#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/tensor_choice.h"
#include "quantize/ranges/table.h"

namespace rshift {

inline constexpr const char* kAutoMethod = "auto";

// `tables`: of every threshold method, that of whole ranges (minmax) first, for `graph` (after
// RunPasses and Equalize). Tensors whose values move into an output, or that a Softmax reads, or an
// operator that decides by them, keep the whole range. Then, in each mode:
//
// 1. The table with which the network's outputs are best (output_quality.h) is where the search
//    starts.
// 2. For each tensor and distinct range the consumers (consumer_graph.h) become an integer program
//    by themselves, which runs on what the float program gives them; the best outputs win
//    (tensor_choice.h).
// 3. What that gives must be better for the network's outputs than the table of step 1, or the
//    mode keeps that one.
//
// In 1 and 2 a narrower range must win by more than chance (paired_choice.h): the samples are few,
// and others have values that it clips.
//
// The result does not depend on threads or the order of the samples. Costs three float runs of each
// sample for every few tensors, and as many runs of the consumers for each range. Profile tpu,
// configs/targets/cpu.yaml.
CalibrationTable ChooseRanges(const Graph& graph, std::vector<CalibrationTable> tables,
                              const Dataset& samples, const ChooseRangesOptions& options = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHOOSE_RANGES_H_
