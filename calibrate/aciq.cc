// Methods aciq-gauss and aciq-laplace (Banner, Nahshan, Soudry: Post training 4-bit quantization,
// 1810.05723): the clipping that is best for a normal or a Laplace distribution of the tensor's own
// spread, in closed form. Values of a tensor that is never negative are one half of such a
// distribution; its zeros, which a Relu makes and every scale represents, are left out.
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "calibrate/threshold_methods.h"

namespace rshift {
namespace {

// Over both signs; one less changes the clipping by a thousandth.
constexpr double kLevels = 2.0 * kSignedSteps;

struct Moments {
  double mean = 0;
  double deviation = 0;  // the root of the mean of (x - center)^2
  double absolute = 0;   // the mean of |x - center|
};

// Around `center`, from the middles of the bins.
Moments MomentsAround(const std::vector<WeightedBin>& bins, double center, bool with_zeros) {
  Moments sums;
  double count = 0;
  for (const WeightedBin& bin : bins) {
    if (!with_zeros && bin.low == 0 && bin.high == 0) continue;
    const double x = (bin.low + bin.high) / 2, n = static_cast<double>(bin.count);
    sums.mean += n * x;
    sums.deviation += n * (x - center) * (x - center);
    sums.absolute += n * std::fabs(x - center);
    count += n;
  }
  if (count == 0) return {};
  return {sums.mean / count, std::sqrt(sums.deviation / count), sums.absolute / count};
}

// The clipping a, in units of the spread, at which the derivative of
//   a^2 / (3 L^2) + E[(|x| - a)^2; |x| > a]   (two-sided; 12 in place of 3 for one half)
// is zero; it rises with a, so halving an interval finds it.
template <typename Derivative>
double Zero(const Derivative& derivative) {
  double low = 0.1, high = 30;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (derivative(middle) < 0 ? low : high) = middle;
  }
  return high;
}

double GaussClipping(bool half) {
  const double rounding = (half ? 12 : 3) * kLevels * kLevels;
  return Zero([&](double a) {
    return a / rounding + a * std::erfc(a / std::sqrt(2.0)) -
           std::sqrt(2 / M_PI) * portable::Exp(-a * a / 2);
  });
}

double LaplaceClipping(bool half) {
  const double rounding = (half ? 12 : 3) * kLevels * kLevels;
  return Zero([&](double a) { return a / rounding - portable::Exp(-a); });
}

void Derive(const TensorBins& tensor, double (*clipping)(bool), double Moments::*spread,
            TensorRange& range) {
  const std::vector<WeightedBin>& bins = tensor.bins();
  const bool half = range.min >= 0 || range.max <= 0;
  const double k = clipping(half);
  const auto threshold = static_cast<float>(k * (MomentsAround(bins, 0, !half).*spread));
  if (threshold > 0) range.threshold = std::min(threshold, range.threshold);
  const double center = half ? 0 : MomentsAround(bins, 0, true).mean;
  const double reach = k * (MomentsAround(bins, center, !half).*spread);
  const float low = std::max(static_cast<float>(center - reach), range.min),
              high = std::min(static_cast<float>(center + reach), range.max);
  if (!(low < high) || (low >= 0 && high <= 0)) return;
  range.low = low;
  range.high = high;
}

}  // namespace

void DeriveAciqGauss(const TensorBins& tensor, const MethodOptions&, TensorRange& range) {
  Derive(tensor, GaussClipping, &Moments::deviation, range);
}

void DeriveAciqLaplace(const TensorBins& tensor, const MethodOptions&, TensorRange& range) {
  Derive(tensor, LaplaceClipping, &Moments::absolute, range);
}

}  // namespace rshift
