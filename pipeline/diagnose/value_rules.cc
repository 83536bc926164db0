// Rules about the values of the float model, and the ranges that a table gives them.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "pipeline/diagnose/finding_text.h"
#include "pipeline/diagnose/rules.h"
#include "quantize/ranges/table.h"

namespace rshift {
namespace {

constexpr double kSteps = 255;

double PeakOf(const TensorFacts& t) {
  return std::max(std::fabs(static_cast<double>(t.min)), std::fabs(static_cast<double>(t.max)));
}

double RangeWidth(const TensorFacts& t) {
  return static_cast<double>(t.range_high) - static_cast<double>(t.range_low);
}

// Signal to noise of the bulk in steps of the range.
double BulkDb(const TensorFacts& t) {
  const double step = RangeWidth(t) / kSteps;
  return 20 * portable::Log10(t.bulk_rms / (step / std::sqrt(12.0)));
}

// Of an input or an output of the model: inside it, a function may well be off for a few samples.
std::vector<int64_t> ConstantChannels(const DiagnoseFacts& facts, const TensorFacts& t) {
  std::vector<int64_t> constant;
  if (static_cast<int64_t>(facts.samples.size()) < kOutlierSamples) return {};
  if (!t.op.empty() && !t.output) return {};
  for (size_t c = 0; c < t.channel_min.size(); ++c)
    if (t.channel_min[c] == t.channel_max[c]) constant.push_back(static_cast<int64_t>(c));
  return constant.size() == t.channel_min.size() ? std::vector<int64_t>{} : constant;
}

bool IsAmong(const std::string& text, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* one) { return text == one; });
}

}  // namespace

std::vector<Finding> FindHugeValue(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    const double bulk = static_cast<double>(t.bulk_peak);
    if (!t.has_range || !(bulk > 0) || !(PeakOf(t) / bulk > kHugeRatio)) continue;
    if (!(BulkDb(t) < kHugeBulkDb)) continue;
    found.push_back({WhereText(t), t.tensor,
                     Cat("the largest value is ", Figure(PeakOf(t)), ", ", Figure(PeakOf(t) / bulk),
                         " times what 99.9 % of the elements reach (", Figure(bulk),
                         ", limit: ", Figure(kHugeRatio), " times); those are left with ",
                         Figure(BulkDb(t)), " dB (limit: ", Figure(kHugeBulkDb), " dB)"),
                     commands.Calibrate("--method percentile")});
  }
  return found;
}

std::vector<Finding> FindTwoClusters(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    if (!t.has_range || !(t.gap.share > kGapShare)) continue;
    if (!(t.gap.smaller_side > kClusterShare) || t.method == kKnownMethod) continue;
    // A cluster that is one number loses nothing.
    const double steps = t.gap.larger_width / (RangeWidth(t) / kSteps);
    if (!(t.gap.larger_width > 0) || !(steps < kClusterSteps)) continue;
    found.push_back({WhereText(t), t.tensor,
                     Cat("no value lies between ", Figure(static_cast<double>(t.gap.low)), " and ",
                         Figure(static_cast<double>(t.gap.high)), ": ", PercentText(t.gap.share),
                         " of the interval of its values is empty (limit: ", PercentText(kGapShare),
                         "), and the larger group is left with ", Figure(steps),
                         " of the 255 steps (limit: ", Figure(kClusterSteps), ")"),
                     commands.Deploy("--sensitivity f32.yaml")});
  }
  return found;
}

std::vector<Finding> FindDeadChannel(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    if (!t.zero_filters.empty()) {
      found.push_back(
          {WhereText(t), t.tensor,
           Cat("the weights and the bias of channel ", t.zero_filters[0], " are all zero",
               t.zero_filters.size() == 1
                   ? ""
                   : Cat(", and so are those of ", t.zero_filters.size() - 1, " more")),
           ""});
    }
    const std::vector<int64_t> constant = ConstantChannels(facts, t);
    if (constant.empty()) continue;
    const auto c = static_cast<size_t>(constant[0]);
    found.push_back(
        {WhereText(t), t.tensor,
         Cat("channel ", c, " is ", Figure(static_cast<double>(t.channel_min[c])),
             " in every place of all ", facts.samples.size(), " samples",
             constant.size() == 1 ? "" : Cat(", and so ", constant.size() - 1, " more")),
         commands.Diagnose("--samples 200")});
  }
  return found;
}

std::vector<Finding> FindClippedHead(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    const bool saturating = IsAmong(t.read_by, {"Sigmoid", "Tanh", "HardSigmoid"});
    if (t.integer && t.integer->moves) continue;  // what it moves is a head itself
    if (!t.has_range || (!t.output && !saturating && t.read_by != "Softmax")) continue;
    // What lies beyond the place where a sigmoid is flat changes nothing.
    const auto reach = [&](float end) {
      const double e = static_cast<double>(end);
      return saturating ? std::clamp(e, -kSaturatingInput, kSaturatingInput) : e;
    };
    // Of a Softmax only the large end counts.
    const double low =
        t.read_by == "Softmax" ? 1 : reach(t.range_low) / std::min(-1e-30, reach(t.min));
    const double high = reach(t.range_high) / std::max(1e-30, reach(t.max));
    const double kept = std::min(t.min < 0 ? low : 1, t.max > 0 ? high : 1);
    if (!(kept < kClippedReach)) continue;
    found.push_back(
        {WhereText(t), t.tensor,
         Cat(t.output ? "an output of the model" : Cat("what ", t.read_by, " reads"), " goes from ",
             Figure(static_cast<double>(t.min)), " to ", Figure(static_cast<double>(t.max)),
             ", its range only from ", Figure(static_cast<double>(t.range_low)), " to ",
             Figure(static_cast<double>(t.range_high)), ": it keeps ", PercentText(kept),
             " of the reach (limit: ", PercentText(kClippedReach), "), ", PercentText(t.clipped),
             " of the elements lie beyond"),
         commands.Calibrate("--method minmax")});
  }
  return found;
}

std::vector<Finding> FindUnlikeScales(const DiagnoseFacts& facts,
                                      const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const JoinFacts& join : facts.joins) {
    const double limit = IsAmong(join.op, {"Concat", "Where"}) ? kConcatQuanta : kAddQuanta;
    const auto smallest =
        std::min_element(join.inputs.begin(), join.inputs.end(),
                         [](const auto& a, const auto& b) { return a.quanta < b.quanta; });
    if (smallest == join.inputs.end() || !(smallest->quanta < limit)) continue;
    found.push_back(
        {Cat("'", join.output, "' of ", join.op, " '", join.node, "'"), join.output,
         Cat("its input '", ModelName(smallest->tensor), "' reaches over ",
             Figure(smallest->quanta), " of the 255 steps (limit: ", Figure(limit), ")"),
         commands.Deploy("--sensitivity f32.yaml")});
  }
  return found;
}

std::vector<Finding> FindDeadRange(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  // Ranges made of the same samples fit them; propagation may widen them (unlike-scales).
  if (!facts.table_given) return {};
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    if (!t.has_range || t.method == kKnownMethod || !(PeakOf(t) > 0)) continue;
    const double range =
        std::max(-static_cast<double>(t.range_low), static_cast<double>(t.range_high));
    if (!(range / PeakOf(t) > kDeadRange)) continue;
    found.push_back({WhereText(t), t.tensor,
                     Cat("its range ", Figure(static_cast<double>(t.range_low)), " to ",
                         Figure(static_cast<double>(t.range_high)), " is ",
                         Figure(range / PeakOf(t)), " times what its values reach (",
                         Figure(PeakOf(t)), "; limit: ", Figure(kDeadRange), " times)"),
                     commands.Calibrate("")});
  }
  return found;
}

}  // namespace rshift
