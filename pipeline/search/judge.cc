#include "pipeline/search/judge.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "pipeline/box_agreement.h"
#include "pipeline/paired_choice.h"

namespace rshift {
namespace {

// Signal to noise of the outputs that is good enough where the budget says nothing.
constexpr double kReachesDb = 25;
// Where 16 bits everywhere do not reach that: so close to them.
constexpr double kNearWidestDb = 1;

BoxAgreement BoxesOfSamples(const Point& point) {
  BoxAgreement sum;
  for (const SampleScore& score : point.measured.scores) sum.Add(score.boxes);
  return sum;
}

}  // namespace

void SearchJudge::CheckAims(const Point& first) const {
  const ScoreFigures figures = FiguresOf(first.measured.scores, trials_.judging());
  RSHIFT_REQUIRE(!budget_.top1 || figures.classes, ErrorCode::kInvalidInput,
                 "--budget top1: no output has one number for each class; give cosine=... "
                 "instead");
  RSHIFT_REQUIRE(!budget_.boxes || BoxesOfSamples(first).wanted > 0, ErrorCode::kInvalidInput,
                 "--budget boxes: the float program finds no boxes on these samples, or does not "
                 "end in boxes, scores and classes; give cosine=... instead");
}

bool SearchJudge::Reaches(const Point& point) const {
  return ReachesOn(point, trials_.making()) && ReachesOn(point, trials_.judging()) &&
         FindsBoxes(point);
}

bool SearchJudge::ReachesOn(const Point& point, const std::vector<size_t>& places) const {
  const ScoreFigures f = FiguresOf(point.measured.scores, places);
  if (budget_.cosine && f.cosine < *budget_.cosine) return false;
  if (budget_.top1) {
    const double wanted = f.labelled ? *budget_.top1 * f.float_top1_percent / 100 : *budget_.top1;
    if ((f.labelled ? f.top1_percent : f.agree_percent) < wanted) return false;
  }
  if (budget_.has_aim() || f.decibels >= kReachesDb) return true;
  if (!widest_) return false;
  return f.decibels >= FiguresOf(widest_->measured.scores, places).decibels - kNearWidestDb;
}

bool SearchJudge::FindsBoxes(const Point& point) const {
  const BoxAgreement boxes = BoxesOfSamples(point);
  if (budget_.boxes) return boxes.least() >= *budget_.boxes;
  if (budget_.has_aim() || boxes.unmatched() <= 1) return true;
  const double widest = widest_ == nullptr ? 1 : BoxesOfSamples(*widest_).least();
  return boxes.least() >= std::min(kGoodBoxes, widest);
}

bool SearchJudge::IsBetter(const Point& point, const Point& than) const {
  const auto &a = than.measured.scores, &b = point.measured.scores;
  const std::vector<size_t>& places = trials_.judging();
  if (FirstAsGoodAsTheBest({DecibelsOf(a, places), DecibelsOf(b, places)}) != 1) return false;
  double lost = 0, changed = 0;
  for (const size_t place : places) {
    const auto fewer = static_cast<double>(a[place].agree - b[place].agree +
                                           b[place].boxes.unmatched() - a[place].boxes.unmatched());
    lost += fewer;
    changed += fewer * fewer;
  }
  return lost <= std::sqrt(changed);
}

bool SearchJudge::IsWorse(const Point& point, const Point& than) const {
  return FirstAsGoodAsTheBest({DecibelsOf(point.measured.scores, trials_.judging()),
                               DecibelsOf(than.measured.scores, trials_.judging())}) == 1;
}

}  // namespace rshift
