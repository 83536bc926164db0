#include "pipeline/weight_solver.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

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

// A number of each of some rows of weights, which are worked on together.
constexpr size_t kTile = 32;
typedef double Tile __attribute__((vector_size(kTile * sizeof(double))));

// The sum of factors[i] * columns[i], i by i: the same bits on every CPU.
[[gnu::always_inline]] inline void SumOfScaled(const double* factors, const Tile* columns,
                                               size_t count, Tile* result) {
  Tile sum{};
  for (size_t i = 0; i < count; ++i) sum += factors[i] * columns[i];
  *result = sum;
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void SumOfScaledAvx2(const double* factors, const Tile* columns,
                                             size_t count, Tile* result) {
  SumOfScaled(factors, columns, count, result);
}
[[gnu::target("avx512f")]] void SumOfScaledAvx512(const double* factors, const Tile* columns,
                                                  size_t count, Tile* result) {
  SumOfScaled(factors, columns, count, result);
}
#endif

void SumScaled(const double* factors, const Tile* columns, size_t count, Tile* result) {
#ifdef __x86_64__
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx512) return SumOfScaledAvx512(factors, columns, count, result);
  if (has_avx2) return SumOfScaledAvx2(factors, columns, count, result);
#endif
  SumOfScaled(factors, columns, count, result);
}

// Rows that are taken from all below them before the next ones are.
constexpr size_t kPanel = 32;

// to[j] -= rows[k][i] * rows[k][j], k by k, for the columns from `first` on.
void TakeRows(const std::vector<double>& r, size_t n, size_t from_row, size_t to_row, size_t i,
              size_t first, size_t last, double* to) {
  size_t k = from_row;
  for (; k + 4 <= to_row; k += 4) {
    const double *a = &r[k * n], *b = a + n, *c = b + n, *d = c + n;
    const double fa = a[i], fb = b[i], fc = c[i], fd = d[i];
    for (size_t j = first; j < last; ++j)
      to[j] = to[j] - fa * a[j] - fb * b[j] - fc * c[j] - fd * d[j];
  }
  for (; k < to_row; ++k) {
    const double* a = &r[k * n];
    const double factor = a[i];
    for (size_t j = first; j < last; ++j) to[j] -= factor * a[j];
  }
}

// Upper triangular R with R^T R = the damped moments in that order; empty where they have none (all
// zero, or numbers too large). Every element comes from one chain of operations, whatever vectors
// the compiler makes of a row.
std::vector<double> Factor(const SecondMoments& moments, double damping,
                           const std::vector<int64_t>& order) {
  constexpr size_t kColumns = 512;  // of a panel, that stay in the cache
  const auto n = static_cast<size_t>(moments.n);
  double trace = 0;
  for (int64_t i = 0; i < moments.n; ++i) trace += moments.At(i, i);
  const double ridge = damping * trace / static_cast<double>(n);
  std::vector<double> r(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) r[i * n + j] = moments.At(order[i], order[j]);
    r[i * n + i] += ridge;
  }
  for (size_t panel = 0; panel < n; panel += kPanel) {
    const size_t end = std::min(panel + kPanel, n);
    for (size_t k = panel; k < end; ++k) {
      double* row = &r[k * n];
      TakeRows(r, n, panel, k, k, k, n, row);
      if (!(row[k] > 0) || !std::isfinite(row[k])) return {};
      const double root = std::sqrt(row[k]);
      for (size_t j = k; j < n; ++j) row[j] /= root;
    }
    for (size_t first = end; first < n; first += kColumns) {
      const size_t last = std::min(first + kColumns, n);
      for (size_t i = end; i < last; ++i)
        TakeRows(r, n, panel, end, i, std::max(i, first), last, &r[i * n]);
    }
  }
  return r;
}

// Rows [first, first + kTile) of `rows` [count, n], by column; what is not there is 0.
void ReadTile(std::span<const double> rows, size_t n, size_t first, std::vector<Tile>* columns) {
  const size_t count = std::min(kTile, rows.size() / n - first);
  columns->assign(n, Tile{});
  for (size_t o = 0; o < count; ++o) {
    for (size_t i = 0; i < n; ++i) (*columns)[i][o] = rows[(first + o) * n + i];
  }
}

// weights - integers, [rows, n].
std::vector<double> Differences(std::vector<double> r, const std::vector<int64_t>& order,
                                std::span<const double> weights, double most) {
  const size_t n = order.size(), rows = weights.size() / n;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) r[i * n + j] /= r[i * n + i];
  }
  std::vector<double> differences(weights.size());
  std::vector<Tile> columns, d(n);
  for (size_t first = 0; first < rows; first += kTile) {
    ReadTile(weights, n, first, &columns);
    for (size_t i = n; i-- > 0;) {
      Tile taken;
      SumScaled(&r[i * n + i] + 1, d.data() + i + 1, n - i - 1, &taken);
      const Tile& weight = columns[static_cast<size_t>(order[i])];
      for (size_t o = 0; o < kTile; ++o) d[i][o] = weight[o] - Nearest(weight[o] + taken[o], most);
    }
    for (size_t o = 0; o < std::min(kTile, rows - first); ++o) {
      for (size_t i = 0; i < n; ++i)
        differences[(first + o) * n + static_cast<size_t>(order[i])] = d[i][o];
    }
  }
  return differences;
}

}  // namespace

std::vector<double> SquaredErrors(const SecondMoments& moments, std::span<const double> d) {
  const auto n = static_cast<size_t>(moments.n), rows = n == 0 ? 0 : d.size() / n;
  std::vector<double> errors(rows);
  std::vector<Tile> columns;
  for (size_t first = 0; first < rows; first += kTile) {
    ReadTile(d, n, first, &columns);
    Tile error{};
    for (size_t a = 0; a < n; ++a) {  // each pair of inputs once
      const double* of_a = &moments.values[a * n];
      Tile sums;
      SumScaled(of_a + a + 1, columns.data() + a + 1, n - a - 1, &sums);
      error += columns[a] * (of_a[a] * columns[a] + 2 * sums);
    }
    for (size_t o = 0; o < std::min(kTile, rows - first); ++o) errors[first + o] = error[o];
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
  std::vector<int8_t> integers(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    integers[i] = static_cast<int8_t>(Nearest(weights[i], most));
  const std::vector<int64_t> order = Order(moments);
  std::vector<double> r = Factor(moments, damping, order);
  if (r.empty()) return integers;
  const std::vector<double> differences = Differences(std::move(r), order, weights, most);
  for (size_t i = 0; i < weights.size(); ++i)
    integers[i] = static_cast<int8_t>(std::lround(weights[i] - differences[i]));
  return integers;
}

}  // namespace rshift
