// Method omse: the range with the least squared error of f(x) over the values x, for the functions
// f that read the tensor: sum over bins of count * (f(x) - f(quantized x))^2. A Sigmoid does not
// see whether x is 8 or 80, so that the range may end where it is flat. As PPQ's users set the
// scale of logits by hand ("focused logits quantization"), here searched on the histogram itself.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "calibrate/quantizer.h"
#include "calibrate/threshold_methods.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

constexpr int kSteps = 128, kCoarse = 4;  // parts of an end that are tried, first every fourth
constexpr int kRounds = 3;                // of low and high in turn
constexpr double kFine = 1.0 / 256;       // relative width up to which bins are taken together

class SeenError {
 public:
  SeenError(const TensorBins& tensor, const std::vector<Unary>& readers) : readers_(readers) {
    const TensorStatistics& statistics = tensor.statistics();
    double begin = 0;  // of the values that are taken together
    for (const WeightedBin& bin : tensor.bins()) {
      const double low = std::max<double>(bin.low, statistics.min);
      const double high = std::min<double>(bin.high, statistics.max);
      const double value = (low + high) / 2, count = static_cast<double>(bin.count);
      if (!values_.empty() && value - begin <= kFine * std::abs(value)) {
        counts_.back() += count;
        values_.back() += (value - values_.back()) * count / counts_.back();
        continue;
      }
      begin = value;
      values_.push_back(value);
      counts_.push_back(count);
    }
    for (const Unary& reader : readers_) {
      seen_.emplace_back();
      for (const double value : values_) seen_.back().push_back(Evaluate(reader, value));
    }
  }

  double operator()(const Quantizer& to) const {
    double error = 0;
    std::vector<double> seen(static_cast<size_t>(to.greatest - to.least) + 1);
    for (size_t f = 0; f < readers_.size(); ++f) {
      for (size_t q = 0; q < seen.size(); ++q)
        seen[q] = Evaluate(readers_[f], (to.least + static_cast<double>(q)) * to.scale);
      for (size_t i = 0; i < values_.size(); ++i) {
        const double off =
            seen_[f][i] - seen[static_cast<size_t>(to.Number(values_[i]) - to.least)];
        // A function that is not defined there says nothing (Log of a negative number).
        if (std::isfinite(off)) error += counts_[i] * off * off;
      }
    }
    return error;
  }

 private:
  const std::vector<Unary>& readers_;
  std::vector<double> values_, counts_;
  std::vector<std::vector<double>> seen_;  // by function: of the values
};

// Tries parts of an end, which `set` sets, and leaves the best there; the whole end unless another
// is worth it.
template <typename Set, typename ErrorOf>
void SearchSteps(const Set& set, const ErrorOf& error_of) {
  double best = error_of();
  int best_step = kSteps;
  const double wanted = kWorthwhile * best;
  const auto try_step = [&](int step) {
    if (step <= 0 || step >= kSteps) return;
    set(static_cast<double>(step) / kSteps);
    const double error = error_of();
    if (error >= best || error >= wanted) return;
    best = error;
    best_step = step;
  };
  for (int step = kSteps - kCoarse; step > 0; step -= kCoarse) try_step(step);
  const int middle = best_step;
  for (int step = 1; step < kCoarse; ++step) {
    try_step(middle + step);
    try_step(middle - step);
  }
  set(static_cast<double>(best_step) / kSteps);
}

}  // namespace

void DeriveOmse(const TensorBins& tensor, const MethodOptions& options, TensorRange& range) {
  const SeenError error(tensor, options.readers);
  const TensorRange whole = range;
  SearchSteps(
      [&](double part) {
        range.threshold = static_cast<float>(part * static_cast<double>(whole.threshold));
      },
      [&] { return error(SymmetricQuantizer(range)); });
  // The two ends begin there, where that is better than the whole.
  double least = error(AsymmetricQuantizer(range));
  TensorRange even = range;
  even.low = std::max(whole.low, -range.threshold);
  even.high = std::min(whole.high, range.threshold);
  if (const double of_even = error(AsymmetricQuantizer(even)); of_even < kWorthwhile * least) {
    least = of_even;
    range = even;
  }
  for (int round = 0; round < kRounds; ++round) {
    const float low = range.low, high = range.high;
    const auto try_low = [&](double part) {
      range.low = static_cast<float>(part * static_cast<double>(low));
    };
    const auto try_high = [&](double part) {
      range.high = static_cast<float>(part * static_cast<double>(high));
    };
    const auto error_of = [&] { return error(AsymmetricQuantizer(range)); };
    if (low < 0) SearchSteps(try_low, error_of);
    if (high > 0) SearchSteps(try_high, error_of);
    const double now = error_of();
    if (now >= least) break;
    least = now;
  }
}

}  // namespace rshift
