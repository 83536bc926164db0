// Which types and methods make a model's integer program good enough for the least time:
// docs/auto.md.
#ifndef RSHIFT_PIPELINE_SEARCH_SEARCH_H_
#define RSHIFT_PIPELINE_SEARCH_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interop/model_names.h"
#include "pipeline/search/budget.h"
#include "pipeline/search/candidate.h"
#include "pipeline/search/scores.h"

namespace rshift {

struct SearchInput;

// Signal to noise of the outputs that is good enough where the budget says nothing.
inline constexpr double kGoodDb = 25;
// Where 16 bits everywhere do not reach that: so close to them.
inline constexpr double kNearDb = 1;

// A candidate that was run.
struct SearchPoint {
  std::string step;     // why it was tried
  std::string options;  // OptionsOf
  Figures making, judging;
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

struct SearchResult {
  Candidate candidate;
  QuantizeConfig config;  // only what the search adds
  SearchReport report;
};

// Deterministic: no clock, no chance; threads change nothing.
SearchResult Search(const SearchInput& input, const SearchBudget& budget);

// The text of a --config file: that of `config_text` ("" for none) and what the search has chosen.
std::string SearchConfigText(const SearchReport& report, const std::string& config_text);
// A quantization table of TPU-MLIR, which knows no 16-bit integers: F16 where the search has them.
// `names`: of the model's file; tensors that no operator of it makes are left out.
std::string SearchQtable(const SearchReport& report, const ModelNames& names);
// The lines model_deploy prints.
std::string SearchText(const SearchReport& report);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SEARCH_H_
