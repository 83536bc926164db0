#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

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

}  // namespace

ByteType TypeOf(const Value& value) {
  return {value.quant->scale, value.quant->zero_point, value.dtype == DType::kS8};
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

Tensor Convolve(const Context& c, const Window& window, int64_t groups,
                const std::function<double(int64_t)>& pad, const std::vector<int32_t>& zero_w) {
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

Tensor Multiply(const Context& c, const std::vector<int32_t>& zero_w) {
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

Tensor Pool(const Context& c, const Window& window, bool max, bool count_pad, double pad,
            const std::function<double(double sum, int64_t count)>& finish,
            const std::function<double(double, double)>& add) {
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

double Broadcasted(const Tensor& operand, const Shape& shape, int64_t flat) {
  const std::vector<int64_t> index = Index(shape, flat);
  int64_t at = 0;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    const size_t from = d + shape.size() - operand.shape.size();
    at = at * operand.shape[d] + (operand.shape[d] == 1 ? 0 : index[from]);
  }
  return operand.data[at];
}

int32_t Operand(const Context& c, int input, const Shape& shape, size_t i) {
  return static_cast<int32_t>(Broadcasted(c.in(input), shape, static_cast<int64_t>(i)));
}

Tensor EachElement(const Context& c, const std::function<double(double)>& function) {
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = function(c.in(0).data[i]);
  return y;
}

int ResizedBits(const std::vector<int32_t>& taps, const Shape& shape, int each) {
  int bits = 0;
  for (size_t d = 0; d < shape.size(); ++d) bits += taps[d] > 0 ? each : 0;
  return bits;
}

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

}  // namespace rshift::test::interpreter
