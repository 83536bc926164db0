// Everything that a search has tried, as figures.
#ifndef RSHIFT_PIPELINE_SEARCH_SEARCH_FIGURES_H_
#define RSHIFT_PIPELINE_SEARCH_SEARCH_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/search/budget.h"
#include "pipeline/search/scores.h"

namespace rshift {

// A candidate that was run.
struct SearchPoint {
  std::string step;     // why it was tried
  std::string options;  // OptionsOf
  ScoreFigures making, judging;
  double time = 1;                       // predicted, of that of 8 bits everywhere
  double share_16 = 0, share_float = 0;  // of the multiply-accumulates
  int64_t groups_16 = 0, groups_float = 0;
  int64_t layers_float = 0;
  int64_t conversions = 0;
  bool reaches = false;  // what was asked for, on both halves of the samples
  bool pareto = false;   // no other is as fast and better
  bool chosen = false;
};

struct SearchGroup {
  std::vector<std::string> tensors;
  std::string ops;                                   // "Conv, Silu"
  std::vector<std::string> layers_16, layers_float;  // what the configuration says
  std::optional<double> noise_8, noise_16;           // noise.h; none: it was not needed
  int bits = 8;
};

struct SearchReport {
  SearchBudget budget;
  int64_t samples = 0, judged = 0;
  bool divided = false;  // candidates are judged on other samples than they are made with
  int64_t evaluations = 0, sensitivity_passes = 0, measuring_runs = 0;
  // What a run for each group alone, in each other type that it can have, would have been.
  int64_t one_by_one = 0;
  std::vector<SearchPoint> points;  // as they were tried
  std::vector<SearchGroup> groups;
  size_t first = 0, chosen = 0;           // of the points
  bool reached = false, stopped = false;  // what was asked for; by the evaluations
  std::string command;  // the options that, with the configuration, make the same program
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SEARCH_FIGURES_H_
