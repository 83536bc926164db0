// Which candidates of a search reach what is asked for, and which of two is better.
#ifndef RSHIFT_PIPELINE_SEARCH_JUDGE_H_
#define RSHIFT_PIPELINE_SEARCH_JUDGE_H_

#include <cstddef>
#include <vector>

#include "pipeline/search/budget.h"
#include "pipeline/search/trials.h"

namespace rshift {

class SearchJudge {
 public:
  // Both must outlive it.
  SearchJudge(const SearchBudget& budget, const Trials& trials)
      : budget_(budget), trials_(trials) {}

  // Throws kInvalidInput for an aim that the program's outputs have no numbers for.
  void CheckAims(const Point& first) const;
  // 16 bits everywhere, without an aim: what is as good as that is good enough.
  void set_widest(const Point* widest) { widest_ = widest; }

  bool Reaches(const Point& point) const;
  // By more than one standard error of the differences, on samples that it was not made with, and
  // without losing more classes or boxes than that.
  bool IsBetter(const Point& point, const Point& than) const;
  bool IsWorse(const Point& point, const Point& than) const;

 private:
  bool ReachesOn(const Point& point, const std::vector<size_t>& places) const;
  // Over all samples: a few have few boxes, and none was made to fit them.
  bool FindsBoxes(const Point& point) const;

  const SearchBudget& budget_;
  const Trials& trials_;
  const Point* widest_ = nullptr;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_JUDGE_H_
