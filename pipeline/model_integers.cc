#include "pipeline/model_integers.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "quantize/int16_zero_points.h"

namespace rshift {
namespace {

RangeChange ChangeOf(const TunedRange& tuned) {
  const std::string channel = tuned.channel < 0 ? "" : Cat(" channel ", tuned.channel);
  const auto range = [](float low, float high) {
    return ValueRange{.threshold = std::max(-low, high), .low = low, .high = high};
  };
  return {tuned.tensor + channel, "FakeQuantize", "widened so that its zero point is an integer",
          range(tuned.low, tuned.high), range(tuned.tuned_low, tuned.tuned_high)};
}

}  // namespace

void ModelIntegers::Describe(QuantizeReport* report) const {
  for (const TunedRange& range : tuned) report->range_changes.push_back(ChangeOf(range));
  for (const std::string& tensor : unrounded) {
    report->notes.push_back({tensor, "FakeQuantize",
                             "is not rounded before the Add behind it (--drop-residual-round)"});
  }
  for (const std::string& tensor : centred) {
    report->notes.push_back({tensor, "QuantizeLinear",
                             "of 16 bits is held about 0: its steps are up to twice the model's"});
  }
}

ModelIntegers TakeModelIntegers(Graph graph, const Profile& profile, const SplitOptions& options) {
  SplitResult split = SplitFakeQuantize(std::move(graph), options);
  CentredInt16 centred = CentreInt16(split.graph, profile);
  ModelIntegers result{std::move(centred.graph),
                       {},
                       std::move(split.tuned),
                       std::move(split.unrounded),
                       std::move(centred.tensors)};
  if (!result.centred.empty()) result.with_own_steps = std::move(split.graph);
  return result;
}

}  // namespace rshift
