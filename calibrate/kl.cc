#include "calibrate/kl.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/linear_histogram.h"

namespace rshift {
namespace {

constexpr size_t kBins = 4096;
constexpr double kLeastMass = 0.999;  // of the non-zero values
constexpr double kEmptyLevel =
    1e-9;  // probability of a level that keeps nothing but receives clipped values
constexpr size_t kCoarseStep = 64;  // bins; each refinement divides it by 4

// Divergence of any range of bins in time proportional to the number of levels: the sum of P log P
// comes from prefix sums, and Q is constant over the occupied bins of a level.
class Divergence {
 public:
  Divergence(const LinearHistogram& histogram, const ClipError& error, int levels)
      : histogram_(histogram), error_(error), levels_(static_cast<size_t>(levels)) {
    const size_t bins = histogram.counts.size();
    entropy_.assign(bins + 1, 0.0);
    occupied_.assign(bins + 1, 0);
    for (size_t i = 0; i < bins; ++i) {
      entropy_[i + 1] = entropy_[i] + PLogP(histogram.counts[i]);
      occupied_[i + 1] = occupied_[i] + (histogram.counts[i] > 0 ? 1 : 0);
    }
  }

  double operator()(size_t first, size_t last) const {
    const double kept = error_.Mass(first, last);
    if (kept <= 0) return std::numeric_limits<double>::infinity();
    const double below = error_.Mass(0, first), above = error_.Mass(last, histogram_.counts.size());
    const double low_edge = histogram_.counts[first], high_edge = histogram_.counts[last - 1];
    double divergence = entropy_[last] - entropy_[first] - PLogP(low_edge) - PLogP(high_edge) +
                        PLogP(low_edge + below) + PLogP(high_edge + above);
    const size_t bins = last - first;
    for (size_t level = 0; level < levels_; ++level) {
      const size_t begin = first + level * bins / levels_,
                   end = first + (level + 1) * bins / levels_;
      const double mass = error_.Mass(begin, end);
      double reference = mass;
      size_t occupied = occupied_[end] - occupied_[begin];
      if (level == 0 && below > 0) {
        reference += below;
        if (low_edge == 0) ++occupied;
      }
      if (level + 1 == levels_ && above > 0) {
        reference += above;
        if (high_edge == 0) ++occupied;
      }
      if (reference <= 0) continue;
      const double q = mass > 0 ? mass / (kept * static_cast<double>(occupied)) : kEmptyLevel;
      divergence -= reference / error_.total() * std::log(q);
    }
    return divergence;
  }

 private:
  double PLogP(double count) const {
    const double p = count / error_.total();
    return p > 0 ? p * std::log(p) : 0.0;
  }

  const LinearHistogram& histogram_;
  const ClipError& error_;
  size_t levels_;
  std::vector<double> entropy_;   // prefix sums of P log P
  std::vector<size_t> occupied_;  // prefix counts of non-empty bins
};

// The best range so far among those offered.
class Search {
 public:
  Search(const LinearHistogram& histogram, int levels)
      : bins_(histogram.counts.size()),
        levels_(levels),
        error_(histogram),
        divergence_(histogram, error_, levels),
        first_(0),
        last_(bins_),
        best_(divergence_(0, bins_)),
        least_error_(error_(0, bins_, levels)),
        error_limit_(least_error_) {}

  // First every range is weighed, then the limit is set, then the ranges are offered.
  void Weigh(size_t first, size_t last) {
    if (Allowed(first, last)) least_error_ = std::min(least_error_, error_(first, last, levels_));
  }
  void SetErrorLimit() { error_limit_ = std::sqrt(least_error_ * error_limit_); }

  void Offer(size_t first, size_t last) {
    if (!Allowed(first, last) || error_(first, last, levels_) > error_limit_) return;
    const double divergence = divergence_(first, last);
    const bool wider = last - first > last_ - first_;
    if (divergence < best_ || (divergence == best_ && wider)) {
      best_ = divergence;
      first_ = first;
      last_ = last;
    }
  }
  size_t bins() const { return bins_; }
  size_t first() const { return first_; }
  size_t last() const { return last_; }

 private:
  bool Allowed(size_t first, size_t last) const {
    return last >= first + static_cast<size_t>(levels_) && last <= bins_ &&
           error_.Mass(first, last) >= kLeastMass * error_.total();
  }

  size_t bins_;
  int levels_;
  ClipError error_;
  Divergence divergence_;
  size_t first_, last_;
  double best_;
  double least_error_, error_limit_;
};

// Every range with one end fixed; `high`: the upper end moves.
void SearchOneSide(Search& search, bool high) {
  const size_t bins = search.bins();
  for (size_t cut = 0; cut < bins; ++cut) search.Weigh(high ? 0 : cut, high ? bins - cut : bins);
  search.SetErrorLimit();
  for (size_t cut = 0; cut < bins; ++cut) search.Offer(high ? 0 : cut, high ? bins - cut : bins);
}

// Ranges from [0, zero] x [zero, bins]; on a grid of kCoarseStep bins.
void SearchGrid(Search& search, size_t zero) {
  const auto for_each = [&](size_t step, auto&& visit) {
    for (size_t first = 0; first <= zero; first += step) {
      for (size_t cut = 0; cut + zero <= search.bins(); cut += step)
        visit(first, search.bins() - cut);
    }
  };
  for_each(kCoarseStep, [&](size_t first, size_t last) { search.Weigh(first, last); });
  search.SetErrorLimit();
  for_each(kCoarseStep, [&](size_t first, size_t last) { search.Offer(first, last); });
}

void OfferAround(Search& search, size_t zero, size_t step) {
  const auto first = static_cast<int64_t>(search.first()),
             last = static_cast<int64_t>(search.last());
  for (int64_t i = -4; i <= 4; ++i) {
    for (int64_t j = -4; j <= 4; ++j) {
      const int64_t a = first + i * static_cast<int64_t>(step),
                    b = last + j * static_cast<int64_t>(step);
      if (a >= 0 && a <= static_cast<int64_t>(zero) && b >= static_cast<int64_t>(zero)) {
        search.Offer(static_cast<size_t>(a), static_cast<size_t>(b));
      }
    }
  }
}

}  // namespace

double KlThreshold(const TensorStatistics& statistics, int levels) {
  const LinearHistogram histogram = AbsoluteHistogram(statistics, kBins);
  if (histogram.high == 0) return 0;
  Search search(histogram, levels);
  SearchOneSide(search, true);
  return search.last() == kBins ? histogram.high
                                : static_cast<double>(search.last()) * histogram.width();
}

ClipRange KlRange(const TensorStatistics& statistics, int levels) {
  const LinearHistogram histogram = SignedHistogram(statistics, kBins);
  const ClipRange observed{statistics.min, statistics.max};
  if (histogram.low == histogram.high) return observed;
  Search search(histogram, levels);
  if (histogram.low == 0 || histogram.high == 0) {
    SearchOneSide(search, histogram.low == 0);
  } else {
    const auto zero = static_cast<size_t>(-histogram.low / histogram.width());
    SearchGrid(search, zero);
    for (size_t step = kCoarseStep / 4; step > 0; step /= 4) OfferAround(search, zero, step);
  }
  ClipRange range = observed;
  if (search.first() > 0)
    range.low = histogram.low + static_cast<double>(search.first()) * histogram.width();
  if (search.last() < kBins)
    range.high = histogram.low + static_cast<double>(search.last()) * histogram.width();
  return {std::clamp(range.low, observed.low, observed.high),
          std::clamp(range.high, observed.low, observed.high)};
}

}  // namespace rshift
