#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "isa/function_names.h"
#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

double NotInterpreted(BinaryOp op) {
  Fail(ErrorCode::kInternal, "no formula of ", Name(op), " stands here");
}

double Clamped(double v, const Clamp& clamp) {
  return std::min<double>(std::max<double>(v, clamp.lo), clamp.hi);
}

void AddBias(const Context& c, const Clamp& clamp, Tensor* y) {
  for (size_t i = 0; i < y->data.size(); ++i) {
    if (c.has(2)) y->data[i] += c.in(2).data[i % c.in(2).data.size()];
    y->data[i] = Clamped(y->data[i], clamp);
  }
}

// Elements of y.data[first + i * step], i < size.
void NormalizeReals(Tensor* y, size_t first, size_t size, size_t step, double epsilon,
                    bool rms = false) {
  double mean = 0, variance = 0;
  for (size_t i = 0; i < size && !rms; ++i) mean += y->data[first + i * step];
  mean /= static_cast<double>(size);
  for (size_t i = 0; i < size; ++i) variance += std::pow(y->data[first + i * step] - mean, 2);
  const double deviation = std::sqrt(variance / static_cast<double>(size) + epsilon);
  for (size_t i = 0; i < size; ++i)
    y->data[first + i * step] = (y->data[first + i * step] - mean) / deviation;
}

}  // namespace

Tensor Interpret(const Context& c, const Conv& op) {
  Tensor y = Convolve(c, op.window, op.groups, [](int64_t) { return 0.0; });
  AddBias(c, op.clamp, &y);
  return y;
}

Tensor Interpret(const Context& c, const MatMul& op) {
  Tensor y = MultiplyBatches(c, 0, 0);
  AddBias(c, op.clamp, &y);
  return y;
}

Tensor Interpret(const Context& c, const MaxPool& op) {
  return Pool(c, op.window, true, false, 0, [](double v, int64_t) { return v; });
}

Tensor Interpret(const Context& c, const AveragePool& op) {
  return Pool(c, op.window, false, op.count_include_pad, 0,
              [](double sum, int64_t count) { return sum / static_cast<double>(count); });
}

Tensor Interpret(const Context& c, const Binary& op) {
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double a = Broadcasted(c.in(0), y.shape, static_cast<int64_t>(i));
    const double b = Broadcasted(c.in(1), y.shape, static_cast<int64_t>(i));
    const double v = op.op == BinaryOp::kAdd                 ? a + b
                     : op.op == BinaryOp::kMul               ? a * b
                     : op.op == BinaryOp::kDiv               ? a / b
                     : op.op == BinaryOp::kMax               ? std::max(a, b)
                     : op.op == BinaryOp::kMin               ? std::min(a, b)
                     : op.op == BinaryOp::kPow               ? std::pow(a, b)
                     : op.op == BinaryOp::kMod               ? std::fmod(a, b)
                     : op.op == BinaryOp::kLess              ? (a < b ? 1 : 0)
                     : op.op == BinaryOp::kLessOrEqual       ? (a <= b ? 1 : 0)
                     : op.op == BinaryOp::kGreater           ? (a > b ? 1 : 0)
                     : op.op == BinaryOp::kGreaterOrEqual    ? (a >= b ? 1 : 0)
                     : op.op == BinaryOp::kEqual             ? (a == b ? 1 : 0)
                     : op.op == BinaryOp::kSquaredDifference ? (a - b) * (a - b)
                     : op.op == BinaryOp::kSub               ? a - b
                                                             : NotInterpreted(op.op);
    y.data[i] = Clamped(v, op.clamp);
  }
  return y;
}

Tensor Interpret(const Context& c, const Clip& op) {
  return EachElement(c, [&](double v) { return Clamped(v, op.clamp); });
}

// Between f32 and f16.
Tensor Interpret(const Context& c, const Cast&) {
  return EachElement(c, [](double v) {
    return static_cast<double>(HalfToFloat(FloatToHalf(static_cast<float>(v))));
  });
}

Tensor Interpret(const Context& c, const LeakyRelu& op) {
  return EachElement(c, [&](double v) { return v >= 0 ? v : op.alpha * v; });
}

Tensor Interpret(const Context& c, const PRelu&) {
  Tensor y = c.in(0);
  for (size_t i = 0; i < y.data.size(); ++i) {
    if (y.data[i] < 0) y.data[i] *= Broadcasted(c.in(1), y.shape, static_cast<int64_t>(i));
  }
  return y;
}

Tensor Interpret(const Context& c, const Unary& op) {
  const auto function = [&](double v) {
    if (op.op == UnaryOp::kTanh) return std::tanh(v);
    if (op.op == UnaryOp::kLog) return std::log(v);
    if (op.op == UnaryOp::kHardSwish) return v * std::clamp(v / 6 + 0.5, 0.0, 1.0);
    const double logistic = 1 / (1 + std::exp(-v));
    if (op.op == UnaryOp::kSilu) return v * logistic;
    EXPECT_EQ(op.op, UnaryOp::kSigmoid);
    return logistic;
  };
  const auto factor = [](const std::vector<int32_t>& exponents, size_t i) {
    return exponents.empty() ? 1.0 : std::exp2(exponents[i % exponents.size()]);
  };
  Tensor y = c.in(0);
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] =
        function(y.data[i] * factor(op.input_exponents, i)) / factor(op.output_exponents, i);
  return y;
}

Tensor Interpret(const Context& c, const Softmax& op) {
  Tensor y = c.in(0);
  const auto axis = op.axis < 0 ? y.shape.end() + op.axis : y.shape.begin() + op.axis;
  const auto size = static_cast<size_t>(*axis);
  const auto inner = static_cast<size_t>(NumElements(Shape(axis + 1, y.shape.end())));
  for (size_t i = 0; i < y.data.size() / size; ++i) {
    double* row = y.data.data() + i / inner * size * inner + i % inner;
    double sum = 0;
    for (size_t j = 0; j < size; ++j) sum += row[j * inner] = std::exp(row[j * inner]);
    for (size_t j = 0; j < size; ++j) {
      row[j * inner] /= sum;
      if (op.log) row[j * inner] = std::log(row[j * inner]);
    }
  }
  return y;
}

Tensor Interpret(const Context& c, const LayerNorm& op) {
  Tensor y = c.in(0);
  const auto size =
      static_cast<size_t>(NumElements(Shape(y.shape.begin() + op.axis, y.shape.end())));
  for (size_t row = 0; row < y.data.size(); row += size)
    NormalizeReals(&y, row, size, 1, static_cast<double>(op.epsilon), op.rms);
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = y.data[i] * c.in(1).data[i % size] + (c.has(2) ? c.in(2).data[i % size] : 0);
  return y;
}

Tensor Interpret(const Context& c, const InstanceNorm& op) {  // NHWC
  Tensor y = c.in(0);
  const auto channels = static_cast<size_t>(y.shape.back());
  const size_t pixels = y.data.size() / channels / static_cast<size_t>(y.shape[0]);
  for (size_t image = 0; image < y.data.size(); image += pixels * channels)
    for (size_t channel = 0; channel < channels; ++channel)
      NormalizeReals(&y, image + channel, pixels, channels, static_cast<double>(op.epsilon));
  for (size_t i = 0; i < y.data.size(); ++i)
    y.data[i] = y.data[i] * c.in(1).data[i % channels] + c.in(2).data[i % channels];
  return y;
}

}  // namespace rshift::test::interpreter
