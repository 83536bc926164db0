#include "pipeline/diagnose/scores.h"

#include <algorithm>
#include <cmath>

namespace rshift {
namespace {

// Elements of channel c: begin + c * channel + i * step, i < count, in each of `outer` pieces.
struct ScoreView {
  size_t channels = 1, channel = 1, count = 1, step = 1, outer = 1, piece = 1;
};

ScoreView ViewOf(const Shape& shape) {
  ScoreView view;
  if (shape.empty()) return view;
  const auto last = static_cast<size_t>(shape.back());
  const size_t before = shape.size() > 1 ? static_cast<size_t>(shape[shape.size() - 2]) : 1;
  const bool last_is_channel = last <= before || before == 1;
  view.channels = last_is_channel ? last : before;
  view.count = last_is_channel ? before : last;
  view.channel = last_is_channel ? 1 : last;
  view.step = last_is_channel ? last : 1;
  view.piece = last * before;
  view.outer = view.piece == 0 ? 0 : static_cast<size_t>(NumElements(shape)) / view.piece;
  return view;
}

// A few numbers may be from 0 to 1 by chance.
constexpr size_t kEnoughValues = 256;

struct Highest {
  float score = 0;
  bool is_score = true;
};

Highest FindHighest(const std::vector<float>& values, const ScoreView& view, size_t channel) {
  Highest highest;
  for (size_t piece = 0; piece < view.outer; ++piece) {
    for (size_t i = 0; i < view.count; ++i) {
      const float v = values[piece * view.piece + channel * view.channel + i * view.step];
      highest.is_score = highest.is_score && v >= 0 && v <= 1.0001f;
      highest.score = std::max(highest.score, v);
    }
  }
  return highest;
}

// Channels whose floats are from 0 to 1 in every sample, and not by chance: those of an output that
// has no others, and those of many values.
std::vector<size_t> ScoreChannels(const OutputValues& output) {
  const ScoreView view = ViewOf(output.shape);
  std::vector<size_t> channels;
  for (size_t c = 0; c < view.channels; ++c) {
    const bool scores =
        std::all_of(output.samples.begin(), output.samples.end(),
                    [&](const auto& values) { return FindHighest(values, view, c).is_score; });
    if (scores) channels.push_back(c);
  }
  const bool many = view.outer * view.count * output.samples.size() >= kEnoughValues;
  return many || channels.size() == view.channels ? channels : std::vector<size_t>{};
}

// An output whose size depends on the data may have another in the other program.
bool SameSizes(const OutputValues& a, const OutputValues& b) {
  const auto size = static_cast<size_t>(NumElements(b.shape));
  if (a.samples.size() != b.samples.size()) return false;
  for (size_t s = 0; s < a.samples.size(); ++s)
    if (a.samples[s].size() != size || b.samples[s].size() != size) return false;
  return true;
}

}  // namespace

std::vector<ScoreFacts> DescribeScores(const std::vector<OutputValues>& integer,
                                       const std::vector<OutputValues>& floating) {
  std::vector<ScoreFacts> found;
  for (size_t o = 0; o < floating.size() && o < integer.size(); ++o) {
    if (floating[o].dtype != DType::kF32 || integer[o].dtype != DType::kF32) continue;
    if (!SameSizes(integer[o], floating[o])) continue;
    ScoreFacts facts{.output = floating[o].name};
    std::vector<double> ratios;
    for (const size_t c : ScoreChannels(floating[o])) {
      const ScoreView view = ViewOf(floating[o].shape);
      for (size_t s = 0; s < floating[o].samples.size(); ++s) {
        const auto score = static_cast<double>(FindHighest(floating[o].samples[s], view, c).score);
        if (score < kSureScore) continue;
        const auto other = static_cast<double>(FindHighest(integer[o].samples[s], view, c).score);
        ratios.push_back(other / score);
        if (score > facts.floating) facts.floating = score, facts.integer = other;
      }
    }
    if (ratios.empty()) continue;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    facts.count = static_cast<int64_t>(ratios.size());
    facts.median_ratio = *middle;
    found.push_back(std::move(facts));
  }
  return found;
}

}  // namespace rshift
