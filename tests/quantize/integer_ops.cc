#include "tests/quantize/integer_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/attributes.h"
#include "quantize/numerics/add.h"
#include "quantize/numerics/average_forms.h"
#include "quantize/numerics/average_pool.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/log_softmax.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/normalize.h"
#include "quantize/numerics/post_ops.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/softmax_row.h"

namespace rshift::test {
namespace {

namespace nm = ::rshift::numerics;

// ONNX Runtime computes on u8: 128 more than an s8.
int32_t Lift(const ByteType& type) { return type.is_signed ? 128 : 0; }

}  // namespace

int32_t FinishAccumulator(const QLinear& op, const ChannelRequant& r, int32_t acc, int32_t old,
                          int32_t zero_y) {
  if (op.rounding == Rounding::kHalfFloat) {
    const float h =
        nm::DequantizeHalf(acc, nm::WordToFloat(r.multiplier), nm::WordToFloat(r.rshift), op.half);
    return nm::QuantizeHalf(h, op.half, op.clamp.lo, op.clamp.hi);
  }
  if (op.post_ops.empty()) {
    return nm::RequantizeBy(op.rounding, acc, r.multiplier, r.rshift, zero_y, op.clamp.lo,
                            op.clamp.hi);
  }
  float f = nm::ScaledAccumulator(acc, nm::WordToFloat(r.rshift), nm::WordToFloat(r.multiplier));
  for (const PostOp& p : op.post_ops) {
    f = nm::ApplyPostOp(p, f, old);
  }
  return nm::RoundWithZero(f, zero_y, op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const isa::AddFloat& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y) {
  return nm::AddFloat(a, type_a.scale, type_a.zero, b, type_b.scale, type_b.zero, y.scale, y.zero,
                      op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const isa::Add& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y) {
  const int64_t sum =
      int64_t{a - type_a.zero} * op.multiplier + int64_t{b - type_b.zero} * op.multiplier2;
  EXPECT_LT(std::llabs(sum), int64_t{1} << 31);
  const int64_t rounded = op.rounding == Rounding::kHalfAway
                              ? nm::ShiftRightAway(sum, op.rshift)
                              : nm::ShiftRightRounded(sum, op.rshift);
  return nm::Clamp(rounded + y.zero, op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const isa::AddShifted& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y, bool in_block) {
  const auto scale = [&](int64_t v, const RequantWords& m) {
    return nm::ScaleInteger(op.rounding, static_cast<int32_t>(v), m.multiplier, m.rshift);
  };
  const auto high = [](double v, int32_t multiplier) {
    return nm::SaturatingRoundingDoublingHighMul(static_cast<int32_t>(v), multiplier);
  };
  const auto term = [&](int32_t v, const RequantWords& m) -> int64_t {
    const double shifted = std::ldexp(v, op.left_shift);
    const bool vectors = op.blocks == AddBlocks::kSixteen || op.blocks == AddBlocks::kEight;
    if (!in_block || !vectors) {
      return scale(static_cast<int64_t>(shifted), m);
    }
    if (op.blocks == AddBlocks::kSixteen) {
      return high(std::floor(std::ldexp(shifted, 31 - m.rshift)), m.multiplier);
    }
    return static_cast<int64_t>(std::floor(std::ldexp(high(shifted, m.multiplier), 31 - m.rshift)));
  };
  const int64_t u = term(a - type_a.zero, op.words);
  const int64_t v = term(b - type_b.zero, op.words2);
  const int64_t sum = op.blocks == AddBlocks::kSubtract ? u - v : u + v;
  return nm::Clamp(scale(sum, op.words3) + y.zero, op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const isa::AddFma& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y) {
  const auto fa = static_cast<float>(a + (op.keeps_sign ? 0 : Lift(type_a)));
  const auto fb = static_cast<float>(b + (op.keeps_sign ? 0 : Lift(type_b)));
  const float sum = std::fma(fa, op.ratio_a, std::fma(fb, op.ratio_b, op.fixed));
  const int32_t lift = op.keeps_sign ? 0 : Lift(y);
  return nm::RoundToByte(sum, 0, op.clamp.lo + lift, op.clamp.hi + lift) - lift;
}

int32_t PairResult(const isa::AddScaled& op, int32_t a, int32_t b, const ByteType&, const ByteType&,
                   const ByteType&) {
  const float sum =
      std::fma(static_cast<float>(a) - op.zero_a, op.ratio, static_cast<float>(b)) * op.scale;
  const float units = sum + op.shift;
  return nm::RoundToByte(units, -op.after, op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const isa::Mul& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y) {
  const int32_t product = (a - type_a.zero) * (b - type_b.zero);
  if (op.rounding != Rounding::kFloatZeroEven) {
    return nm::RequantizeBy(op.rounding, product, op.words.multiplier, op.words.rshift, y.zero,
                            op.clamp.lo, op.clamp.hi);
  }
  const int32_t lift = op.keeps_sign ? 0 : Lift(y);
  return nm::RequantizeFloatZeroEven(product, 0.0f, nm::WordToFloat(op.words.multiplier),
                                     y.zero + lift, op.clamp.lo + lift, op.clamp.hi + lift) -
         lift;
}

int32_t PairResult(const isa::Extremum& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y) {
  for (const ByteType* type : {&type_a, &type_b}) {
    EXPECT_EQ(type->scale, y.scale);
    EXPECT_EQ(type->zero, y.zero);
    EXPECT_EQ(type->is_signed, y.is_signed);
  }
  return std::clamp(op.min ? std::min(a, b) : std::max(a, b), op.clamp.lo, op.clamp.hi);
}

int32_t PairResult(const QDiv& op, int32_t a, int32_t b, const ByteType& type_a, const ByteType&,
                   const ByteType& y) {
  const double r = op.reciprocals[static_cast<uint8_t>(b)];
  const double v = std::floor((a - type_a.zero) * r / 4194304.0 + 0.5) + y.zero;
  return static_cast<int32_t>(std::clamp<double>(v, op.clamp.lo, op.clamp.hi));
}

int32_t PoolResult(const isa::AveragePool& op, double sum, int64_t count, const ByteType& x,
                   const ByteType& y) {
  const int32_t lo = op.clamp.lo, hi = op.clamp.hi;
  const auto total = static_cast<int32_t>(sum);
  const auto n = static_cast<int32_t>(count);
  switch (op.arithmetic) {
    case PoolArithmetic::kScaleOffset:
      return nm::AveragePool(total, n, op.scale, op.offset, lo, hi);
    case PoolArithmetic::kInteger:
      // std::lround is half away from zero, and the quotient of such integers is never within a
      // rounding error of a tie that it is not.
      return nm::Clamp(std::lround(sum / static_cast<double>(n)), lo, hi);
    case PoolArithmetic::kDequantized: {
      const float mean = static_cast<float>(sum) / static_cast<float>(n);
      const float scaled = mean / y.scale;
      const int32_t lift = op.keeps_sign ? 0 : Lift(y);
      return nm::RoundWithZero(scaled, y.zero + lift, lo + lift, hi + lift) - lift;
    }
    case PoolArithmetic::kRequantize:
      return nm::RequantizeBy(op.rounding, total - n * x.zero, op.words.multiplier, op.words.rshift,
                              y.zero, lo, hi);
    case PoolArithmetic::kScaleSumAway: {
      const float factor = op.scale / static_cast<float>(n);
      const float v = static_cast<float>(total - n * x.zero) * factor;
      return nm::Clamp(static_cast<int64_t>(std::round(v)) + y.zero, lo, hi);
    }
    case PoolArithmetic::kMeanScaleOffset: {
      const float centred =
          static_cast<float>(total) / static_cast<float>(n) - static_cast<float>(x.zero);
      const float scaled = centred * op.scale;
      const int32_t lift = Lift(y);
      return nm::RoundWithZero(scaled + op.offset, 0, lo + lift, hi + lift) - lift;
    }
    case PoolArithmetic::kRawSum:
      return nm::AverageRawSum(op.rounding, total, op.words.multiplier, op.words.rshift, op.offset,
                               lo, hi);
  }
  return 0;
}

// LogSoftmax, in the words of NUMERICS.md section 26.
void LogSoftmaxRow(const QSoftmax& op, std::span<double> row, const ByteType& y, float scale_x) {
  const double top = *std::max_element(row.begin(), row.end());
  uint64_t sum = 0;
  for (double x : row) sum += static_cast<uint64_t>(op.entries[static_cast<size_t>(top - x)]);
  const nm::LogSoftmaxScale scale = nm::MakeLogSoftmaxScale(scale_x, y.scale);
  const int64_t start = nm::LogSoftmaxStart(sum, scale, y.zero);
  for (double& x : row) {
    const auto difference = static_cast<int32_t>(top - x);
    x = nm::LogSoftmaxNumber(difference, start, scale, op.clamp.lo, op.clamp.hi);
  }
}

void SoftmaxRow(const QSoftmax& op, std::span<double> row, const ByteType& y, float scale_x) {
  if (op.arithmetic == SoftmaxArithmetic::kLogQuotient) return LogSoftmaxRow(op, row, y, scale_x);
  const double top = *std::max_element(row.begin(), row.end());
  const auto entry = [&](double x) { return op.entries[static_cast<size_t>(top - x)]; };
  if (op.arithmetic == SoftmaxArithmetic::kFixedPoint) {
    int32_t sum = 0;
    for (double x : row) sum += nm::ToAccumulation(entry(x));
    const nm::RowReciprocal reciprocal = nm::Reciprocal(sum);
    for (double& x : row) {
      x = nm::SoftmaxFixedPoint(entry(x), reciprocal, y.zero, op.clamp.lo, op.clamp.hi);
    }
    return;
  }
  if (op.arithmetic == SoftmaxArithmetic::kQuotient) {
    uint64_t sum = 0;
    for (double x : row) sum += static_cast<uint64_t>(entry(x));
    const nm::SoftmaxQuotientRow quotient =
        nm::QuotientRow(sum, nm::AccumulatorMultiplier(1.0 / static_cast<double>(y.scale)));
    for (double& x : row)
      x = nm::SoftmaxQuotient(entry(x), quotient, y.zero, op.clamp.lo, op.clamp.hi);
    return;
  }
  float sum = 0;
  for (double x : row) sum += std::bit_cast<float>(entry(x));
  if (op.arithmetic == SoftmaxArithmetic::kLogFloatTable) {
    const float slope = scale_x / y.scale,
                offset = (scale_x * static_cast<float>(top) + std::log(sum)) / y.scale;
    for (double& x : row) {
      const float v = std::round(static_cast<float>(x) * slope - offset);
      x = nm::Clamp(static_cast<int64_t>(v) + y.zero, op.clamp.lo, op.clamp.hi);
    }
    return;
  }
  for (double& x : row) {
    const auto e = std::bit_cast<float>(entry(x));
    if (op.arithmetic == SoftmaxArithmetic::kFloatQuotient) {
      const float numerator = e * std::floor(1.0f / y.scale);
      x = nm::RoundToByte(numerator / sum, y.zero, op.clamp.lo, op.clamp.hi);
      continue;
    }
    const float inverse = 1.0f / (sum * y.scale);
    const float v = e * inverse;
    const float whole = y.is_signed ? std::round(v) : std::trunc(v + 0.5f);
    x = nm::Clamp(static_cast<int64_t>(whole) + y.zero, op.clamp.lo, op.clamp.hi);
  }
}

void NormalizeElements(const QNormalize& op, size_t first_number, size_t step,
                       std::span<double> elements, const ByteType& x) {
  const auto n = static_cast<int64_t>(elements.size());
  int64_t sum = 0, squares = 0;
  for (const double q : elements) {
    const auto v = static_cast<int64_t>(q) - x.zero;
    sum += v;
    squares += v * v;
  }
  if (!op.center) sum = 0;
  const nm::InverseDeviation by =
      nm::Invert(n * squares - sum * sum, op.epsilon, op.variance_shift);
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto v = static_cast<int64_t>(elements[i]) - x.zero;
    const int32_t normal = nm::Normalized(static_cast<int32_t>(n * v - sum), by);
    const size_t number = first_number + i * step;
    elements[i] = nm::ScaleNormalized(normal, op.row_factors[number], op.row_offsets[number],
                                      op.rshift, op.clamp.lo, op.clamp.hi);
  }
}

}  // namespace rshift::test
