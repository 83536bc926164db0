#include "pipeline/weight_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rshift {
namespace {

double Nearest(double weight, double most) {
  return std::clamp(std::nearbyint(weight), -most, most);
}

// Indices in ascending order of the diagonal: the last is rounded first.
std::vector<int64_t> Order(const SecondMoments& moments) {
  std::vector<int64_t> order(static_cast<size_t>(moments.n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return moments.At(a, a) < moments.At(b, b); });
  return order;
}

// Upper triangular R with R^T R = the damped moments in that order; empty where they have none (all
// zero, or numbers too large). Every element comes from one chain of operations, whatever vectors
// the compiler makes of a row.
std::vector<double> Factor(const SecondMoments& moments, double damping,
                           const std::vector<int64_t>& order) {
  const auto n = static_cast<size_t>(moments.n);
  double trace = 0;
  for (int64_t i = 0; i < moments.n; ++i) trace += moments.At(i, i);
  const double ridge = damping * trace / static_cast<double>(n);
  std::vector<double> r(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) r[i * n + j] = moments.At(order[i], order[j]);
    r[i * n + i] += ridge;
  }
  for (size_t k = 0; k < n; ++k) {
    const double* row = &r[k * n];
    if (!(row[k] > 0) || !std::isfinite(row[k])) return {};
    const double root = std::sqrt(row[k]);
    for (size_t j = k; j < n; ++j) r[k * n + j] /= root;
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = row[i];
      double* to = &r[i * n];
      for (size_t j = i; j < n; ++j) to[j] -= factor * row[j];
    }
  }
  return r;
}

// d = weights - integers, [n, rows] in `order`.
std::vector<double> Differences(const std::vector<double>& r, const std::vector<int64_t>& order,
                                std::span<const double> weights, double most) {
  const size_t n = order.size(), rows = weights.size() / n;
  std::vector<double> d(n * rows), taken(rows);
  for (size_t i = n; i-- > 0;) {
    std::fill(taken.begin(), taken.end(), 0);
    for (size_t j = i + 1; j < n; ++j) {
      const double factor = r[i * n + j] / r[i * n + i];
      const double* from = &d[j * rows];
      for (size_t o = 0; o < rows; ++o) taken[o] += factor * from[o];
    }
    for (size_t o = 0; o < rows; ++o) {
      const double weight = weights[o * n + static_cast<size_t>(order[i])];
      d[i * rows + o] = weight - Nearest(weight + taken[o], most);
    }
  }
  return d;
}

}  // namespace

std::vector<double> SquaredErrors(const SecondMoments& moments, std::span<const double> d) {
  const auto n = static_cast<size_t>(moments.n), rows = n == 0 ? 0 : d.size() / n;
  std::vector<double> columns(d.size()), errors(rows), sums(rows);
  for (size_t o = 0; o < rows; ++o) {
    for (size_t i = 0; i < n; ++i) columns[i * rows + o] = d[o * n + i];
  }
  for (size_t a = 0; a < n; ++a) {
    std::fill(sums.begin(), sums.end(), 0);
    for (size_t b = 0; b < n; ++b) {
      const double factor = moments.values[a * n + b];
      const double* from = &columns[b * rows];
      for (size_t o = 0; o < rows; ++o) sums[o] += factor * from[o];
    }
    for (size_t o = 0; o < rows; ++o) errors[o] += columns[a * rows + o] * sums[o];
  }
  return errors;
}

double BestClip(std::span<const float> weights, std::span<const double> mean_squares, int steps) {
  std::vector<std::pair<double, double>> sorted;  // |w|, m
  double all = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sorted.emplace_back(std::fabs(static_cast<double>(weights[i])), mean_squares[i]);
    all += mean_squares[i];
  }
  if (sorted.empty()) return 0;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const double rounding = all / (12.0 * steps * steps);
  double best = sorted[0].first, least = best * best * rounding;
  double m = 0, wm = 0, wwm = 0;  // of those that are clipped
  for (size_t k = 0; k < sorted.size(); ++k) {
    const auto [w, of] = sorted[k];
    m += of;
    wm += w * of;
    wwm += w * w * of;
    const double low = k + 1 < sorted.size() ? sorted[k + 1].first : 0;
    if (!(rounding + m > 0)) continue;
    const double c = std::clamp(wm / (rounding + m), low, w);
    const double error = c * c * rounding + wwm - 2 * c * wm + c * c * m;
    if (error < least) {
      least = error;
      best = c;
    }
  }
  return best;
}

std::vector<int8_t> RoundTogether(const SecondMoments& moments, double damping,
                                  std::span<const double> weights, int most) {
  const auto n = static_cast<size_t>(moments.n), rows = weights.size() / n;
  std::vector<int8_t> integers(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    integers[i] = static_cast<int8_t>(Nearest(weights[i], most));
  const std::vector<int64_t> order = Order(moments);
  const std::vector<double> r = Factor(moments, damping, order);
  if (r.empty()) return integers;
  const std::vector<double> d = Differences(r, order, weights, most);
  std::vector<double> alone(weights.size()), together(weights.size());
  for (size_t o = 0; o < rows; ++o) {
    for (size_t i = 0; i < n; ++i) {
      alone[o * n + i] = weights[o * n + i] - integers[o * n + i];
      together[o * n + static_cast<size_t>(order[i])] = d[i * rows + o];
    }
  }
  const std::vector<double> errors = SquaredErrors(moments, alone),
                            after = SquaredErrors(moments, together);
  for (size_t o = 0; o < rows; ++o) {
    if (!(after[o] < errors[o])) continue;
    for (size_t i = o * n; i < (o + 1) * n; ++i)
      integers[i] = static_cast<int8_t>(std::lround(weights[i] - together[i]));
  }
  return integers;
}

}  // namespace rshift
