#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

// Strides that lead each element of x to its place in the reduced tensor.
Shape ReducedStrides(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (int64_t axis : axes) kept[axis] = 1;
  return BroadcastStrides(kept, shape);
}

double Start(ReduceOp op) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == ReduceOp::kMax) return -kInfinity;
  if (op == ReduceOp::kMin) return kInfinity;
  return op == ReduceOp::kProd ? 1.0 : 0.0;
}

double Accumulate(ReduceOp op, double sum, double x) {
  switch (op) {
    case ReduceOp::kMax:
      return std::isnan(x) ? x : std::max(sum, x);
    case ReduceOp::kMin:
      return std::isnan(x) ? x : std::min(sum, x);
    case ReduceOp::kProd:
      return sum * x;
    case ReduceOp::kL1:
      return sum + std::fabs(x);
    case ReduceOp::kL2:
    case ReduceOp::kSumSquare:
      return sum + x * x;
    case ReduceOp::kMean:
    case ReduceOp::kSum:
    case ReduceOp::kLogSum:
    case ReduceOp::kLogSumExp:  // of its terms
      break;
  }
  return sum + x;
}

double Finish(ReduceOp op, double sum, double count) {
  switch (op) {
    case ReduceOp::kMean:
      return sum / count;
    case ReduceOp::kL2:
      return std::sqrt(sum);
    case ReduceOp::kLogSum:
      return std::log(sum);
    case ReduceOp::kSum:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kProd:
    case ReduceOp::kL1:
    case ReduceOp::kSumSquare:
    case ReduceOp::kLogSumExp:
      break;
  }
  return sum;
}

std::vector<double> LogSumExp(std::span<const float> x, const Shape& shape, const Shape& strides,
                              size_t results) {
  std::vector<double> largest(results, -std::numeric_limits<double>::infinity());
  std::vector<double> sums(results, 0.0);
  WalkStrided<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    largest[at[0]] = std::max<double>(largest[at[0]], x[i]);
  });
  for (double& m : largest) m = std::isfinite(m) ? m : 0.0;
  WalkStrided<1>(shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    sums[at[0]] += std::exp(x[i] - largest[at[0]]);
  });
  for (size_t r = 0; r < results; ++r) sums[r] = std::log(sums[r]) + largest[r];
  return sums;
}

FoldResult ReduceFloats(const Reduce& op, const Value& x, size_t results) {
  const auto in = x.constant->As<float>();
  const Shape strides = ReducedStrides(x.shape, op.axes);
  std::vector<double> sums;
  if (op.op == ReduceOp::kLogSumExp) {
    sums = LogSumExp(in, x.shape, strides, results);
  } else {
    sums.assign(results, Start(op.op));
    WalkStrided<1>(x.shape, {strides}, [&](int64_t i, const std::array<int64_t, 1>& at) {
      sums[at[0]] = Accumulate(op.op, sums[at[0]], in[i]);
    });
    double count = 1;
    for (int64_t axis : op.axes) count *= static_cast<double>(x.shape[axis]);
    for (double& sum : sums) sum = Finish(op.op, sum, count);
  }
  return MakeConstant<float>(std::vector<float>(sums.begin(), sums.end()));
}

int64_t AccumulateInt(ReduceOp op, int64_t sum, int64_t x) {
  const auto s = static_cast<uint64_t>(sum), v = static_cast<uint64_t>(x);
  switch (op) {
    case ReduceOp::kMax:
      return std::max(sum, x);
    case ReduceOp::kMin:
      return std::min(sum, x);
    case ReduceOp::kProd:
      return static_cast<int64_t>(s * v);
    case ReduceOp::kL1:
      return static_cast<int64_t>(s + (x < 0 ? 0 - v : v));
    case ReduceOp::kSumSquare:
      return static_cast<int64_t>(s + v * v);
    case ReduceOp::kMean:
    case ReduceOp::kSum:
    case ReduceOp::kL2:  // and the next two: none of integers
    case ReduceOp::kLogSum:
    case ReduceOp::kLogSumExp:
      break;
  }
  return static_cast<int64_t>(s + v);
}

FoldResult ReduceInts(const Reduce& op, const Value& x, size_t results) {
  if (op.op == ReduceOp::kL2 || op.op == ReduceOp::kLogSum || op.op == ReduceOp::kLogSumExp) {
    return nullptr;
  }
  const auto in = LoadInts(x);
  int64_t start = op.op == ReduceOp::kProd ? 1 : 0;
  if (op.op == ReduceOp::kMax) start = std::numeric_limits<int64_t>::min();
  if (op.op == ReduceOp::kMin) start = std::numeric_limits<int64_t>::max();
  if (x.dtype == DType::kBool) start = op.op == ReduceOp::kMin;
  std::vector<int64_t> sums(results, start);
  WalkStrided<1>(x.shape, {ReducedStrides(x.shape, op.axes)},
                 [&](int64_t i, const std::array<int64_t, 1>& at) {
                   sums[at[0]] = AccumulateInt(op.op, sums[at[0]], in[i]);
                 });
  int64_t count = 1;
  for (int64_t axis : op.axes) count *= x.shape[axis];
  if (op.op == ReduceOp::kMean && count != 0) {
    for (int64_t& sum : sums) sum /= count;
  }
  return StoreInts(sums, x.dtype);
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
    for (int64_t i = 0; i < size; ++i) sum += std::exp(in[first + i * inner] - largest);
    for (int64_t i = 0; i < size; ++i) {
      const double shifted = in[first + i * inner] - largest;
      result[first + i * inner] =
          static_cast<float>(op.log ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
  }
  return MakeConstant<float>(result);
}

}  // namespace rshift
