#include "tests/quantize/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/half.h"
#include "isa/attributes.h"
#include "isa/function_names.h"
#include "quantize/numerics/compare.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/int16_pairs.h"
#include "quantize/numerics/prelu.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/resize.h"
#include "quantize/numerics/resize_taps.h"
#include "tests/quantize/integer_ops.h"

namespace rshift::test {
namespace {

double NotInterpreted(BinaryOp op) {
  Fail(ErrorCode::kInternal, "no formula of ", Name(op), " stands here");
}

namespace nm = ::rshift::numerics;

struct Context {
  const Graph& graph;
  const Node& node;
  const std::vector<Tensor>& values;

  const Tensor& in(size_t i) const { return values[node.inputs[i].index()]; }
  bool has(size_t i) const { return node.inputs.size() > i && node.inputs[i].valid(); }
  const Value& meta(size_t i) const { return graph.value(node.inputs[i]); }
  const Value& out() const { return graph.value(node.outputs[0]); }
  Tensor Empty() const {
    return {out().shape, std::vector<double>(static_cast<size_t>(NumElements(out().shape)), 0.0)};
  }
};

ByteType TypeOf(const Value& value) {
  return {value.quant->scale, value.quant->zero_point, value.dtype == DType::kS8};
}

double Clamped(double v, const Clamp& clamp) {
  return std::min<double>(std::max<double>(v, clamp.lo), clamp.hi);
}

std::vector<int64_t> Index(const Shape& shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

int64_t Flat(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

// Calls visit(output offset, {input row, input column}, tap) for the taps of NHWC windows; row -1
// is a pad.
using Visit = std::function<void(int64_t n, int64_t oh, int64_t ow, int64_t h, int64_t w,
                                 int64_t kh, int64_t kw)>;
void ForEachTap(const Window& window, const Shape& x, const Shape& y, const Visit& visit) {
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t oh = 0; oh < y[1]; ++oh)
      for (int64_t ow = 0; ow < y[2]; ++ow)
        for (int64_t kh = 0; kh < window.kernel_h; ++kh)
          for (int64_t kw = 0; kw < window.kernel_w; ++kw) {
            const int64_t h = oh * window.stride_h - window.pad_top + kh * window.dilation_h;
            const int64_t w = ow * window.stride_w - window.pad_left + kw * window.dilation_w;
            const bool inside = h >= 0 && h < x[1] && w >= 0 && w < x[2];
            visit(n, oh, ow, inside ? h : -1, inside ? w : -1, kh, kw);
          }
}

// Sum of x * w; `pad` is what a pad of each channel holds.
Tensor Convolve(const Context& c, const Window& window, int64_t groups,
                const std::function<double(int64_t)>& pad,
                const std::vector<int32_t>& zero_w = {}) {
  const Tensor &x = c.in(0), &w = c.in(1);
  Tensor y = c.Empty();
  const int64_t oc_per_group = w.shape[0] / groups, ic_per_group = w.shape[1];
  ForEachTap(
      window, x.shape, y.shape, [&](auto n, auto oh, auto ow, auto h, auto col, auto kh, auto kw) {
        for (int64_t oc = 0; oc < w.shape[0]; ++oc) {
          double& sum = y.data[((n * y.shape[1] + oh) * y.shape[2] + ow) * y.shape[3] + oc];
          for (int64_t ic = 0; ic < ic_per_group; ++ic) {
            const int64_t channel = oc / oc_per_group * ic_per_group + ic;
            const double v =
                h < 0 ? pad(channel)
                      : x.data[((n * x.shape[1] + h) * x.shape[2] + col) * x.shape[3] + channel];
            const double zero = zero_w.empty() ? 0 : zero_w[oc];
            sum +=
                v * (w.data[((oc * ic_per_group + ic) * w.shape[2] + kh) * w.shape[3] + kw] - zero);
          }
        }
      });
  return y;
}

// By the definition, for every output and every tap of the whole kernel; a tap that meets no
// position of x reads `pad`.
Tensor ConvolveTransposed(const Context& c, const QConv& op, double pad) {
  const Tensor &x = c.in(0), &w = c.in(1);  // [OC, IC / groups, KH, KW]
  Tensor y = c.Empty();
  const Window& o = op.window;
  const int64_t oc_per_group = w.shape[0] / op.groups, ic_per_group = w.shape[1];
  const auto source = [](int64_t out, int64_t tap, int64_t stride, int64_t in) {
    const int64_t at = out - tap;
    return at >= 0 && at % stride == 0 && at / stride < in ? at / stride : -1;
  };
  for (size_t i = 0; i < y.data.size(); ++i) {
    const std::vector<int64_t> at = Index(y.shape, static_cast<int64_t>(i));
    const int64_t oc = at[3], first = oc / oc_per_group * ic_per_group;
    const double zero = op.zero_w.empty() ? 0 : op.zero_w[oc];
    for (int64_t k = 0; k < ic_per_group * w.shape[2] * w.shape[3]; ++k) {
      const std::vector<int64_t> tap = Index({ic_per_group, w.shape[2], w.shape[3]}, k);
      const int64_t row = source(at[1] + o.pad_top, tap[1] * o.dilation_h, o.stride_h, x.shape[1]);
      const int64_t column =
          source(at[2] + o.pad_left, tap[2] * o.dilation_w, o.stride_w, x.shape[2]);
      const bool inside = row >= 0 && column >= 0;
      const double v = inside ? x.data[Flat(x.shape, {at[0], row, column, first + tap[0]})] : pad;
      y.data[i] += v * (w.data[Flat(w.shape, {oc, tap[0], tap[1], tap[2]})] - zero);
    }
  }
  return y;
}

// Of two tensors [..., M, K] and [..., K, N], less their zero points, broadcast.
Tensor MultiplyBatches(const Context& c, double zero_a, double zero_b) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor y = c.Empty();
  const auto at = [](const Tensor& t, const std::vector<int64_t>& index, int64_t row,
                     int64_t column) {
    int64_t flat = 0;
    const size_t lead = t.shape.size() - 2, skip = index.size() - t.shape.size();
    for (size_t d = 0; d < lead; ++d)
      flat = flat * t.shape[d] + (t.shape[d] == 1 ? 0 : index[d + skip]);
    return t.data[(flat * t.shape[lead] + row) * t.shape[lead + 1] + column];
  };
  for (size_t i = 0; i < y.data.size(); ++i) {
    const std::vector<int64_t> index = Index(y.shape, static_cast<int64_t>(i));
    const int64_t row = index[index.size() - 2], column = index.back();
    for (int64_t k = 0; k < a.shape.back(); ++k)
      y.data[i] += (at(a, index, row, k) - zero_a) * (at(b, index, k, column) - zero_b);
  }
  return y;
}

Tensor Multiply(const Context& c, const std::vector<int32_t>& zero_w = {}) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor y = c.Empty();
  const int64_t k = b.shape[0], n = b.shape[1];
  for (size_t i = 0; i < y.data.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / n, column = static_cast<int64_t>(i) % n;
    const double zero = zero_w.empty() ? 0 : zero_w[column];
    for (int64_t j = 0; j < k; ++j) {
      y.data[i] += a.data[row * k + j] * (b.data[j * n + column] - zero);
    }
  }
  return y;
}

void AddBias(const Context& c, const Clamp& clamp, Tensor* y) {
  for (size_t i = 0; i < y->data.size(); ++i) {
    if (c.has(2)) y->data[i] += c.in(2).data[i % c.in(2).data.size()];
    y->data[i] = Clamped(y->data[i], clamp);
  }
}

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

Tensor Pool(const Context& c, const Window& window, bool max, bool count_pad, double pad,
            const std::function<double(double sum, int64_t count)>& finish,
            const std::function<double(double, double)>& add = std::plus<double>()) {
  const Tensor& x = c.in(0);
  Tensor y = c.Empty();
  std::vector<int64_t> counts(y.data.size(), 0);
  if (max) std::fill(y.data.begin(), y.data.end(), -std::numeric_limits<double>::infinity());
  ForEachTap(window, x.shape, y.shape, [&](auto n, auto oh, auto ow, auto h, auto w, auto, auto) {
    if (h < 0 && (max || !count_pad)) return;
    for (int64_t ch = 0; ch < y.shape[3]; ++ch) {
      const int64_t at = ((n * y.shape[1] + oh) * y.shape[2] + ow) * y.shape[3] + ch;
      const double v =
          h < 0 ? pad : x.data[((n * x.shape[1] + h) * x.shape[2] + w) * x.shape[3] + ch];
      y.data[at] = max ? std::max(y.data[at], v) : add(y.data[at], v);
      ++counts[at];
    }
  });
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = finish(y.data[i], counts[i]);
  return y;
}

// Element of an operand that broadcasts to `shape`.
double Broadcasted(const Tensor& operand, const Shape& shape, int64_t flat) {
  const std::vector<int64_t> index = Index(shape, flat);
  int64_t at = 0;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    const size_t from = d + shape.size() - operand.shape.size();
    at = at * operand.shape[d] + (operand.shape[d] == 1 ? 0 : index[from]);
  }
  return operand.data[at];
}

Tensor EachElement(const Context& c, const std::function<double(double)>& function) {
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = function(c.in(0).data[i]);
  return y;
}

Tensor Moved(const Context& c,
             const std::function<std::vector<int64_t>(std::vector<int64_t>)>& source,
             double pad = 0) {
  const Tensor& x = c.in(0);
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const std::vector<int64_t> from = source(Index(y.shape, static_cast<int64_t>(i)));
    bool inside = true;
    for (size_t d = 0; d < from.size(); ++d)
      inside = inside && from[d] >= 0 && from[d] < x.shape[d];
    y.data[i] = inside ? x.data[Flat(x.shape, from)] : pad;
  }
  return y;
}

Tensor Interpolated(const Resize& op, const Tensor& x, size_t d, int64_t size) {
  if (x.shape[d] == size && op.scales[d] == 1.0f) return x;
  const nm::ResizeAxis axis{op.coordinate, op.scales[d], x.shape[d], size};
  Tensor y{x.shape, {}};
  y.shape[d] = size;
  y.data.assign(static_cast<size_t>(NumElements(y.shape)), 0.0);
  for (size_t i = 0; i < y.data.size(); ++i) {
    std::vector<int64_t> at = Index(y.shape, static_cast<int64_t>(i));
    const auto add = [&](const auto& taps) {
      for (const nm::ResizeTap& tap : taps) {
        at[d] = tap.index;
        y.data[i] += static_cast<double>(tap.weight) * x.data[Flat(x.shape, at)];
      }
    };
    if (op.mode == ResizeMode::kLinear) {
      add(nm::LinearTaps(axis, at[d]));
    } else {
      add(nm::CubicTaps(axis, op.cubic_a, op.exclude_outside, at[d]));
    }
  }
  return y;
}

// Fraction bits of the products of coefficients of so many each.
int ResizedBits(const std::vector<int32_t>& taps, const Shape& shape, int each) {
  int bits = 0;
  for (size_t d = 0; d < shape.size(); ++d) bits += taps[d] > 0 ? each : 0;
  return bits;
}

// What the taps, of so many fraction bits, make of x at element `flat` of `shape`.
double ResizeAt(const std::vector<int32_t>& taps, const Tensor& x, const Shape& shape, int64_t flat,
                int bits) {
  std::vector<std::pair<int64_t, double>> terms = {{0, 1.0}};  // index into x, weight
  const std::vector<int64_t> index = Index(shape, flat);
  size_t at = shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<std::pair<int64_t, double>> next;
    for (const auto& [source, weight] : terms) {
      if (taps[d] == 0) next.push_back({source * x.shape[d] + index[d], weight});
      for (int32_t k = 0; k < taps[d]; ++k) {
        const size_t tap = at + static_cast<size_t>(2 * (index[d] * taps[d] + k));
        next.push_back(
            {source * x.shape[d] + taps[tap], std::ldexp(weight * taps[tap + 1], -bits)});
      }
    }
    terms = std::move(next);
    at += static_cast<size_t>(2 * taps[d] * shape[d]);
  }
  double sum = 0;
  for (const auto& [source, weight] : terms) sum += weight * x.data[static_cast<size_t>(source)];
  return sum;
}

struct Run {
  const Context& c;

  Tensor operator()(const Conv& op) const {
    Tensor y = Convolve(c, op.window, op.groups, [](int64_t) { return 0.0; });
    AddBias(c, op.clamp, &y);
    return y;
  }
  Tensor operator()(const MatMul& op) const {
    Tensor y = MultiplyBatches(c, 0, 0);
    AddBias(c, op.clamp, &y);
    return y;
  }
  Tensor operator()(const MaxPool& op) const {
    return Pool(c, op.window, true, false, 0, [](double v, int64_t) { return v; });
  }
  Tensor operator()(const AveragePool& op) const {
    return Pool(c, op.window, false, op.count_include_pad, 0,
                [](double sum, int64_t count) { return sum / static_cast<double>(count); });
  }
  Tensor operator()(const Binary& op) const {
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
  Tensor operator()(const Clip& op) const {
    return EachElement(c, [&](double v) { return Clamped(v, op.clamp); });
  }
  // Between f32 and f16.
  Tensor operator()(const Cast&) const {
    return EachElement(c, [](double v) {
      return static_cast<double>(HalfToFloat(FloatToHalf(static_cast<float>(v))));
    });
  }
  Tensor operator()(const LeakyRelu& op) const {
    return EachElement(c, [&](double v) { return v >= 0 ? v : op.alpha * v; });
  }
  Tensor operator()(const PRelu&) const {
    Tensor y = c.in(0);
    for (size_t i = 0; i < y.data.size(); ++i) {
      if (y.data[i] < 0) y.data[i] *= Broadcasted(c.in(1), y.shape, static_cast<int64_t>(i));
    }
    return y;
  }
  Tensor operator()(const Unary& op) const {
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
  Tensor operator()(const Softmax& op) const {
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
  // Elements of y.data[first + i * step], i < size.
  void NormalizeReals(Tensor* y, size_t first, size_t size, size_t step, double epsilon,
                      bool rms = false) const {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < size && !rms; ++i) mean += y->data[first + i * step];
    mean /= static_cast<double>(size);
    for (size_t i = 0; i < size; ++i) variance += std::pow(y->data[first + i * step] - mean, 2);
    const double deviation = std::sqrt(variance / static_cast<double>(size) + epsilon);
    for (size_t i = 0; i < size; ++i)
      y->data[first + i * step] = (y->data[first + i * step] - mean) / deviation;
  }
  Tensor operator()(const LayerNorm& op) const {
    Tensor y = c.in(0);
    const auto size =
        static_cast<size_t>(NumElements(Shape(y.shape.begin() + op.axis, y.shape.end())));
    for (size_t row = 0; row < y.data.size(); row += size)
      NormalizeReals(&y, row, size, 1, static_cast<double>(op.epsilon), op.rms);
    for (size_t i = 0; i < y.data.size(); ++i)
      y.data[i] = y.data[i] * c.in(1).data[i % size] + (c.has(2) ? c.in(2).data[i % size] : 0);
    return y;
  }
  Tensor operator()(const InstanceNorm& op) const {  // NHWC
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
  Tensor operator()(const Reshape&) const { return {c.out().shape, c.in(0).data}; }
  Tensor operator()(const Transpose& op) const {
    return Moved(c, [&](std::vector<int64_t> y) {
      std::vector<int64_t> x(y.size());
      for (size_t d = 0; d < y.size(); ++d) x[op.perm[d]] = y[d];
      return x;
    });
  }
  Tensor operator()(const Slice& op) const {
    return Moved(c, [&](std::vector<int64_t> y) {
      for (size_t d = 0; d < y.size(); ++d) y[d] = op.starts[d] + y[d] * op.steps[d];
      return y;
    });
  }
  Tensor operator()(const Pad& op) const {
    const auto source = [&](std::vector<int64_t> y) {
      for (size_t d = 0; d < y.size(); ++d) y[d] -= op.before[d];
      return y;
    };
    return Moved(c, source, op.value);
  }
  Tensor operator()(const Expand&) const {
    Tensor y = c.Empty();
    for (size_t i = 0; i < y.data.size(); ++i) {
      y.data[i] = Broadcasted(c.in(0), y.shape, static_cast<int64_t>(i));
    }
    return y;
  }
  Tensor operator()(const Concat& op) const {
    Tensor y = c.Empty();
    int64_t offset = 0;
    for (size_t n = 0; n < c.node.inputs.size(); ++n) {
      const Tensor& x = c.in(n);
      for (size_t i = 0; i < x.data.size(); ++i) {
        std::vector<int64_t> index = Index(x.shape, static_cast<int64_t>(i));
        index[op.axis] += offset;
        y.data[Flat(y.shape, index)] = x.data[i];
      }
      offset += x.shape[op.axis];
    }
    return y;
  }

  // --- integer ---
  Tensor operator()(const Quantize& op) const {
    const QuantParams& q = *c.out().quant;
    const auto [lo, hi] = Limits(c.out().dtype);
    return EachElement(c, [&, l = lo, h = hi](double v) {
      const auto by = op.by_reciprocal ? nm::QuantizeByReciprocal : nm::QuantizeValueBy;
      return by(op.rounding, static_cast<float>(v), q.scale, q.zero_point, l, h);
    });
  }
  Tensor operator()(const Dequantize&) const {
    const QuantParams& q = *c.meta(0).quant;
    return EachElement(c, [&](double v) {
      return nm::DequantizeValue(static_cast<int32_t>(v), q.scale, q.zero_point);
    });
  }
  Tensor operator()(const Requantize& op) const {
    const int32_t zx = c.meta(0).quant->zero_point, zy = c.out().quant->zero_point;
    return EachElement(c, [&](double v) {
      return nm::RequantizeByte(Rounding::kHalfUp, static_cast<int32_t>(v), zx, op.words.multiplier,
                                op.words.rshift, zy, op.clamp.lo, op.clamp.hi);
    });
  }
  Tensor operator()(const QConv& op) const {
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
  Tensor operator()(const QConvTranspose& op) const {
    Tensor y = ConvolveTransposed(c, op.conv, c.meta(0).quant->zero_point);
    RequantizeAll(c, op.conv, &y);
    return y;
  }
  Tensor operator()(const QMatMul& op) const {
    Tensor y = Multiply(c, op.zero_w);
    RequantizeAll(c, op, &y);
    return y;
  }
  Tensor operator()(const isa::BatchedMatMul& op) const {
    Tensor y = MultiplyBatches(c, TypeOf(c.meta(0)).zero, TypeOf(c.meta(1)).zero);
    for (double& v : y.data) {
      EXPECT_LT(std::fabs(v), 2147483648.0) << c.node.name << ": the accumulator overflows";
      v = nm::RequantizeBy(op.rounding, static_cast<int32_t>(v), op.words.multiplier,
                           op.words.rshift, TypeOf(c.out()).zero, op.clamp.lo, op.clamp.hi);
    }
    return y;
  }
  Tensor operator()(const QNormalize& op) const {
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
  Tensor operator()(const DynamicMatMul&) const {
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

  // --- cells, by the real functions of what the products stand for: within a few units of the
  // integers
  template <typename Cell>
  double CellGate(const Cell& op, size_t first, size_t width, size_t row, size_t column,
                  bool part = false, bool recurrent = false) const {
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
  static double SigmoidOfHalf(double t) { return (1 + std::tanh(t)) / 2; }
  static double AsState(double v) { return std::clamp<double>(std::floor(v + 0.5), -32768, 32767); }
  Tensor operator()(const QLstmCell& op) const {
    Tensor y = c.Empty();
    const size_t hidden = static_cast<size_t>(y.shape.back());
    for (size_t i = 0; i < y.data.size(); ++i) {
      const auto gate = [&](size_t g) {
        return CellGate(op, 0, 4 * hidden, i / hidden, g * hidden + i % hidden);
      };
      const double kept = c.has(2) ? SigmoidOfHalf(gate(1)) * c.in(2).data[i] : 0;
      y.data[i] =
          AsState(kept + std::ldexp(SigmoidOfHalf(gate(0)) * std::tanh(gate(2)), op.state_bits));
    }
    return y;
  }
  Tensor operator()(const QGruCell& op) const {
    Tensor y = c.Empty();
    const size_t hidden = static_cast<size_t>(y.shape.back());
    for (size_t i = 0; i < y.data.size(); ++i) {
      const auto gate = [&](size_t g, bool part = false, bool recurrent = false) {
        return CellGate(op, 0, 3 * hidden, i / hidden, g * hidden + i % hidden, part, recurrent);
      };
      const double z = SigmoidOfHalf(gate(0));
      const double memory = op.resets_product
                                ? gate(2, true) + SigmoidOfHalf(gate(1)) * gate(2, false, true)
                                : gate(2);
      const double kept = c.has(2) ? z * c.in(2).data[i] : 0;
      y.data[i] = AsState(kept + std::ldexp((1 - z) * std::tanh(memory), op.state_bits));
    }
    return y;
  }
  Tensor operator()(const QGatedOutput& op) const {
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
      if (c.has(1)) v *= SigmoidOfHalf(CellGate(op, 1, width, i / hidden, column));
      const double factor =
          std::ldexp(op.words.multiplier, bits + (c.has(1) ? 15 : 0) - op.words.rshift);
      y.data[i] =
          std::clamp<double>(std::floor(v * factor + 0.5) + q.zero, op.clamp.lo, op.clamp.hi);
    }
    return y;
  }

  int32_t Operand(int input, const Shape& shape, size_t i) const {
    return static_cast<int32_t>(Broadcasted(c.in(input), shape, static_cast<int64_t>(i)));
  }
  template <typename Pair>
  Tensor Pairs(const Pair& op) const {
    const ByteType a = TypeOf(c.meta(0)), b = TypeOf(c.meta(1)), q = TypeOf(c.out());
    Tensor y = c.Empty();
    for (size_t i = 0; i < y.data.size(); ++i) {
      y.data[i] = PairResult(op, Operand(0, y.shape, i), Operand(1, y.shape, i), a, b, q);
    }
    return y;
  }
  Tensor operator()(const isa::Add& op) const { return Pairs(op); }
  Tensor operator()(const isa::AddFloat& op) const { return Pairs(op); }
  Tensor operator()(const isa::AddShifted& op) const {
    const ByteType a = TypeOf(c.meta(0)), b = TypeOf(c.meta(1)), q = TypeOf(c.out());
    Tensor y = c.Empty();
    const size_t block = op.blocks == AddBlocks::kSixteen ? 16 : 8;
    for (size_t i = 0; i < y.data.size(); ++i) {
      y.data[i] = PairResult(op, Operand(0, y.shape, i), Operand(1, y.shape, i), a, b, q,
                             i < y.data.size() / block * block);
    }
    return y;
  }
  Tensor operator()(const isa::AddFma& op) const { return Pairs(op); }
  Tensor operator()(const isa::AddScaled& op) const { return Pairs(op); }
  Tensor operator()(const isa::Mul& op) const { return Pairs(op); }
  // By the definition: the sum over the taps of all dimensions, in double, which is exact.
  Tensor operator()(const QResize& op) const {
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
  // Sums of 47 bits times a multiplier of 16, in double: near a tie one unit off at most.
  Tensor operator()(const QResizeS16& op) const {
    Tensor y = c.Empty();
    const int bits = ResizedBits(op.taps, y.shape, nm::kResizeInt16Bits);
    const double factor = std::ldexp(op.words.multiplier, bits - op.words.rshift);
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double v =
          ResizeAt(op.taps, c.in(0), y.shape, static_cast<int64_t>(i), nm::kResizeInt16Bits);
      y.data[i] = HeldInt16(v * factor, op.clamp);
    }
    return y;
  }
  // Sums alone where y has 32 bits.
  Tensor operator()(const QMatMulS16& op) const {
    Tensor y = Multiply(c);
    if (c.out().dtype == DType::kS32) return y;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const ChannelRequant& record = op.channels[i % op.channels.size()];
      y.data[i] = HeldInt16(
          std::ldexp((y.data[i] + record.bias) * record.multiplier, -record.rshift), op.clamp);
    }
    return y;
  }
  Tensor operator()(const isa::RequantizeS16& op) const {
    const double zero = c.meta(0).quant->zero_point;
    const double factor =
        op.words.multiplier == 0 ? 1 : std::ldexp(op.words.multiplier, -op.words.rshift);
    return EachElement(c, [&](double v) { return HeldInt16((v - zero) * factor, op.clamp); });
  }
  Tensor operator()(const QTableS16& op) const {
    int bits = 3;
    while (op.entries.empty() && (65536 >> bits) + 1 > static_cast<int>(op.interpolated.size()))
      ++bits;
    return EachElement(c, [&](double v) {
      if (!op.entries.empty())
        return static_cast<double>(op.entries[static_cast<size_t>(v + 32768)]);
      return static_cast<double>(nm::InterpolateInt16(
          op.interpolated.data(), bits, static_cast<int32_t>(v), 0, op.clamp.lo, op.clamp.hi));
    });
  }
  // Of both operands less their zero points.
  template <typename Function>
  Tensor PairsOfInt16(const RequantWords& words, const ClampQ& clamp, const Function& f) const {
    Tensor y = c.Empty();
    const double za = c.meta(0).quant->zero_point, zb = c.meta(1).quant->zero_point;
    const double factor = std::ldexp(words.multiplier, -words.rshift);
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double a = Operand(0, y.shape, i) - za, b = Operand(1, y.shape, i) - zb;
      y.data[i] = HeldInt16(f(a, b) * factor, clamp);
    }
    return y;
  }
  Tensor operator()(const isa::AddS16& op) const {
    return PairsOfInt16({1, op.rshift}, op.clamp,
                        [&](double a, double b) { return a * op.multiplier + b * op.multiplier2; });
  }
  Tensor operator()(const isa::MulS16& op) const {
    return PairsOfInt16(op.words, op.clamp, [](double a, double b) { return a * b; });
  }
  Tensor operator()(const isa::DivS16& op) const {
    return PairsOfInt16(op.words, op.clamp, [](double a, double b) { return a == 0 ? 0 : a / b; });
  }
  Tensor operator()(const isa::ModS16& op) const {
    return PairsOfInt16(op.words, op.clamp, [&](double a, double b) {
      return b == 0 ? 0
                    : std::fmod(a * static_cast<double>(op.factor),
                                b * static_cast<double>(op.factor2));
    });
  }
  Tensor operator()(const QPowS16& op) const {
    const double one = std::ldexp(1.0, nm::kPowFraction);
    return PairsOfInt16({1, 0}, op.clamp, [&](double a, double b) {
      const double base = a * std::exp2(static_cast<double>(op.log_src) / one);
      const double exponent = b * std::ldexp(op.words.multiplier, -op.words.rshift);
      const double power =
          std::pow(base, exponent) / std::exp2(static_cast<double>(op.log_dst) / one);
      return std::isnan(power) ? 0 : power;
    });
  }
  Tensor operator()(const isa::CompareS16& op) const {
    Tensor y = c.Empty();
    const double za = c.meta(0).quant->zero_point, zb = c.meta(1).quant->zero_point;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const double a = (Operand(0, y.shape, i) - za) * static_cast<double>(op.factor);
      const double b = (Operand(1, y.shape, i) - zb) * static_cast<double>(op.factor2);
      y.data[i] = nm::Compare(op.op, static_cast<int64_t>(a), static_cast<int64_t>(b)) ? 1 : 0;
    }
    return y;
  }
  Tensor operator()(const isa::AveragePoolS16& op) const {
    const double factor = std::ldexp(op.words.multiplier, -op.words.rshift);
    return Pool(c, op.window, false, op.count_include_pad, 0, [&](double sum, int64_t count) {
      return HeldInt16(sum * factor / static_cast<double>(count), op.clamp);
    });
  }
  // To the nearest integer, ties upwards, plus y's zero point.
  double HeldInt16(double v, const ClampQ& clamp) const {
    return std::clamp<double>(std::floor(v + 0.5) + c.out().quant->zero_point, clamp.lo, clamp.hi);
  }
  Tensor operator()(const isa::Extremum& op) const { return Pairs(op); }
  Tensor operator()(const QDiv& op) const { return Pairs(op); }
  Tensor operator()(const QBinaryTable& op) const {
    const bool is_signed = c.out().dtype == DType::kS8;
    Tensor y = c.Empty();
    for (size_t i = 0; i < y.data.size(); ++i) {
      const auto a = static_cast<uint8_t>(Operand(0, y.shape, i));
      const auto b = static_cast<uint8_t>(Operand(1, y.shape, i));
      const uint8_t byte = op.entries[256 * size_t{a} + b];
      y.data[i] = is_signed ? static_cast<int8_t>(byte) : byte;
    }
    return y;
  }
  Tensor operator()(const Where&) const {
    Tensor y = c.Empty();
    for (size_t i = 0; i < y.data.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      y.data[i] = Broadcasted(c.in(Broadcasted(c.in(0), y.shape, at) != 0 ? 1 : 2), y.shape, at);
    }
    return y;
  }
  Tensor operator()(const ArgMax& op) const {
    const Tensor& x = c.in(0);
    Tensor y = c.Empty();
    const int64_t axis = op.axis < 0 ? op.axis + static_cast<int64_t>(x.shape.size()) : op.axis;
    Shape kept = x.shape;
    kept[axis] = 1;
    for (size_t i = 0; i < y.data.size(); ++i) {
      std::vector<int64_t> at = Index(kept, static_cast<int64_t>(i));
      double best = NAN;
      for (int64_t k = 0; k < x.shape[axis]; ++k) {
        at[axis] = k;
        const double v = x.data[Flat(x.shape, at)];
        if (std::isnan(best) || (op.min ? v < best : v > best)) {
          best = v;
          y.data[i] = static_cast<double>(k);
        }
      }
    }
    return y;
  }
  Tensor operator()(const Reduce& op) const {
    const Tensor& x = c.in(0);
    Tensor y = c.Empty();
    Shape kept = x.shape;
    for (const int64_t axis : op.axes) kept[axis] = 1;
    std::vector<std::vector<double>> groups(y.data.size());
    for (size_t i = 0; i < x.data.size(); ++i) {
      std::vector<int64_t> at = Index(x.shape, static_cast<int64_t>(i));
      for (const int64_t axis : op.axes) at[axis] = 0;
      groups[Flat(kept, at)].push_back(x.data[i]);
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::vector<double>& g = groups[i];
      double sum = 0, magnitude = 0;
      for (const double v : g) sum += v, magnitude += std::fabs(v);
      y.data[i] = op.op == ReduceOp::kMax   ? *std::max_element(g.begin(), g.end())
                  : op.op == ReduceOp::kMin ? *std::min_element(g.begin(), g.end())
                  : op.op == ReduceOp::kL1  ? magnitude
                  : op.op == ReduceOp::kSum ? sum
                                            : sum / static_cast<double>(g.size());
    }
    return y;
  }
  // One dimension after the other, by the weights of the F32 command.
  Tensor operator()(const Resize& op) const {
    Tensor x = c.in(0);
    for (size_t d = 0; d < x.shape.size(); ++d) x = Interpolated(op, x, d, c.out().shape[d]);
    return x;
  }
  Tensor operator()(const QSoftmax& op) const {
    const ByteType q = TypeOf(c.out());
    Tensor y = c.in(0);
    const size_t width = static_cast<size_t>(y.shape.back());
    for (size_t row = 0; row < y.data.size(); row += width) {
      SoftmaxRow(op, std::span(y.data).subspan(row, width), q, TypeOf(c.meta(0)).scale);
    }
    return y;
  }
  Tensor operator()(const isa::AveragePool& op) const {
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
  Tensor operator()(const isa::LeakyRelu& op) const {
    const nm::LeakyParams p{
        c.meta(0).quant->zero_point, c.out().quant->zero_point, op.multiplier, op.rshift,
        op.positive.multiplier,      op.positive.rshift,        op.clamp.lo,   op.clamp.hi};
    return EachElement(c, [&](double v) { return nm::LeakyRelu(static_cast<int32_t>(v), p); });
  }
  Tensor operator()(const QPRelu& op) const {
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
  Tensor operator()(const QTable& op) const {
    const bool is_signed = c.out().dtype == DType::kS8;
    return EachElement(c, [&](double v) {
      const uint8_t byte = op.entries[static_cast<uint8_t>(static_cast<int32_t>(v))];
      return is_signed ? static_cast<double>(static_cast<int8_t>(byte)) : static_cast<double>(byte);
    });
  }
  Tensor operator()(const QChannelTables& op) const {
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
  template <typename Other>
  Tensor operator()(const Other&) const {
    ADD_FAILURE() << c.node.name << ": the interpreter does not know " << OpName(c.node.op);
    return c.Empty();
  }

  static std::pair<int32_t, int32_t> Limits(DType type) {
    if (type == DType::kS16) return {-32768, 32767};
    return type == DType::kU8 ? std::pair{0, 255} : std::pair{-128, 127};
  }
};

Tensor ConstantTensor(const Value& value) {
  Tensor tensor{value.shape, {}};
  const auto append = [&](auto span) { tensor.data.assign(span.begin(), span.end()); };
  switch (value.dtype) {
    case DType::kF32:
      append(value.constant->As<float>());
      break;
    case DType::kS16:
      append(value.constant->As<int16_t>());
      break;
    case DType::kS8:
      append(value.constant->As<int8_t>());
      break;
    case DType::kU8:
      append(value.constant->As<uint8_t>());
      break;
    case DType::kS64:
      append(value.constant->As<int64_t>());
      break;
    default:
      ADD_FAILURE() << "constant '" << value.name
                    << "' has an element type the interpreter does not know";
  }
  return tensor;
}

}  // namespace

Tensors Execute(const Graph& graph, const Tensors& inputs) {
  std::vector<Tensor> values(graph.value_count());
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.is_constant()) values[i] = ConstantTensor(value);
  }
  for (ValueId id : graph.inputs) values[id.index()] = inputs.at(graph.value(id).name);
  for (const Node& node : graph.nodes()) {
    const Context context{graph, node, values};
    Tensor y = std::visit(Run{context}, node.op);
    values[node.outputs[0].index()] = std::move(y);
  }
  Tensors result;
  for (int i = 0; i < graph.value_count(); ++i)
    result[graph.value(ValueId(i)).name] = std::move(values[i]);
  return result;
}

}  // namespace rshift::test
