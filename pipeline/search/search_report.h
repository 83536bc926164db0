// A search as figures: what SearchReport says.
#ifndef RSHIFT_PIPELINE_SEARCH_SEARCH_REPORT_H_
#define RSHIFT_PIPELINE_SEARCH_SEARCH_REPORT_H_

#include <functional>
#include <vector>

#include "pipeline/search/search_figures.h"
#include "pipeline/search/trials.h"

namespace rshift {

// How a search has ended.
struct SearchProgress {
  SearchBudget budget;
  const Point *first = nullptr, *best = nullptr;
  std::vector<double> noise_8, noise_16;  // by group, or none
  int64_t passes = 0;
  bool reached = false;
};

SearchReport MakeSearchReport(const Trials& trials, const SearchProgress& progress,
                              const std::function<bool(const Point&)>& reaches);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SEARCH_REPORT_H_
