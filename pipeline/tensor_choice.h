// Tensor by tensor, of the ranges that several tables offer: the one with which the consumers
// compute the best integers.
#ifndef RSHIFT_PIPELINE_TENSOR_CHOICE_H_
#define RSHIFT_PIPELINE_TENSOR_CHOICE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

struct ChooseRangesOptions {
  int threads = 0;        // work in parallel; 0: DefaultThreads()
  bool portable = false;  // SessionOptions::portable of every run
  ProgressFunction progress = {};
  std::function<bool()> interrupted = {};  // polled; true: throw
};

// What one mode takes.
struct ModeChoice {
  size_t table = 0;  // whose range
  // Of the consumers' outputs, with it and with the first table's range, in dB; the same where
  // nothing was measured.
  double quality_db = 0, first_db = 0;
};

struct TensorChoice {
  std::string readers;  // whose outputs were measured: "Conv 'conv2' and 1 more"; "": nothing was
  ModeChoice symmetric, asymmetric;
};

// By tensor of the tables, which are of the same tensors. The other ranges are those of `start`
// first, then, in a few rounds, those that the round before has chosen.
std::vector<TensorChoice> ChooseByTensor(const Graph& graph,
                                         const std::vector<CalibrationTable>& tables,
                                         const CalibrationTable& start, const Dataset& samples,
                                         const ChooseRangesOptions& options);

// `into` with the ranges chosen. Method: theirs.
void TakeChoices(const std::vector<CalibrationTable>& tables,
                 const std::vector<TensorChoice>& choices, CalibrationTable& into);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_TENSOR_CHOICE_H_
