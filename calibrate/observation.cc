#include "calibrate/observation.h"

#include <map>

#include "base/error.h"
#include "calibrate/ranges/ranges.h"
#include "codegen/container/strip.h"

namespace rshift {
namespace {

// The last command that writes the tensor; failing that, one that writes its storage; -1: an input
// does.
int CompleteAfter(const ProgramImage& image, int tensor) {
  int same = -1, sharing = -1;
  for (size_t i = 0; i < image.commands.size(); ++i) {
    const int32_t dst = image.commands[i].Tensor(Field::kDst);
    if (dst == tensor)
      same = static_cast<int>(i);
    else if (Overlap(image.tensors[dst], image.tensors[tensor]))
      sharing = static_cast<int>(i);
  }
  if (same >= 0 || sharing >= 0) return same >= 0 ? same : sharing;
  for (const Binding& input : image.inputs) {
    if (input.tensor == tensor || Overlap(image.tensors[input.tensor], image.tensors[tensor]))
      return -1;
  }
  Fail(ErrorCode::kInternal, "calibration: nothing in the program writes tensor '",
       image.tensors[tensor].name, "'");
}

}  // namespace

ObservationPlan PlanObservation(const Graph& graph, const ProgramImage& image) {
  std::map<std::string, int> by_name;
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    if (image.tensors[i].region == Region::kArena)
      by_name[image.tensors[i].name] = static_cast<int>(i);
  }
  ObservationPlan plan;
  plan.after.resize(image.commands.size());
  for (const ValueId id : CalibratedValues(graph)) {
    const std::string& name = graph.value(id).name;
    const auto at = by_name.find(name);
    RSHIFT_REQUIRE(at != by_name.end() && image.tensors[at->second].dtype == DType::kF32,
                   ErrorCode::kInternal, "calibration: the program has no f32 tensor '", name, "'");
    const Observation observation{at->second, static_cast<int>(plan.names.size())};
    plan.names.push_back(name);
    if (image.tensors[at->second].bytes() == 0) continue;  // nothing to see
    const int command = CompleteAfter(image, at->second);
    (command < 0 ? plan.before : plan.after[static_cast<size_t>(command)]).push_back(observation);
  }
  return plan;
}

}  // namespace rshift
