#include "pipeline/search/search_report.h"

#include <algorithm>

#include "base/error.h"

namespace rshift {
namespace {

double ShareOfMacs(const Measured& m, int64_t part) {
  const int64_t all = m.macs_8 + m.macs_16 + m.macs_float;
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

SearchPoint PointOf(const Point& point, const Trials& trials, double first_ns) {
  const Measured& measured = point.measured;
  SearchPoint made;
  made.step = point.step;
  made.options = OptionsOf(point.candidate);
  made.making = FiguresOf(measured.scores, trials.making());
  made.judging = FiguresOf(measured.scores, trials.judging());
  made.time = first_ns > 0 ? measured.nanoseconds / first_ns : 1;
  made.share_16 = ShareOfMacs(measured, measured.macs_16);
  made.share_float = ShareOfMacs(measured, measured.macs_float);
  made.conversions = measured.conversions;
  for (size_t g = 0; g < point.candidate.bits.size(); ++g) {
    const int bits = point.candidate.bits[g];
    made.groups_16 += bits == 16;
    made.groups_float += bits == kFloatBits;
    if (bits == kFloatBits)
      made.layers_float += static_cast<int64_t>(trials.groups()[g].tensors.size());
  }
  return made;
}

void MarkPareto(std::vector<SearchPoint>* points) {
  for (SearchPoint& point : *points) {
    point.pareto = std::none_of(points->begin(), points->end(), [&](const SearchPoint& other) {
      const bool no_worse =
          other.time <= point.time && other.judging.decibels >= point.judging.decibels;
      return no_worse &&
             (other.time < point.time || other.judging.decibels > point.judging.decibels);
    });
  }
}

std::string Join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : between + word;
  return text;
}

std::vector<SearchGroup> GroupsOf(const Trials& trials, const SearchProgress& progress) {
  std::vector<SearchGroup> groups;
  for (size_t g = 0; g < trials.groups().size(); ++g) {
    const OperatorGroup& group = trials.groups()[g];
    SearchGroup made{.tensors = group.tensors,
                     .ops = Join(group.ops, ", "),
                     .layers_16 = {},
                     .layers_float = {},
                     .noise_8 = {},
                     .noise_16 = {},
                     .bits = progress.best->candidate.bits[g]};
    if (!progress.noise_8.empty()) made.noise_8 = progress.noise_8[g];
    if (!progress.noise_16.empty()) made.noise_16 = progress.noise_16[g];
    // By the model's names: the file serves programs of other equalizations, too.
    for (size_t t = 0; t < group.tensors.size(); ++t) {
      if (made.bits == kFloatBits) made.layers_float.push_back(ModelName(group.tensors[t]));
      if (made.bits == 16 && group.wide[t]) made.layers_16.push_back(ModelName(group.tensors[t]));
    }
    if (made.bits == 16) {
      for (size_t i = 0; i < group.inputs.size(); ++i)
        if (group.wide_inputs[i]) made.layers_16.push_back(group.inputs[i]);
    }
    groups.push_back(std::move(made));
  }
  return groups;
}

}  // namespace

SearchReport MakeSearchReport(const Trials& trials, const SearchProgress& progress,
                              const std::function<bool(const Point&)>& reaches) {
  SearchReport report;
  report.budget = progress.budget;
  report.samples = trials.input().samples.size();
  report.judged = static_cast<int64_t>(trials.judging().size());
  report.divided = trials.divided();
  report.evaluations = trials.evaluations();
  report.sensitivity_passes = progress.passes;
  report.measuring_runs = trials.measuring_runs();
  for (const OperatorGroup& group : trials.groups()) report.one_by_one += group.can_widen() ? 2 : 1;
  const double first_ns = progress.first->measured.nanoseconds;
  for (const Point* point : trials.points()) {
    if (point == progress.first) report.first = report.points.size();
    if (point == progress.best) report.chosen = report.points.size();
    report.points.push_back(PointOf(*point, trials, first_ns));
    report.points.back().reaches = reaches(*point);
    report.points.back().chosen = point == progress.best;
  }
  MarkPareto(&report.points);
  report.groups = GroupsOf(trials, progress);
  report.reached = progress.reached;
  const auto& most = progress.budget.evaluations;
  report.stopped = most && trials.evaluations() >= *most;
  report.command = OptionsOf(progress.best->candidate);
  return report;
}

}  // namespace rshift
