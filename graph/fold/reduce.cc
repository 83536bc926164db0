#include <algorithm>
#include <cmath>
#include <limits>

#include "base/portable_math.h"
#include "graph/fold/fold.h"

namespace rshift {
namespace {

// Strides that lead each element of x to its place in the reduced tensor.
Shape ReducedStrides(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (int64_t axis : axes) kept[axis] = 1;
  return BroadcastStrides(kept, shape);
}

// From `start`, element by element.
template <typename T>
struct Reduction {
  T start = 0;
  T (*take)(T sum, T x) = nullptr;        // null: not here, or not of such numbers
  T (*finish)(T sum, T count) = nullptr;  // null: the sum is the result
};

// One for each ReduceOp.
namespace floats {
using R = Reduction<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
double Plus(double sum, double x) { return sum + x; }
double PlusSquare(double sum, double x) { return sum + x * x; }
constexpr R Mean{0, Plus, [](double sum, double count) { return sum / count; }};
constexpr R Sum{0, Plus};
constexpr R Max{-kInfinity, [](double m, double x) { return std::isnan(x) ? x : std::max(m, x); }};
constexpr R Min{kInfinity, [](double m, double x) { return std::isnan(x) ? x : std::min(m, x); }};
constexpr R Prod{1, [](double product, double x) { return product * x; }};
constexpr R L1{0, [](double sum, double x) { return sum + std::fabs(x); }};
constexpr R L2{0, PlusSquare, [](double sum, double) { return std::sqrt(sum); }};
constexpr R SumSquare{0, PlusSquare};
constexpr R LogSumExp{};  // LogSumExp() below
constexpr R LogSum{0, Plus, [](double sum, double) { return portable::Log(sum); }};
}  // namespace floats

// They wrap around.
namespace ints {
using R = Reduction<int64_t>;
using Limits = std::numeric_limits<int64_t>;
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr R Mean{0, Plus, [](int64_t sum, int64_t n) { return n == 0 ? sum : sum / n; }};
constexpr R Sum{0, Plus};
constexpr R Max{Limits::min(), [](int64_t m, int64_t x) { return std::max(m, x); }};
constexpr R Min{Limits::max(), [](int64_t m, int64_t x) { return std::min(m, x); }};
constexpr R Prod{1, Times};
constexpr R L1{0, [](int64_t sum, int64_t x) { return Plus(sum, x < 0 ? Times(-1, x) : x); }};
constexpr R SumSquare{0, [](int64_t sum, int64_t x) { return Plus(sum, Times(x, x)); }};
constexpr R L2{}, LogSumExp{}, LogSum{};
}  // namespace ints

constexpr Reduction<double> kFloats[] = {
#define RSHIFT_REDUCE(id, name, ...) floats::name,
#include "isa/functions.def"
};
constexpr Reduction<int64_t> kInts[] = {
#define RSHIFT_REDUCE(id, name, ...) ints::name,
#include "isa/functions.def"
};

std::vector<double> LogSumExp(std::span<const float> x, const Shape& shape, const Shape& strides,
                              size_t results) {
  std::vector<double> largest(results, -std::numeric_limits<double>::infinity());
  std::vector<double> sums(results, 0.0);
  WalkStrided<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    largest[at[0]] = std::max<double>(largest[at[0]], x[i]);
  });
  for (double& m : largest) m = std::isfinite(m) ? m : 0.0;
  WalkStrided<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    sums[at[0]] += portable::Exp(x[i] - largest[at[0]]);
  });
  for (size_t r = 0; r < results; ++r) sums[r] = portable::Log(sums[r]) + largest[r];
  return sums;
}

template <typename T, typename In>
std::vector<T> ReduceBy(const Reduction<T>& reduction, const Reduce& op, const Shape& shape,
                        const In& in, size_t results) {
  std::vector<T> sums(results, reduction.start);
  WalkStrided<1>(shape, {ReducedStrides(shape, op.axes)},
                 [&](int64_t i, const std::array<int64_t, 1>& at) {
                   sums[at[0]] = reduction.take(sums[at[0]], in[i]);
                 });
  if (reduction.finish == nullptr) return sums;
  T count = 1;
  for (int64_t axis : op.axes) count *= static_cast<T>(shape[axis]);
  for (T& sum : sums) sum = reduction.finish(sum, count);
  return sums;
}

FoldResult ReduceFloats(const Reduce& op, const Value& x, size_t results) {
  const auto in = x.constant->As<float>();
  const Reduction<double>& reduction = kFloats[static_cast<size_t>(op.op)];
  const std::vector<double> sums =
      reduction.take == nullptr ? LogSumExp(in, x.shape, ReducedStrides(x.shape, op.axes), results)
                                : ReduceBy(reduction, op, x.shape, in, results);
  return MakeConstant<float>(std::vector<float>(sums.begin(), sums.end()));
}

FoldResult ReduceInts(const Reduce& op, const Value& x, size_t results) {
  Reduction<int64_t> reduction = kInts[static_cast<size_t>(op.op)];
  if (reduction.take == nullptr) return nullptr;
  if (x.dtype == DType::kBool) reduction.start = op.op == ReduceOp::kMin;
  return StoreInts(ReduceBy(reduction, op, x.shape, LoadInts(x), results), x.dtype);
}

}  // namespace

FoldResult FoldReduce(const Reduce& op, const Value& x, const Shape& out) {
  const auto results = static_cast<size_t>(NumElements(out));
  return x.dtype == DType::kF32 ? ReduceFloats(op, x, results) : ReduceInts(op, x, results);
}

FoldResult FoldArgMax(const ArgMax& op, const Value& x, const Shape& out) {
  std::vector<double> elements;
  if (x.dtype == DType::kF32) {
    const auto in = x.constant->As<float>();
    elements.assign(in.begin(), in.end());
  } else {
    const auto in = LoadInts(x);
    elements.assign(in.begin(), in.end());
  }
  const int64_t size = x.shape[op.axis], inner = Strides(x.shape)[op.axis];
  std::vector<int64_t> result(NumElements(out), 0);
  for (size_t r = 0; r < result.size(); ++r) {
    const auto at = static_cast<int64_t>(r);
    const double* first = elements.data() + at / inner * inner * size + at % inner;
    for (int64_t i = 1; i < size; ++i) {
      const double challenger = first[i * inner], best = first[result[r] * inner];
      const bool better = op.min ? challenger < best : challenger > best;
      if (better || (op.select_last_index && challenger == best)) result[r] = i;
    }
  }
  return MakeConstant<int64_t>(result);
}

FoldResult FoldSoftmax(const Softmax& op, const Value& x) {
  const auto in = x.constant->As<float>();
  std::vector<float> result(in.size());
  const int64_t size = x.shape[op.axis], inner = Strides(x.shape)[op.axis];
  const int64_t rows = size == 0 ? 0 : static_cast<int64_t>(in.size()) / size;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t first = r / inner * inner * size + r % inner;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (int64_t i = 0; i < size; ++i) largest = std::max<double>(largest, in[first + i * inner]);
    for (int64_t i = 0; i < size; ++i) sum += portable::Exp(in[first + i * inner] - largest);
    for (int64_t i = 0; i < size; ++i) {
      const double shifted = in[first + i * inner] - largest;
      result[first + i * inner] =
          static_cast<float>(op.log ? shifted - portable::Log(sum) : portable::Exp(shifted) / sum);
    }
  }
  return MakeConstant<float>(result);
}

}  // namespace rshift
