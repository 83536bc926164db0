// Rules about the integer program beside the float program.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/diagnose/finding_text.h"
#include "pipeline/diagnose/rules.h"

namespace rshift {
namespace {

struct ChannelSpread {
  double least = 0, median = 0, most = 0;  // peaks of the channels that are not all zero
  size_t largest = 0;
};

ChannelSpread SpreadOf(const TensorFacts& t) {
  ChannelSpread spread;
  std::vector<double> peaks;
  for (size_t c = 0; c < t.channel_min.size(); ++c) {
    const double peak = std::max(std::fabs(static_cast<double>(t.channel_min[c])),
                                 std::fabs(static_cast<double>(t.channel_max[c])));
    if (!(peak > 0)) continue;
    peaks.push_back(peak);
    if (peak > spread.most) spread.most = peak, spread.largest = c;
  }
  if (peaks.empty()) return spread;
  const auto middle = peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2);
  std::nth_element(peaks.begin(), middle, peaks.end());
  spread.median = *middle;
  spread.least = *std::min_element(peaks.begin(), peaks.end());
  return spread;
}

bool IsOf(const EqualizedTensors& gain, const TensorFacts& t) {
  return std::find(gain.tensors.begin(), gain.tensors.end(), t.tensor) != gain.tensors.end();
}

// Of the tensors that would be scaled together, the one whose channels differ most.
const TensorFacts* MostUnequal(const DiagnoseFacts& facts, const EqualizedTensors& gain) {
  const TensorFacts* found = nullptr;
  double widest = 0;
  for (const TensorFacts& t : facts.tensors) {
    if (!IsOf(gain, t)) continue;
    const ChannelSpread spread = SpreadOf(t);
    const double ratio = spread.least > 0 ? spread.most / spread.least : 0;
    if (found != nullptr && ratio <= widest) continue;
    found = &t;
    widest = ratio;
  }
  return found;
}

// What the table should have equalized.
void FindNotEqualized(const DiagnoseFacts& facts, const DiagnoseCommands& commands,
                      std::vector<Finding>* found) {
  for (const EqualizedTensors& gain : facts.not_equalized) {
    const TensorFacts* t = MostUnequal(facts, gain);
    if (t == nullptr) continue;
    const ChannelSpread spread = SpreadOf(*t);
    found->push_back(
        {WhereText(*t), t->tensor,
         Cat("its channels reach from ", Figure(spread.least), " to ", Figure(spread.most),
             " (channel ", spread.largest, "): what reads it is left with about ",
             Figure(gain.before_db), " dB (limit: ", Figure(kEqualizeBelowDb),
             " dB), equalized with ", Figure(gain.after_db), " dB"),
         commands.Calibrate("--equalize auto")});
  }
}

// Whether values lie beyond the range. A Tanh whose range is [-1, 1] rests at its ends.
bool LiesBeyond(const TensorFacts& t) {
  constexpr float kOfSpan = 0.01f;
  const float margin = kOfSpan * (t.range_high - t.range_low);
  return t.min < t.range_low - margin || t.max > t.range_high + margin;
}

}  // namespace

std::vector<Finding> FindHiddenScale(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  // Channels that the outputs do not hang on may be lost.
  if (facts.verdict.grade == Grade::kGood) return {};
  std::vector<Finding> found;
  FindNotEqualized(facts, commands, &found);
  for (const TensorFacts& t : facts.tensors) {
    if (!t.integer || t.integer->moves || !(t.integer->median_channel_db < kHiddenDb)) continue;
    if (std::any_of(facts.not_equalized.begin(), facts.not_equalized.end(),
                    [&](const EqualizedTensors& gain) { return IsOf(gain, t); }))
      continue;
    const ChannelSpread spread = SpreadOf(t);
    const double ratio = spread.median > 0 ? spread.most / spread.median : 1;
    if (!(ratio > kHiddenRatio)) continue;
    found.push_back({WhereText(t), t.tensor,
                     Cat("channel ", spread.largest, " reaches ", Figure(ratio),
                         " times as far as the median channel (limit: ", Figure(kHiddenRatio),
                         " times), which is left with ", Figure(t.integer->median_channel_db),
                         " dB (limit: ", Figure(kHiddenDb), " dB)",
                         t.equalizable ? "" : "; no scale can be moved through what reads it"),
                     commands.Deploy("--sensitivity f32.yaml")});
  }
  return found;
}

std::vector<Finding> FindSaturation(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    if (!t.integer || t.integer->moves || !(t.integer->saturated > kSaturatedShare)) continue;
    if (t.integer->saturated_count < kSaturatedCount || !LiesBeyond(t)) continue;
    found.push_back(
        {WhereText(t), t.tensor,
         Cat(PercentText(t.integer->saturated),
             " of the integers are held at an end of the range (limit: ",
             PercentText(kSaturatedShare), "); values ", Figure(static_cast<double>(t.min)), " to ",
             Figure(static_cast<double>(t.max)), ", range ",
             Figure(static_cast<double>(t.range_low)), " to ",
             Figure(static_cast<double>(t.range_high))),
         commands.Calibrate("--method minmax")});
  }
  return found;
}

std::vector<Finding> FindScoreCollapse(const DiagnoseFacts& facts,
                                       const DiagnoseCommands& commands) {
  std::vector<Finding> found;
  for (const ScoreFacts& score : facts.scores) {
    if (!(score.median_ratio < kScoreRatio)) continue;
    found.push_back(
        {Cat("output '", score.output, "'"), score.output,
         Cat("the highest scores of the integer program are ", PercentText(score.median_ratio),
             " of the float program's (median of ", score.count,
             ", limit: ", PercentText(kScoreRatio), "); the highest of all ",
             Figure(score.floating), " became ", Figure(score.integer)),
         commands.Deploy("--sensitivity f32.yaml")});
  }
  return found;
}

std::vector<Finding> FindLossyLayer(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  const Verdict& verdict = facts.verdict;
  if (verdict.grade != Grade::kBad && verdict.grade != Grade::kDoubtful) return {};
  if (verdict.outputs.empty()) return {};
  std::string where = "the outputs", tensor;
  if (!verdict.weakest.empty()) tensor = verdict.weakest[0].tensor;
  for (const TensorFacts& t : facts.tensors)
    if (t.tensor == tensor) where = WhereText(t);
  std::string line = CheckLine(verdict);
  line = line.substr(line.find(": ") + 2);
  if (line.ends_with("\n")) line.pop_back();
  if (!verdict.next.empty()) line += "; " + verdict.next;
  return {{where, tensor, line, commands.Deploy("--sensitivity f32.yaml")}};
}

}  // namespace rshift
