#include "tests/graph/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace rshift::reference {
namespace {

int64_t Offset(const Shape& shape, const Shape& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
  return offset;
}

Shape IndexOf(const Shape& shape, int64_t offset) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = offset % shape[d];
    offset /= shape[d];
  }
  return index;
}

// Fills a tensor element by element from its index.
Tensor Generate(const Shape& shape, const std::function<double(const Shape&)>& f) {
  Tensor out = Zeros(shape);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = f(IndexOf(shape, static_cast<int64_t>(i)));
  return out;
}

double At(const Tensor& t, const Shape& index) { return t.data[Offset(t.shape, index)]; }

// Reads t at an index of a shape it broadcasts to.
double Broadcasted(const Tensor& t, const Shape& index) {
  Shape own(t.shape.size());
  const size_t missing = index.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d) own[d] = t.shape[d] == 1 ? 0 : index[d + missing];
  return At(t, own);
}

Tensor Transposed(const Tensor& t, const std::vector<int64_t>& perm) {
  Shape shape;
  for (int64_t p : perm) shape.push_back(t.shape[p]);
  return Generate(shape, [&](const Shape& index) {
    Shape source(index.size());
    for (size_t i = 0; i < perm.size(); ++i) source[perm[i]] = index[i];
    return At(t, source);
  });
}

Tensor ToOnnxOrder(const Tensor& t, Layout layout) {
  return layout == Layout::kNhwc ? Transposed(t, {0, 3, 1, 2}) : t;
}
Tensor ToMemoryOrder(const Tensor& t, Layout layout) {
  return layout == Layout::kNhwc ? Transposed(t, {0, 2, 3, 1}) : t;
}

double Clamped(const Clamp& c, double x) {
  return std::min(std::max(x, static_cast<double>(c.lo)), static_cast<double>(c.hi));
}

// Calls f(input row, input column, tap row, tap column, inside) for each tap of one output pixel.
void ForTaps(const Window& w, const Shape& in, int64_t oh, int64_t ow,
             const std::function<void(int64_t, int64_t, int64_t, int64_t, bool)>& f) {
  for (int64_t kh = 0; kh < w.kernel_h; ++kh) {
    for (int64_t kw = 0; kw < w.kernel_w; ++kw) {
      const int64_t h = oh * w.stride_h - w.pad_top + kh * w.dilation_h;
      const int64_t x = ow * w.stride_w - w.pad_left + kw * w.dilation_w;
      f(h, x, kh, kw, h >= 0 && h < in[2] && x >= 0 && x < in[3]);
    }
  }
}

Tensor RunConv(const Conv& op, const std::vector<Tensor>& in, const Shape& shape) {
  const int64_t per_group = in[1].shape[1];
  const int64_t outputs = shape[1] / op.groups;
  return Generate(shape, [&](const Shape& o) {
    double sum = in.size() > 2 && !in[2].data.empty() ? in[2].data[o[1]] : 0.0;
    ForTaps(op.window, in[0].shape, o[2], o[3],
            [&](int64_t h, int64_t w, int64_t kh, int64_t kw, bool ok) {
              for (int64_t c = 0; ok && c < per_group; ++c) {
                sum += At(in[0], {o[0], o[1] / outputs * per_group + c, h, w}) *
                       At(in[1], {o[1], c, kh, kw});
              }
            });
    return Clamped(op.clamp, sum);
  });
}

Tensor RunConvTranspose(const ConvTranspose& op, const std::vector<Tensor>& in,
                        const Shape& shape) {
  Tensor out = Generate(shape, [&](const Shape& o) {
    return in.size() > 2 && !in[2].data.empty() ? in[2].data[o[1]] : 0.0;
  });
  const Window& w = op.window;
  const Shape& ws = in[1].shape;  // [IC, OC/groups, KH, KW]
  for (size_t i = 0; i < in[0].data.size(); ++i) {
    const Shape x = IndexOf(in[0].shape, static_cast<int64_t>(i));
    const int64_t group = x[1] / (ws[0] / op.groups);
    for (int64_t k = 0; k < ws[1] * ws[2] * ws[3]; ++k) {
      const Shape t = IndexOf({ws[1], ws[2], ws[3]}, k);
      const int64_t h = x[2] * w.stride_h - w.pad_top + t[1] * w.dilation_h;
      const int64_t v = x[3] * w.stride_w - w.pad_left + t[2] * w.dilation_w;
      if (h < 0 || h >= shape[2] || v < 0 || v >= shape[3]) continue;
      out.data[Offset(shape, {x[0], group * ws[1] + t[0], h, v})] +=
          in[0].data[i] * At(in[1], {x[1], t[0], t[1], t[2]});
    }
  }
  for (double& v : out.data) v = Clamped(op.clamp, v);
  return out;
}

Tensor RunMaxPool(const MaxPool& op, const Tensor& x, const Shape& shape) {
  return Generate(shape, [&](const Shape& o) {
    double best = -std::numeric_limits<double>::infinity();
    ForTaps(op.window, x.shape, o[2], o[3], [&](int64_t h, int64_t w, int64_t, int64_t, bool ok) {
      if (ok) best = std::max(best, At(x, {o[0], o[1], h, w}));
    });
    return best;
  });
}

Tensor RunAveragePool(const AveragePool& op, const Tensor& x, const Shape& shape) {
  const Window& win = op.window;
  return Generate(shape, [&](const Shape& o) {
    double sum = 0.0, count = 0.0;
    ForTaps(win, x.shape, o[2], o[3], [&](int64_t h, int64_t w, int64_t, int64_t, bool ok) {
      if (ok) sum += At(x, {o[0], o[1], h, w});
      const bool padded = h < x.shape[2] + win.pad_bottom && w < x.shape[3] + win.pad_right;
      if (ok || (op.count_include_pad && padded)) count += 1.0;
    });
    return sum / count;
  });
}

Tensor RunMatMul(const MatMul& op, const std::vector<Tensor>& in, const Shape& shape) {
  const Tensor &a = in[0], &b = in[1];
  const int64_t k = a.shape.back();
  return Generate(shape, [&](const Shape& o) {
    double sum = in.size() > 2 && !in[2].data.empty()
                     ? in[2].data[in[2].data.size() == 1 ? 0 : o.back()]
                     : 0.0;
    for (int64_t i = 0; i < k; ++i) {
      Shape ai = o, bi = o;
      ai.back() = i;
      bi[bi.size() - 2] = i;
      sum += Broadcasted(a, ai) * Broadcasted(b, bi);
    }
    return Clamped(op.clamp, sum);
  });
}

double Apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kSquaredDifference:
      return (a - b) * (a - b);
    case BinaryOp::kGreater:
      return a > b ? 1.0 : 0.0;
    case BinaryOp::kLess:
      return a < b ? 1.0 : 0.0;
    default:
      Fail(ErrorCode::kInternal, "reference: binary operator ", static_cast<int>(op),
           " is missing");
  }
}

double Apply(const Unary& u, double x) {
  constexpr double kPi = 3.14159265358979323846;
  switch (u.op) {
    case UnaryOp::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case UnaryOp::kTanh:
      return std::tanh(x);
    case UnaryOp::kHardSigmoid:
      return std::clamp(double{u.alpha} * x + u.beta, 0.0, 1.0);
    case UnaryOp::kHardSwish:
      return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0);
    case UnaryOp::kSoftplus:
      return std::log1p(std::exp(x));
    case UnaryOp::kElu:
      return x > 0 ? x : u.alpha * std::expm1(x);
    case UnaryOp::kSelu:
      return u.beta * (x > 0 ? x : u.alpha * std::expm1(x));
    case UnaryOp::kCelu:
      return x > 0 ? x : u.alpha * std::expm1(x / u.alpha);
    case UnaryOp::kSign:
      return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
    case UnaryOp::kSoftsign:
      return x / (1.0 + std::abs(x));
    case UnaryOp::kExp:
      return std::exp(x);
    case UnaryOp::kLog:
      return std::log(x);
    case UnaryOp::kSqrt:
      return std::sqrt(x);
    case UnaryOp::kRsqrt:
      return 1.0 / std::sqrt(x);
    case UnaryOp::kReciprocal:
      return 1.0 / x;
    case UnaryOp::kAbs:
      return std::abs(x);
    case UnaryOp::kNeg:
      return -x;
    case UnaryOp::kErf:
      return std::erf(x);
    case UnaryOp::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case UnaryOp::kGeluTanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / kPi) * (x + 0.044715 * x * x * x)));
    case UnaryOp::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case UnaryOp::kSilu:
      return x / (1.0 + std::exp(-x));
    case UnaryOp::kSquare:
      return x * x;
    default:
      Fail(ErrorCode::kInternal, "reference: unary operator ", static_cast<int>(u.op),
           " is missing");
  }
}

Tensor Map(const Tensor& x, const std::function<double(double)>& f) {
  Tensor out = x;
  for (double& v : out.data) v = f(v);
  return out;
}

Tensor RunReduce(const Reduce& op, const Tensor& x, const Shape& shape) {
  Shape kept = x.shape;
  double count = 1.0;
  for (int64_t axis : op.axes) {
    count *= static_cast<double>(kept[axis]);
    kept[axis] = 1;
  }
  const double start = op.op == ReduceOp::kMax ? -std::numeric_limits<double>::infinity() : 0.0;
  Tensor out{kept, std::vector<double>(static_cast<size_t>(NumElements(kept)), start)};
  for (size_t i = 0; i < x.data.size(); ++i) {
    Shape index = IndexOf(x.shape, static_cast<int64_t>(i));
    for (int64_t axis : op.axes) index[axis] = 0;
    double& cell = out.data[Offset(kept, index)];
    const double v = op.op == ReduceOp::kL2 ? x.data[i] * x.data[i] : x.data[i];
    cell = op.op == ReduceOp::kMax ? std::max(cell, v) : cell + v;
  }
  RSHIFT_REQUIRE(op.op <= ReduceOp::kMax || op.op == ReduceOp::kL2, ErrorCode::kInternal,
                 "reference: reduction is missing");
  for (double& cell : out.data) cell = op.op == ReduceOp::kL2 ? std::sqrt(cell) : cell;
  if (op.op == ReduceOp::kMean) out = Map(out, [&](double v) { return v / count; });
  return {shape, out.data};
}

Tensor RunArgMax(const ArgMax& op, const Tensor& x, const Shape& shape) {
  Shape kept = x.shape;
  kept[op.axis] = 1;
  const Tensor out = Generate(kept, [&](Shape index) {
    int64_t best = 0;
    double value = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < x.shape[op.axis]; ++i) {
      index[op.axis] = i;
      if (At(x, index) > value) {
        value = At(x, index);
        best = i;
      }
    }
    return static_cast<double>(best);
  });
  return {shape, out.data};
}

Tensor RunSoftmax(const Softmax& op, const Tensor& x) {
  const size_t axis =
      static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(x.shape.size()) : op.axis);
  return Generate(x.shape, [&](Shape index) {
    const double own = At(x, index);
    double sum = 0.0;
    for (index[axis] = 0; index[axis] < x.shape[axis]; ++index[axis])
      sum += std::exp(At(x, index) - own);
    return op.log ? -std::log(sum) : 1.0 / sum;
  });
}

Tensor RunLayerNorm(const LayerNorm& op, const std::vector<Tensor>& in) {
  const Tensor& x = in[0];
  const size_t rank = x.shape.size();
  const size_t axis =
      static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(rank) : op.axis);
  const int64_t size = NumElements(Shape(x.shape.begin() + axis, x.shape.end()));
  Tensor out = x;
  for (size_t row = 0; row < x.data.size(); row += size) {
    double mean = 0.0, variance = 0.0;
    for (int64_t i = 0; i < size && !op.rms; ++i) mean += x.data[row + i] / size;
    for (int64_t i = 0; i < size; ++i)
      variance += (x.data[row + i] - mean) * (x.data[row + i] - mean) / size;
    for (int64_t i = 0; i < size; ++i) {
      const double y = (x.data[row + i] - mean) / std::sqrt(variance + op.epsilon) * in[1].data[i];
      out.data[row + i] = in.size() > 2 && !in[2].data.empty() ? y + in[2].data[i] : y;
    }
  }
  return out;
}

Tensor RunInstanceNorm(const InstanceNorm& op, const std::vector<Tensor>& in) {
  Tensor out = in[0];
  const int64_t plane = in[0].shape[2] * in[0].shape[3];
  for (size_t start = 0; start < out.data.size(); start += plane) {
    const size_t c = start / plane % in[0].shape[1];
    double mean = 0.0, variance = 0.0;
    for (int64_t i = 0; i < plane; ++i) mean += out.data[start + i] / plane;
    for (int64_t i = 0; i < plane; ++i) variance += std::pow(out.data[start + i] - mean, 2) / plane;
    for (int64_t i = 0; i < plane; ++i) {
      double& v = out.data[start + i];
      v = (v - mean) / std::sqrt(variance + op.epsilon) * in[1].data[c] + in[2].data[c];
    }
  }
  return out;
}

Tensor RunLrn(const Lrn& op, const Tensor& x) {
  return Generate(x.shape, [&](Shape index) {
    const double own = At(x, index);
    const int64_t c = index[op.axis];
    double sum = 0.0;
    for (int64_t i = c - (op.size - 1) / 2; i <= c + op.size / 2; ++i) {
      if (i < 0 || i >= x.shape[op.axis]) continue;
      index[op.axis] = i;
      sum += At(x, index) * At(x, index);
    }
    return own / std::pow(op.bias + op.alpha / static_cast<double>(op.size) * sum, op.beta);
  });
}

Tensor RunConcat(const Concat& op, const std::vector<Tensor>& in, const Shape& shape) {
  return Generate(shape, [&](Shape index) {
    size_t part = 0;
    while (index[op.axis] >= in[part].shape[op.axis]) index[op.axis] -= in[part++].shape[op.axis];
    return At(in[part], index);
  });
}

Tensor RunPad(const Pad& op, const Tensor& x, const Shape& shape) {
  return Generate(shape, [&](Shape index) {
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t i = index[d] - op.before[d];
      const int64_t n = x.shape[d];
      if (op.mode == PadMode::kConstant && (i < 0 || i >= n)) return static_cast<double>(op.value);
      if (op.mode == PadMode::kEdge) i = std::clamp<int64_t>(i, 0, n - 1);
      if (op.mode == PadMode::kReflect) i = i < 0 ? -i : (i >= n ? 2 * (n - 1) - i : i);
      index[d] = i;
    }
    return At(x, index);
  });
}

Tensor RunGather(const Gather& op, const Tensor& x, const Tensor& indices, const Shape& shape) {
  const size_t rank = indices.shape.size();
  return Generate(shape, [&](const Shape& o) {
    const Shape at(o.begin() + op.axis, o.begin() + op.axis + rank);
    const int64_t i = static_cast<int64_t>(At(indices, at));
    Shape source(o.begin(), o.begin() + op.axis);
    source.push_back(i < 0 ? i + x.shape[op.axis] : i);
    source.insert(source.end(), o.begin() + op.axis + rank, o.end());
    return At(x, source);
  });
}

// Nearest, asymmetric, floor.
Tensor RunResize(const Resize& op, const Tensor& x, const Shape& shape) {
  RSHIFT_REQUIRE(op.mode == ResizeMode::kNearest && op.coordinate == CoordinateMode::kAsymmetric &&
                     op.nearest == NearestMode::kFloor,
                 ErrorCode::kInternal, "reference: resize mode is missing");
  return Generate(shape, [&](Shape index) {
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t i =
          static_cast<int64_t>(std::floor(static_cast<double>(index[d]) / op.scales[d]));
      index[d] = std::min(i, x.shape[d] - 1);
    }
    return At(x, index);
  });
}

Tensor RunDepthToSpace(const DepthToSpace& op, const Tensor& x, const Shape& shape) {
  const int64_t b = op.block;
  return Generate(shape, [&](const Shape& o) {
    const int64_t phase = o[2] % b * b + o[3] % b;
    const int64_t c = op.crd ? o[1] * b * b + phase : phase * shape[1] + o[1];
    return At(x, {o[0], c, o[2] / b, o[3] / b});
  });
}

Tensor RunSpaceToDepth(const SpaceToDepth& op, const Tensor& x, const Shape& shape) {
  const int64_t b = op.block;
  return Generate(shape, [&](const Shape& o) {
    const int64_t phase = o[1] / x.shape[1];
    return At(x, {o[0], o[1] % x.shape[1], o[2] * b + phase / b, o[3] * b + phase % b});
  });
}

Tensor RunBatchNorm(const BatchNorm& op, const std::vector<Tensor>& in) {
  return Generate(in[0].shape, [&](const Shape& i) {
    const int64_t c = i[1];
    return (At(in[0], i) - in[3].data[c]) / std::sqrt(in[4].data[c] + op.epsilon) * in[1].data[c] +
           in[2].data[c];
  });
}

// Inputs of spatial operators come in ONNX order (`in`), of all others in memory order (`raw`).
struct Call {
  std::vector<Tensor> in, raw;
  Shape shape, raw_shape;  // of the output
};

// The output, in ONNX order for spatial operators; sets *spatial.
Tensor RunOp(const Op& op, const Call& c, bool* spatial) {
  const auto elementwise = [&](const std::function<double(const Shape&)>& f) {
    return Generate(c.raw_shape, f);
  };
  *spatial = true;
  if (const auto* o = std::get_if<Conv>(&op)) return RunConv(*o, c.in, c.shape);
  if (const auto* o = std::get_if<ConvTranspose>(&op)) return RunConvTranspose(*o, c.in, c.shape);
  if (const auto* o = std::get_if<MaxPool>(&op)) return RunMaxPool(*o, c.in[0], c.shape);
  if (const auto* o = std::get_if<AveragePool>(&op)) return RunAveragePool(*o, c.in[0], c.shape);
  if (const auto* o = std::get_if<DepthToSpace>(&op)) return RunDepthToSpace(*o, c.in[0], c.shape);
  if (const auto* o = std::get_if<SpaceToDepth>(&op)) return RunSpaceToDepth(*o, c.in[0], c.shape);
  if (const auto* o = std::get_if<InstanceNorm>(&op)) return RunInstanceNorm(*o, c.in);
  *spatial = false;
  const std::vector<Tensor>& in = c.raw;
  return std::visit(
      Overloaded{
          [&](const MatMul& o) { return RunMatMul(o, in, c.raw_shape); },
          [&](const Binary& o) {
            return elementwise([&](const Shape& i) {
              return Clamped(o.clamp, Apply(o.op, Broadcasted(in[0], i), Broadcasted(in[1], i)));
            });
          },
          [&](const Where&) {
            return elementwise([&](const Shape& i) {
              return Broadcasted(in[Broadcasted(in[0], i) != 0 ? 1 : 2], i);
            });
          },
          [&](const PRelu&) {
            return elementwise([&](const Shape& i) {
              return At(in[0], i) >= 0 ? At(in[0], i) : At(in[0], i) * Broadcasted(in[1], i);
            });
          },
          [&](const Clip& o) { return Map(in[0], [&](double x) { return Clamped(o.clamp, x); }); },
          [&](const LeakyRelu& o) {
            return Map(in[0], [&](double x) { return x >= 0 ? x : o.alpha * x; });
          },
          [&](const Unary& o) { return Map(in[0], [&](double x) { return Apply(o, x); }); },
          [&](const BatchNorm& o) { return RunBatchNorm(o, in); },
          [&](const LayerNorm& o) { return RunLayerNorm(o, in); },
          [&](const Lrn& o) { return RunLrn(o, in[0]); },
          [&](const Softmax& o) { return RunSoftmax(o, in[0]); },
          [&](const Reduce& o) { return RunReduce(o, in[0], c.raw_shape); },
          [&](const ArgMax& o) { return RunArgMax(o, in[0], c.raw_shape); },
          [&](const Resize& o) { return RunResize(o, in[0], c.raw_shape); },
          [&](const Identity&) { return in[0]; },
          [&](const Reshape&) {
            return Tensor{c.raw_shape, in[0].data};
          },
          [&](const Transpose& o) { return Transposed(in[0], o.perm); },
          [&](const Concat& o) { return RunConcat(o, in, c.raw_shape); },
          [&](const Slice& o) {
            return elementwise([&](Shape i) {
              for (size_t d = 0; d < i.size(); ++d) i[d] = o.starts[d] + i[d] * o.steps[d];
              return At(in[0], i);
            });
          },
          [&](const Pad& o) { return RunPad(o, in[0], c.raw_shape); },
          [&](const Expand&) {
            return elementwise([&](const Shape& i) { return Broadcasted(in[0], i); });
          },
          [&](const Tile&) {
            return elementwise([&](Shape i) {
              for (size_t d = 0; d < i.size(); ++d) i[d] %= in[0].shape[d];
              return At(in[0], i);
            });
          },
          [&](const Gather& o) { return RunGather(o, in[0], in[1], c.raw_shape); },
          [&](const Cast&) { return in[0]; },
          [&](const auto&) -> Tensor {
            Fail(ErrorCode::kInternal, "reference: operator ", OpName(op), " is missing");
          }},
      op);
}

Tensor ConstantTensor(const Value& value) {
  Tensor t{value.shape, {}};
  if (value.dtype == DType::kF32) {
    for (float x : value.constant->As<float>()) t.data.push_back(x);
  } else if (value.dtype == DType::kS64) {
    for (int64_t x : value.constant->As<int64_t>()) t.data.push_back(static_cast<double>(x));
  } else {
    for (uint8_t x : value.constant->bytes) t.data.push_back(x);
  }
  return t;
}

}  // namespace

Tensor Zeros(const Shape& shape) {
  return {shape, std::vector<double>(static_cast<size_t>(NumElements(shape)), 0.0)};
}

std::map<std::string, Tensor> RunAll(const Graph& graph,
                                     const std::map<std::string, Tensor>& inputs) {
  std::vector<Tensor> values(graph.value_count());
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.is_constant()) values[i] = ConstantTensor(value);
  }
  for (ValueId id : graph.inputs) values[id.index()] = inputs.at(graph.value(id).name);
  for (const Node& node : graph.nodes()) {
    const Value& out = graph.value(node.outputs[0]);
    Call call;
    for (ValueId id : node.inputs) {
      call.raw.push_back(id.valid() ? values[id.index()] : Tensor{});
      call.in.push_back(id.valid() ? ToOnnxOrder(call.raw.back(), graph.value(id).layout)
                                   : Tensor{});
    }
    call.raw_shape = call.shape = out.shape;
    if (out.layout == Layout::kNhwc)
      call.shape = {out.shape[0], out.shape[3], out.shape[1], out.shape[2]};
    bool spatial = false;
    Tensor result = RunOp(node.op, call, &spatial);
    if (spatial) result = ToMemoryOrder(result, out.layout);
    RSHIFT_REQUIRE(result.shape == out.shape &&
                       NumElements(out.shape) == static_cast<int64_t>(result.data.size()),
                   ErrorCode::kInternal, "reference: ", OpName(node.op), " '", out.name, "' gave ",
                   ToString(result.shape), ", the graph says ", ToString(out.shape));
    values[node.outputs[0].index()] = std::move(result);
  }
  std::map<std::string, Tensor> results;
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    results[value.name] = ToOnnxOrder(values[i], value.layout);
  }
  return results;
}

std::map<std::string, Tensor> Run(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  const std::map<std::string, Tensor> all = RunAll(graph, inputs);
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    results[graph.output_names[i]] = all.at(graph.value(graph.outputs[i]).name);
  }
  return results;
}

}  // namespace rshift::reference
