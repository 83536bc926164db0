#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "quantize/numerics/leaky_relu.h"
#include "quantize/numerics/prelu.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/resize.h"
#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

namespace nm = ::rshift::numerics;

// Of element i; null where accumulators below 0 have no words of their own.
template <typename Product>
const RequantWords* WordsBelowZero(const Product& op, size_t i) {
  if constexpr (requires { op.negative; })
    return op.negative.empty() ? nullptr : &op.negative[i % op.negative.size()];
  return nullptr;
}

template <typename Product>
void RequantizeAll(const Context& c, const Product& op, Tensor* y) {
  const int32_t zero = c.out().quant->zero_point;
  const Tensor* addend = c.has(2) ? &c.in(2) : nullptr;
  for (size_t i = 0; i < y->data.size(); ++i) {
    ChannelRequant r = op.channels[i % op.channels.size()];
    const double acc = y->data[i] + r.bias;
    if (const RequantWords* below = WordsBelowZero(op, i); acc < 0 && below != nullptr) {
      r.multiplier = below->multiplier;
      r.rshift = below->rshift;
    }
    ASSERT_LT(std::fabs(acc), 2147483648.0) << c.node.name << ": the accumulator overflows";
    const auto old = addend == nullptr ? 0 : static_cast<int32_t>(addend->data[i]);
    y->data[i] = FinishAccumulator(op, r, static_cast<int32_t>(acc), old, zero);
  }
}

template <typename Pair>
Tensor Pairs(const Context& c, const Pair& op) {
  const ByteType a = TypeOf(c.meta(0)), b = TypeOf(c.meta(1)), q = TypeOf(c.out());
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = PairResult(op, Operand(c, 0, y.shape, i), Operand(c, 1, y.shape, i), a, b, q);
  }
  return y;
}

std::pair<int32_t, int32_t> Limits(DType type) {
  if (type == DType::kS16) return {-32768, 32767};
  return type == DType::kU8 ? std::pair{0, 255} : std::pair{-128, 127};
}

}  // namespace

Tensor Interpret(const Context& c, const Quantize& op) {
  const QuantParams& q = *c.out().quant;
  const auto [lo, hi] = Limits(c.out().dtype);
  return EachElement(c, [&, l = lo, h = hi](double v) {
    const auto by = op.by_reciprocal ? nm::QuantizeByReciprocal : nm::QuantizeValueBy;
    return by(op.rounding, static_cast<float>(v), q.scale, q.zero_point, l, h);
  });
}

Tensor Interpret(const Context& c, const Dequantize&) {
  const QuantParams& q = *c.meta(0).quant;
  return EachElement(c, [&](double v) {
    return nm::DequantizeValue(static_cast<int32_t>(v), q.scale, q.zero_point);
  });
}

Tensor Interpret(const Context& c, const Requantize& op) {
  const int32_t zx = c.meta(0).quant->zero_point, zy = c.out().quant->zero_point;
  return EachElement(c, [&](double v) {
    return nm::RequantizeByte(Rounding::kHalfUp, static_cast<int32_t>(v), zx, op.words.multiplier,
                              op.words.rshift, zy, op.clamp.lo, op.clamp.hi);
  });
}

Tensor Interpret(const Context& c, const QConv& op) {
  const auto pad = [&](int64_t channel) {
    if (op.zero_x.empty()) return static_cast<double>(c.meta(0).quant->zero_point);
    const uint8_t byte = op.zero_x[channel];
    const bool is_signed = c.meta(0).dtype == DType::kS8;
    return static_cast<double>(is_signed ? static_cast<int8_t>(byte) : byte);
  };
  Tensor y = Convolve(c, op.window, op.groups, pad, op.zero_w);
  RequantizeAll(c, op, &y);
  return y;
}

Tensor Interpret(const Context& c, const QConvTranspose& op) {
  Tensor y = ConvolveTransposed(c, op.conv, c.meta(0).quant->zero_point);
  RequantizeAll(c, op.conv, &y);
  return y;
}

Tensor Interpret(const Context& c, const QMatMul& op) {
  Tensor y = Multiply(c, op.zero_w);
  RequantizeAll(c, op, &y);
  return y;
}

Tensor Interpret(const Context& c, const isa::BatchedMatMul& op) {
  Tensor y = MultiplyBatches(c, TypeOf(c.meta(0)).zero, TypeOf(c.meta(1)).zero);
  for (double& v : y.data) {
    EXPECT_LT(std::fabs(v), 2147483648.0) << c.node.name << ": the accumulator overflows";
    v = nm::RequantizeBy(op.rounding, static_cast<int32_t>(v), op.words.multiplier, op.words.rshift,
                         TypeOf(c.out()).zero, op.clamp.lo, op.clamp.hi);
  }
  return y;
}

Tensor Interpret(const Context& c, const QNormalize& op) {
  Tensor y = c.in(0);
  const auto axis = y.shape.begin() + op.axis;
  const size_t inner = op.channels ? static_cast<size_t>(y.shape.back()) : 1;
  const size_t size = static_cast<size_t>(NumElements(Shape(axis, y.shape.end()))) / inner;
  std::vector<double> together(size);
  for (size_t outer = 0; outer < y.data.size(); outer += size * inner) {
    for (size_t channel = 0; channel < inner; ++channel) {
      double* first = y.data.data() + outer + channel;
      for (size_t i = 0; i < size; ++i) together[i] = first[i * inner];
      NormalizeElements(op, channel, op.channels ? 0 : 1, together, TypeOf(c.meta(0)));
      for (size_t i = 0; i < size; ++i) first[i * inner] = together[i];
    }
  }
  return y;
}

// Sums of products in double, which is exact; the record is {1, zero point}.
Tensor Interpret(const Context& c, const DynamicMatMul&) {
  const Tensor &x = c.in(0), &w = c.in(1);
  const double zero = c.in(2).data[1];
  const size_t k = static_cast<size_t>(w.shape[0]), n = static_cast<size_t>(w.shape[1]);
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = 0;
    for (size_t j = 0; j < k; ++j)
      y.data[i] += (x.data[i / n * k + j] - zero) * w.data[j * n + i % n];
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::Add& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const isa::AddFloat& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const isa::AddShifted& op) {
  const ByteType a = TypeOf(c.meta(0)), b = TypeOf(c.meta(1)), q = TypeOf(c.out());
  Tensor y = c.Empty();
  const size_t block = op.blocks == AddBlocks::kSixteen ? 16 : 8;
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = PairResult(op, Operand(c, 0, y.shape, i), Operand(c, 1, y.shape, i), a, b, q,
                           i < y.data.size() / block * block);
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::AddFma& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const isa::AddScaled& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const isa::Mul& op) { return Pairs(c, op); }

// By the definition: the sum over the taps of all dimensions, in double, which is exact.
Tensor Interpret(const Context& c, const QResize& op) {
  const Tensor& x = c.in(0);
  const double zero = c.meta(0).quant->zero_point;
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double real = ResizeAt(op.taps, x, y.shape, static_cast<int64_t>(i), nm::kResizeBits);
    const bool same = op.words.multiplier == 0;
    const int bits = ResizedBits(op.taps, y.shape, nm::kResizeBits);
    const double factor = same ? 1 : std::ldexp(op.words.multiplier, bits - op.words.rshift);
    const double v = same ? real : (real - zero) * factor + c.out().quant->zero_point;
    y.data[i] = std::clamp<double>(std::floor(v + 0.5), op.clamp.lo, op.clamp.hi);
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::Extremum& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const QDiv& op) { return Pairs(c, op); }

Tensor Interpret(const Context& c, const QBinaryTable& op) {
  const bool is_signed = c.out().dtype == DType::kS8;
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const auto a = static_cast<uint8_t>(Operand(c, 0, y.shape, i));
    const auto b = static_cast<uint8_t>(Operand(c, 1, y.shape, i));
    const uint8_t byte = op.entries[256 * size_t{a} + b];
    y.data[i] = is_signed ? static_cast<int8_t>(byte) : byte;
  }
  return y;
}

Tensor Interpret(const Context& c, const QSoftmax& op) {
  const ByteType q = TypeOf(c.out());
  Tensor y = c.in(0);
  const size_t width = static_cast<size_t>(y.shape.back());
  for (size_t row = 0; row < y.data.size(); row += width) {
    SoftmaxRow(op, std::span(y.data).subspan(row, width), q, TypeOf(c.meta(0)).scale);
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::AveragePool& op) {
  const ByteType x = TypeOf(c.meta(0)), q = TypeOf(c.out());
  if (op.arithmetic == PoolArithmetic::kDequantized) {
    // The sum is a sum of floats: in window order, each addition rounded.
    const auto add = [&](double sum, double v) {
      const float real = nm::DequantizeValue(static_cast<int32_t>(v), x.scale, x.zero);
      return static_cast<double>(static_cast<float>(sum) + real);
    };
    return Pool(
        c, op.window, false, op.count_include_pad, x.zero,
        [&](double sum, int64_t count) { return PoolResult(op, sum, count, x, q); }, add);
  }
  return Pool(c, op.window, false, op.count_include_pad, x.zero,
              [&](double sum, int64_t count) { return PoolResult(op, sum, count, x, q); });
}

Tensor Interpret(const Context& c, const isa::LeakyRelu& op) {
  const nm::LeakyParams p{
      c.meta(0).quant->zero_point, c.out().quant->zero_point, op.multiplier, op.rshift,
      op.positive.multiplier,      op.positive.rshift,        op.clamp.lo,   op.clamp.hi};
  return EachElement(c, [&](double v) { return nm::LeakyRelu(static_cast<int32_t>(v), p); });
}

Tensor Interpret(const Context& c, const QPRelu& op) {
  Tensor y = c.in(0);
  nm::LeakyParams p{
      c.meta(0).quant->zero_point, c.out().quant->zero_point, 0,           op.rshift,
      op.positive.multiplier,      op.positive.rshift,        op.clamp.lo, op.clamp.hi};
  for (size_t i = 0; i < y.data.size(); ++i) {
    p.multiplier = op.slopes[i % op.slopes.size()];
    y.data[i] = nm::PRelu(static_cast<int32_t>(y.data[i]), p);
  }
  return y;
}

Tensor Interpret(const Context& c, const QTable& op) {
  const bool is_signed = c.out().dtype == DType::kS8;
  return EachElement(c, [&](double v) {
    const uint8_t byte = op.entries[static_cast<uint8_t>(static_cast<int32_t>(v))];
    return is_signed ? static_cast<double>(static_cast<int8_t>(byte)) : static_cast<double>(byte);
  });
}

Tensor Interpret(const Context& c, const QChannelTables& op) {
  const bool is_signed = c.out().dtype == DType::kS8;
  Tensor y = c.in(0);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t table = op.table_of_channel[i % op.table_of_channel.size()];
    const uint8_t byte =
        op.entries[256 * table + static_cast<uint8_t>(static_cast<int32_t>(y.data[i]))];
    y.data[i] = is_signed ? static_cast<int8_t>(byte) : byte;
  }
  return y;
}

}  // namespace rshift::test::interpreter
