#include "calibrate/kl.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/divergence.h"
#include "calibrate/linear_histogram.h"
#include "calibrate/threshold_methods.h"

namespace rshift {
namespace {

constexpr double kLeastMass = 0.999;  // of the non-zero values
// The best range of those that are offered and then decided on, in as many rounds as one likes.
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
    offers_.push_back({first, last, divergence_.Estimate(first, last)});
  }

  // Only those that may be the best by their estimates are computed to the last bit.
  void Decide() {
    double least = best_;
    for (const Candidate& offer : offers_) least = std::min(least, offer.estimate);
    for (const Candidate& offer : offers_) {
      if (offer.estimate > least + 2 * Divergence::kEstimateError) continue;
      const double divergence = divergence_(offer.first, offer.last);
      const bool wider = offer.last - offer.first > last_ - first_;
      if (divergence < best_ || (divergence == best_ && wider)) {
        best_ = divergence;
        first_ = offer.first;
        last_ = offer.last;
      }
    }
    offers_.clear();
  }
  size_t bins() const { return bins_; }
  size_t first() const { return first_; }
  size_t last() const { return last_; }

 private:
  struct Candidate {
    size_t first = 0, last = 0;
    double estimate = 0;
  };

  bool Allowed(size_t first, size_t last) const {
    return last >= first + static_cast<size_t>(levels_) && last <= bins_ &&
           error_.Mass(first, last) >= kLeastMass * error_.total();
  }

  size_t bins_;
  int levels_;
  ClipError error_;
  Divergence divergence_;
  std::vector<Candidate> offers_;
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
  search.Decide();
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
  search.Decide();
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
  search.Decide();
}

}  // namespace

double KlThreshold(const TensorBins& tensor, int levels) {
  const LinearHistogram& histogram = tensor.absolute();
  if (histogram.high == 0) return 0;
  Search search(histogram, levels);
  SearchOneSide(search, true);
  return search.last() == kSearchBins ? histogram.high
                                      : static_cast<double>(search.last()) * histogram.width();
}

ClipRange KlRange(const TensorBins& tensor, int levels) {
  const LinearHistogram& histogram = tensor.both();
  const ClipRange observed{tensor.statistics().min, tensor.statistics().max};
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
  if (search.last() < kSearchBins)
    range.high = histogram.low + static_cast<double>(search.last()) * histogram.width();
  return {std::clamp(range.low, observed.low, observed.high),
          std::clamp(range.high, observed.low, observed.high)};
}

}  // namespace rshift
