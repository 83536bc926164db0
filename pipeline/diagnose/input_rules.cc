// Rules about what the model is fed with: weights, pixels, labels, samples.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/diagnose/finding_text.h"
#include "pipeline/diagnose/rules.h"
#include "pipeline/plural.h"

namespace rshift {
namespace {

constexpr size_t kAsGiven = 1;  // place of offset 0 in PreprocessResult::hits

// The place of the offset with which most answers of any preprocessing are right.
size_t BestPlace(const PreprocessResults& results) {
  size_t best = kAsGiven;
  int64_t most = 0;
  for (const size_t place : {kAsGiven, size_t{0}, size_t{2}}) {
    for (const PreprocessResult& one : results.variants) {
      if (one.hits[place] <= most) continue;
      most = one.hits[place];
      best = place;
    }
  }
  return best;
}

int64_t MostHits(const PreprocessResults& results, size_t place) {
  int64_t most = 0;
  for (const PreprocessResult& one : results.variants) most = std::max(most, one.hits[place]);
  return most;
}

bool LabelsAreOff(const PreprocessResults& results) {
  const size_t place = BestPlace(results);
  return results.labels && place != kAsGiven &&
         MostHits(results, place) - MostHits(results, kAsGiven) > HitMargin(results);
}

// With labels that are off, of the right ones.
std::optional<BetterPreprocess> BetterWay(const DiagnoseFacts& facts) {
  if (!facts.preprocess) return std::nullopt;
  PreprocessResults results = *facts.preprocess;
  if (LabelsAreOff(results)) {
    const size_t place = BestPlace(results);
    for (PreprocessResult& one : results.variants) one.hits[kAsGiven] = one.hits[place];
  }
  for (PreprocessResult& one : results.variants) one.hits[0] = one.hits[2] = 0;
  return FindBetterPreprocess(results);
}

double InputWidth(const PreprocessResult& result) {
  return static_cast<double>(result.high) - static_cast<double>(result.low);
}

bool OtherScale(const PreprocessResult& given, const PreprocessResult& better) {
  const double ratio = InputWidth(given) / InputWidth(better);
  return ratio > kInputScaleRatio || ratio < 1 / kInputScaleRatio;
}

std::string NumberList(const std::vector<float>& numbers) {
  std::string text;
  for (const float number : numbers) text += Cat(text.empty() ? "" : ",", number);
  return text;
}

std::string FlagsOf(const InputPreprocess& recipe) {
  using Color = InputPreprocess::Color;
  const char* color = recipe.color == Color::kRgb   ? "rgb"
                      : recipe.color == Color::kBgr ? "bgr"
                                                    : "gray";
  return Cat("--color ", color, " --mean ", NumberList(recipe.mean), " --scale ",
             NumberList(recipe.scale));
}

Finding WayFinding(const DiagnoseFacts& facts, const DiagnoseCommands& commands,
                   const BetterPreprocess& better) {
  const PreprocessResult& given = facts.preprocess->variants[0];
  const PreprocessResult& other = facts.preprocess->variants[better.variant];
  return {
      "the model's input", "",
      Cat("values are ", Figure(given.low), " to ", Figure(given.high), "; better is '",
          other.variant, "' (", Figure(other.low), " to ", Figure(other.high), "): ", better.why,
          facts.preprocess->labels ? " (limit: a tenth of the samples more)"
                                   : " (limit: half of the distance)"),
      commands.CalibrateWith(FlagsOf(other.recipe))};
}

}  // namespace

std::vector<Finding> FindBadWeightRule(const DiagnoseFacts& facts, const DiagnoseCommands&) {
  std::vector<Finding> found;
  for (const BadWeight& bad : facts.bad_weights) {
    std::string figure;
    if (bad.nans > 0) figure = Count(static_cast<size_t>(bad.nans), "NaN");
    if (bad.infinities > 0)
      figure += Cat(figure.empty() ? "" : " and ", Cat(bad.infinities, " infinite"));
    figure += Cat(" in ", Count(static_cast<size_t>(bad.channels), "channel"),
                  ", first in channel ", bad.channel);
    found.push_back({Cat("weight '", bad.tensor, "' of ", bad.op, " '", bad.node, "'"), bad.tensor,
                     figure, ""});
  }
  return found;
}

std::vector<Finding> FindLabelOffset(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  if (!facts.preprocess || !LabelsAreOff(*facts.preprocess)) return {};
  const PreprocessResults& results = *facts.preprocess;
  const size_t place = BestPlace(results);
  const int64_t offset = static_cast<int64_t>(place) - 1;
  return {{"the labels", "",
           Cat(MostHits(results, place), " of ", results.samples, " answers are right with ",
               offset > 0 ? "1 added to" : "1 taken from", " every label, ",
               MostHits(results, kAsGiven), " as they are (limit: ", HitMargin(results), " more)"),
           commands.Diagnose(Cat("--label-offset ", facts.label_offset + offset))}};
}

std::vector<Finding> FindUnnormalisedInput(const DiagnoseFacts& facts,
                                           const DiagnoseCommands& commands) {
  if (const auto better = BetterWay(facts)) {
    const auto& variants = facts.preprocess->variants;
    if (!OtherScale(variants[0], variants[better->variant])) return {};
    return {WayFinding(facts, commands, *better)};
  }
  // Without another way, the table says what it was measured with.
  std::vector<Finding> found;
  for (const TensorFacts& t : facts.tensors) {
    if (!facts.table_given || !t.op.empty() || !t.has_range) continue;
    const double width = static_cast<double>(t.max) - static_cast<double>(t.min);
    const double range = static_cast<double>(t.range_high) - static_cast<double>(t.range_low);
    if (!(width / range > kInputScaleRatio)) continue;
    found.push_back({WhereText(t), t.tensor,
                     Cat("values are ", Figure(static_cast<double>(t.min)), " to ",
                         Figure(static_cast<double>(t.max)), ", the table was made with ",
                         Figure(static_cast<double>(t.range_low)), " to ",
                         Figure(static_cast<double>(t.range_high)),
                         " (limit: ", Figure(kInputScaleRatio), " times)"),
                     commands.Calibrate("")});
  }
  return found;
}

std::vector<Finding> FindWrongPreprocessing(const DiagnoseFacts& facts,
                                            const DiagnoseCommands& commands) {
  const auto better = BetterWay(facts);
  if (!better) return {};
  const auto& variants = facts.preprocess->variants;
  if (OtherScale(variants[0], variants[better->variant])) return {};
  return {WayFinding(facts, commands, *better)};
}

std::vector<Finding> FindOutlierSample(const DiagnoseFacts& facts,
                                       const DiagnoseCommands& commands) {
  const size_t samples = facts.samples.size();
  if (static_cast<int64_t>(samples) < kOutlierSamples) return {};
  std::vector<int64_t> sets(samples);  // tensors whose range a sample sets alone
  std::vector<const TensorFacts*> worst(samples);
  std::vector<double> most(samples);
  int64_t judged = 0;
  for (const TensorFacts& t : facts.tensors) {
    if (t.sample_peaks.size() != samples) continue;
    const auto peak = std::max_element(t.sample_peaks.begin(), t.sample_peaks.end());
    float second = 0;
    for (auto other = t.sample_peaks.begin(); other != t.sample_peaks.end(); ++other)
      if (other != peak) second = std::max(second, *other);
    if (!(*peak > 0)) continue;
    ++judged;
    const double ratio = second > 0 ? static_cast<double>(*peak) / static_cast<double>(second) : 1;
    if (!(ratio > kOutlierRatio)) continue;
    const auto sample = static_cast<size_t>(peak - t.sample_peaks.begin());
    ++sets[sample];
    if (ratio <= most[sample]) continue;
    most[sample] = ratio;
    worst[sample] = &t;
  }
  std::vector<Finding> found;
  for (size_t s = 0; s < samples; ++s) {
    if (static_cast<double>(sets[s]) <= kOutlierTensors * static_cast<double>(judged)) continue;
    found.push_back({Cat("sample '", facts.samples[s], "'"), worst[s]->tensor,
                     Cat("alone sets the range of ", sets[s], " of ", judged,
                         " tensors (limit: ", PercentText(kOutlierTensors), "), up to ",
                         Figure(most[s]), " times what any other of the ", samples,
                         " samples reaches (", WhereText(*worst[s]), ")"),
                     commands.Calibrate("--method percentile")});
  }
  return found;
}

}  // namespace rshift
