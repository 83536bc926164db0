#include <algorithm>
#include <cmath>

#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

template <typename Cell>
double CellGate(const Context& c, const Cell& op, size_t first, size_t width, size_t row,
                size_t column, bool part = false, bool recurrent = false) {
  const size_t at = row * width + column, offset = static_cast<size_t>(op.row) * width;
  double sum = static_cast<double>(op.numbers.gate_offsets[column]);
  if (!recurrent) {
    sum += c.in(first).data[offset + at] * op.numbers.gate_factors[column];
  } else {
    sum = static_cast<double>(op.numbers.gate_offsets[column + width / 3]);
  }
  if (!part && c.has(first + 1))
    sum += c.in(first + 1).data[at] * op.numbers.gate_factors[width + column];
  return std::ldexp(sum, -op.rshift - 16);
}

double SigmoidOfHalf(double t) { return (1 + std::tanh(t)) / 2; }

double AsState(double v) { return std::clamp<double>(std::floor(v + 0.5), -32768, 32767); }

}  // namespace

Tensor Interpret(const Context& c, const QLstmCell& op) {
  Tensor y = c.Empty();
  const size_t hidden = static_cast<size_t>(y.shape.back());
  for (size_t i = 0; i < y.data.size(); ++i) {
    const auto gate = [&](size_t g) {
      return CellGate(c, op, 0, 4 * hidden, i / hidden, g * hidden + i % hidden);
    };
    const double kept = c.has(2) ? SigmoidOfHalf(gate(1)) * c.in(2).data[i] : 0;
    y.data[i] =
        AsState(kept + std::ldexp(SigmoidOfHalf(gate(0)) * std::tanh(gate(2)), op.state_bits));
  }
  return y;
}

Tensor Interpret(const Context& c, const QGruCell& op) {
  Tensor y = c.Empty();
  const size_t hidden = static_cast<size_t>(y.shape.back());
  for (size_t i = 0; i < y.data.size(); ++i) {
    const auto gate = [&](size_t g, bool part = false, bool recurrent = false) {
      return CellGate(c, op, 0, 3 * hidden, i / hidden, g * hidden + i % hidden, part, recurrent);
    };
    const double z = SigmoidOfHalf(gate(0));
    const double memory =
        op.resets_product ? gate(2, true) + SigmoidOfHalf(gate(1)) * gate(2, false, true) : gate(2);
    const double kept = c.has(2) ? z * c.in(2).data[i] : 0;
    y.data[i] = AsState(kept + std::ldexp((1 - z) * std::tanh(memory), op.state_bits));
  }
  return y;
}

Tensor Interpret(const Context& c, const QGatedOutput& op) {
  Tensor y = c.Empty();
  const ByteType q = TypeOf(c.out());
  const size_t hidden = static_cast<size_t>(y.shape.back());
  const size_t width = op.numbers.gate_factors.size() / 2;
  const int bits = op.tanh ? 15 : op.state_bits;
  for (size_t i = 0; i < y.data.size(); ++i) {
    double v = c.in(0).data[i];
    if (op.tanh)
      v = std::tanh(std::ldexp(v, -op.state_bits));
    else
      v = std::ldexp(v, -op.state_bits);
    const size_t column = static_cast<size_t>(op.gate) * hidden + i % hidden;
    if (c.has(1)) v *= SigmoidOfHalf(CellGate(c, op, 1, width, i / hidden, column));
    const double factor =
        std::ldexp(op.words.multiplier, bits + (c.has(1) ? 15 : 0) - op.words.rshift);
    y.data[i] = std::clamp<double>(std::floor(v * factor + 0.5) + q.zero, op.clamp.lo, op.clamp.hi);
  }
  return y;
}

}  // namespace rshift::test::interpreter
