// A model's own integers in the form that an integer program is made from.
#ifndef RSHIFT_PIPELINE_MODEL_INTEGERS_H_
#define RSHIFT_PIPELINE_MODEL_INTEGERS_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/split_fake_quantize.h"
#include "quantize/profile.h"
#include "quantize/report.h"

namespace rshift {

struct ModelIntegers {
  Graph graph;  // in ONNX order, before RunPasses
  // The graph with the model's own steps, where `graph` has others (NUMERICS.md section 29.10):
  // what results are to be compared with.
  std::optional<Graph> with_own_steps;
  std::vector<TunedRange> tuned;
  std::vector<std::string> unrounded, centred;  // tensors

  // What became of the model's tensors, as changes of ranges and notes.
  void Describe(QuantizeReport* report) const;
};

// SplitFakeQuantize, then CentreInt16. `graph`: as it was imported.
ModelIntegers TakeModelIntegers(Graph graph, const Profile& profile,
                                const SplitOptions& options = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_MODEL_INTEGERS_H_
