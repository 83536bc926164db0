#include <algorithm>
#include <cmath>

#include "quantize/numerics/compare.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/int16_pairs.h"
#include "quantize/numerics/resize.h"
#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

namespace nm = ::rshift::numerics;

// To the nearest integer, ties upwards, plus y's zero point.
double HeldInt16(const Context& c, double v, const ClampQ& clamp) {
  return std::clamp<double>(std::floor(v + 0.5) + c.out().quant->zero_point, clamp.lo, clamp.hi);
}

// Of both operands less their zero points.
template <typename Function>
Tensor PairsOfInt16(const Context& c, const RequantWords& words, const ClampQ& clamp,
                    const Function& f) {
  Tensor y = c.Empty();
  const double za = c.meta(0).quant->zero_point, zb = c.meta(1).quant->zero_point;
  const double factor = std::ldexp(words.multiplier, -words.rshift);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double a = Operand(c, 0, y.shape, i) - za, b = Operand(c, 1, y.shape, i) - zb;
    y.data[i] = HeldInt16(c, f(a, b) * factor, clamp);
  }
  return y;
}

}  // namespace

// Sums of 47 bits times a multiplier of 16, in double: near a tie one unit off at most.
Tensor Interpret(const Context& c, const QResizeS16& op) {
  Tensor y = c.Empty();
  const int bits = ResizedBits(op.taps, y.shape, nm::kResizeInt16Bits);
  const double factor = std::ldexp(op.words.multiplier, bits - op.words.rshift);
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double v =
        ResizeAt(op.taps, c.in(0), y.shape, static_cast<int64_t>(i), nm::kResizeInt16Bits);
    y.data[i] = HeldInt16(c, v * factor, op.clamp);
  }
  return y;
}

// Sums alone where y has 32 bits.
Tensor Interpret(const Context& c, const QMatMulS16& op) {
  Tensor y = Multiply(c);
  if (c.out().dtype == DType::kS32) return y;
  for (size_t i = 0; i < y.data.size(); ++i) {
    const ChannelRequant& record = op.channels[i % op.channels.size()];
    y.data[i] = HeldInt16(
        c, std::ldexp((y.data[i] + record.bias) * record.multiplier, -record.rshift), op.clamp);
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::RequantizeS16& op) {
  const double zero = c.meta(0).quant->zero_point;
  const double factor =
      op.words.multiplier == 0 ? 1 : std::ldexp(op.words.multiplier, -op.words.rshift);
  return EachElement(c, [&](double v) { return HeldInt16(c, (v - zero) * factor, op.clamp); });
}

Tensor Interpret(const Context& c, const QTableS16& op) {
  int bits = 3;
  while (op.entries.empty() && (65536 >> bits) + 1 > static_cast<int>(op.interpolated.size()))
    ++bits;
  return EachElement(c, [&](double v) {
    if (!op.entries.empty()) return static_cast<double>(op.entries[static_cast<size_t>(v + 32768)]);
    return static_cast<double>(nm::InterpolateInt16(
        op.interpolated.data(), bits, static_cast<int32_t>(v), 0, op.clamp.lo, op.clamp.hi));
  });
}

Tensor Interpret(const Context& c, const isa::AddS16& op) {
  return PairsOfInt16(c, {1, op.rshift}, op.clamp,
                      [&](double a, double b) { return a * op.multiplier + b * op.multiplier2; });
}

Tensor Interpret(const Context& c, const isa::MulS16& op) {
  return PairsOfInt16(c, op.words, op.clamp, [](double a, double b) { return a * b; });
}

Tensor Interpret(const Context& c, const isa::DivS16& op) {
  return PairsOfInt16(c, op.words, op.clamp, [](double a, double b) { return a == 0 ? 0 : a / b; });
}

Tensor Interpret(const Context& c, const isa::ModS16& op) {
  return PairsOfInt16(c, op.words, op.clamp, [&](double a, double b) {
    return b == 0
               ? 0
               : std::fmod(a * static_cast<double>(op.factor), b * static_cast<double>(op.factor2));
  });
}

Tensor Interpret(const Context& c, const QPowS16& op) {
  const double one = std::ldexp(1.0, nm::kPowFraction);
  return PairsOfInt16(c, {1, 0}, op.clamp, [&](double a, double b) {
    const double base = a * std::exp2(static_cast<double>(op.log_src) / one);
    const double exponent = b * std::ldexp(op.words.multiplier, -op.words.rshift);
    const double power =
        std::pow(base, exponent) / std::exp2(static_cast<double>(op.log_dst) / one);
    return std::isnan(power) ? 0 : power;
  });
}

Tensor Interpret(const Context& c, const isa::CompareS16& op) {
  Tensor y = c.Empty();
  const double za = c.meta(0).quant->zero_point, zb = c.meta(1).quant->zero_point;
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double a = (Operand(c, 0, y.shape, i) - za) * static_cast<double>(op.factor);
    const double b = (Operand(c, 1, y.shape, i) - zb) * static_cast<double>(op.factor2);
    y.data[i] = nm::Compare(op.op, static_cast<int64_t>(a), static_cast<int64_t>(b)) ? 1 : 0;
  }
  return y;
}

Tensor Interpret(const Context& c, const isa::AveragePoolS16& op) {
  const double factor = std::ldexp(op.words.multiplier, -op.words.rshift);
  return Pool(c, op.window, false, op.count_include_pad, 0, [&](double sum, int64_t count) {
    return HeldInt16(c, sum * factor / static_cast<double>(count), op.clamp);
  });
}

Tensor Interpret(const Context& c, const isa::ReduceSquares& op) {
  const Tensor& x = c.in(0);
  Tensor y = c.Empty();
  const double zero = c.meta(0).quant->zero_point;
  const auto inner = static_cast<size_t>(x.shape[3]);
  const size_t rows = static_cast<size_t>(x.shape[1]) * inner;
  for (size_t i = 0; i < x.data.size(); ++i)
    y.data[i / rows * inner + i % inner] += (x.data[i] - zero) * (x.data[i] - zero);
  const double factor = std::ldexp(op.words.multiplier, -op.words.rshift);
  for (double& v : y.data) v = HeldInt16(c, (op.root ? std::sqrt(v) : v) * factor, op.clamp);
  return y;
}

}  // namespace rshift::test::interpreter
