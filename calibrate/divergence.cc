#include "calibrate/divergence.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/portable_math.h"

namespace rshift {
namespace {

constexpr double kEmptyLevel =
    1e-9;  // probability of a level that keeps nothing but receives clipped values

// The natural logarithm of a normal x > 0 but for 1e-12, without a branch or a call, so that loops
// over it become vector instructions.
[[gnu::always_inline]] inline double EstimateLog(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;  // sqrt(1/2)
  constexpr int kMantissaBits = 52;
  constexpr uint64_t kOne = uint64_t{1} << kMantissaBits;  // of the exponent
  constexpr uint64_t kBias = 1024;                         // no exponent of x is below -1024
  constexpr uint64_t kInteger = 0x4330000000000000u;       // 2^52: behind it stands an integer
  // x = 2^k m with m from sqrt(1/2) to sqrt(2).
  const uint64_t bits = std::bit_cast<uint64_t>(x) - kRootHalf + kBias * kOne;
  const double k = std::bit_cast<double>(bits >> kMantissaBits | kInteger) -
                   (0x1p52 + static_cast<double>(kBias));
  const double m = std::bit_cast<double>((bits & (kOne - 1)) + kRootHalf);
  const double t = (m - 1) / (m + 1), u = t * t;  // log m = 2 artanh t
  const double series =
      1 + u * (1. / 3 + u * (1. / 5 + u * (1. / 7 + u * (1. / 9 + u * (1. / 11 + u / 13)))));
  return k * std::numbers::ln2 + 2 * t * series;
}

// The sum of mass * log(q) over the levels [1, count - 1), from what lies below each. An empty
// level adds 0.
[[gnu::always_inline]] inline double InnerSum(const double* mass, const double* occupied,
                                              size_t count, double kept) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 1; i < count - 1; ++i) {
    const double m = mass[i + 1] - mass[i], q = m / (kept * (occupied[i + 1] - occupied[i]));
    sum += m > 0 ? m * EstimateLog(q) : 0.0;
  }
  return sum;
}

#ifdef __x86_64__
[[gnu::target("avx2")]] double InnerSumAvx2(const double* mass, const double* occupied,
                                            size_t count, double kept) {
  return InnerSum(mass, occupied, count, kept);
}
[[gnu::target("avx512f,avx512dq,avx512vl")]] double InnerSumAvx512(const double* mass,
                                                                   const double* occupied,
                                                                   size_t count, double kept) {
  return InnerSum(mass, occupied, count, kept);
}
#endif

// Its last bits depend on the CPU.
double EstimateInnerSum(const double* mass, const double* occupied, size_t count, double kept) {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (has_avx512) return InnerSumAvx512(mass, occupied, count, kept);
  if (has_avx2) return InnerSumAvx2(mass, occupied, count, kept);
#endif
  return InnerSum(mass, occupied, count, kept);
}

}  // namespace

Divergence::Divergence(const LinearHistogram& histogram, const ClipError& error, int levels)
    : histogram_(histogram), error_(error), levels_(static_cast<size_t>(levels)) {
  const size_t bins = histogram.counts.size();
  entropy_.assign(bins + 1, 0.0);
  occupied_below_.assign(bins + 1, 0);
  for (size_t i = 0; i < bins; ++i) {
    entropy_[i + 1] = entropy_[i] + PLogP(histogram.counts[i]);
    occupied_below_[i + 1] = occupied_below_[i] + (histogram.counts[i] > 0 ? 1 : 0);
  }
  mass_.assign(levels_ + 1, 0.0);
  occupied_.assign(levels_ + 1, 0.0);
}

double Divergence::operator()(size_t first, size_t last) {
  if (error_.Mass(first, last) <= 0) return std::numeric_limits<double>::infinity();
  FindEdges(first, last);
  double divergence = ReferencePart(first, last);
  for (size_t level = 0; level < levels_; ++level) divergence -= LevelPart(level, first, last);
  return divergence;
}

double Divergence::Estimate(size_t first, size_t last) {
  const double kept = error_.Mass(first, last);
  if (kept <= 0) return std::numeric_limits<double>::infinity();
  if (levels_ < 3) return (*this)(first, last);
  FindEdges(first, last);
  return ReferencePart(first, last) - LevelPart(0, first, last) -
         LevelPart(levels_ - 1, first, last) -
         EstimateInnerSum(mass_.data(), occupied_.data(), levels_, kept) / error_.total();
}

double Divergence::PLogP(double count) const {
  const double p = count / error_.total();
  return p > 0 ? p * portable::Log(p) : 0.0;
}

double Divergence::ReferencePart(size_t first, size_t last) const {
  const double below = error_.Mass(0, first), above = error_.Mass(last, histogram_.counts.size());
  const double low_edge = histogram_.counts[first], high_edge = histogram_.counts[last - 1];
  return entropy_[last] - entropy_[first] - PLogP(low_edge) - PLogP(high_edge) +
         PLogP(low_edge + below) + PLogP(high_edge + above);
}

double Divergence::LevelPart(size_t level, size_t first, size_t last) const {
  const double mass = mass_[level + 1] - mass_[level];
  double reference = mass, occupied = occupied_[level + 1] - occupied_[level];
  const auto add_clipped = [&](double clipped, double edge) {
    if (clipped <= 0) return;
    reference += clipped;
    if (edge == 0) ++occupied;
  };
  if (level == 0) add_clipped(error_.Mass(0, first), histogram_.counts[first]);
  if (level + 1 == levels_)
    add_clipped(error_.Mass(last, histogram_.counts.size()), histogram_.counts[last - 1]);
  if (reference <= 0) return 0;
  const double q = mass > 0 ? mass / (error_.Mass(first, last) * occupied) : kEmptyLevel;
  return reference / error_.total() * portable::Log(q);
}

// Level l begins at first + l * (last - first) / levels, rounded down.
void Divergence::FindEdges(size_t first, size_t last) {
  const size_t width = (last - first) / levels_, rest = (last - first) % levels_;
  size_t begin = first, left = 0;
  for (size_t level = 0; level <= levels_; ++level) {
    mass_[level] = error_.Mass(0, begin);
    occupied_[level] = occupied_below_[begin];
    left += rest;
    begin += width;
    if (left >= levels_) {
      left -= levels_;
      ++begin;
    }
  }
}

}  // namespace rshift
