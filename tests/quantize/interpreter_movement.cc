#include <algorithm>
#include <cmath>

#include "quantize/numerics/resize_taps.h"
#include "tests/quantize/interpreter_parts.h"

namespace rshift::test::interpreter {
namespace {

namespace nm = ::rshift::numerics;

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

}  // namespace

Tensor Interpret(const Context& c, const Reshape&) { return {c.out().shape, c.in(0).data}; }

Tensor Interpret(const Context& c, const Transpose& op) {
  return Moved(c, [&](std::vector<int64_t> y) {
    std::vector<int64_t> x(y.size());
    for (size_t d = 0; d < y.size(); ++d) x[op.perm[d]] = y[d];
    return x;
  });
}

Tensor Interpret(const Context& c, const Slice& op) {
  return Moved(c, [&](std::vector<int64_t> y) {
    for (size_t d = 0; d < y.size(); ++d) y[d] = op.starts[d] + y[d] * op.steps[d];
    return y;
  });
}

Tensor Interpret(const Context& c, const Pad& op) {
  const auto source = [&](std::vector<int64_t> y) {
    for (size_t d = 0; d < y.size(); ++d) y[d] -= op.before[d];
    return y;
  };
  return Moved(c, source, op.value);
}

Tensor Interpret(const Context& c, const Expand&) {
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = Broadcasted(c.in(0), y.shape, static_cast<int64_t>(i));
  }
  return y;
}

Tensor Interpret(const Context& c, const Concat& op) {
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

Tensor Interpret(const Context& c, const Where&) {
  Tensor y = c.Empty();
  for (size_t i = 0; i < y.data.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    y.data[i] = Broadcasted(c.in(Broadcasted(c.in(0), y.shape, at) != 0 ? 1 : 2), y.shape, at);
  }
  return y;
}

Tensor Interpret(const Context& c, const ArgMax& op) {
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

Tensor Interpret(const Context& c, const Reduce& op) {
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
    double sum = 0, magnitude = 0, squares = 0;
    for (const double v : g) sum += v, magnitude += std::fabs(v), squares += v * v;
    y.data[i] = op.op == ReduceOp::kMax         ? *std::max_element(g.begin(), g.end())
                : op.op == ReduceOp::kMin       ? *std::min_element(g.begin(), g.end())
                : op.op == ReduceOp::kL1        ? magnitude
                : op.op == ReduceOp::kL2        ? std::sqrt(squares)
                : op.op == ReduceOp::kSumSquare ? squares
                : op.op == ReduceOp::kSum       ? sum
                                                : sum / static_cast<double>(g.size());
  }
  return y;
}

// One dimension after the other, by the weights of the F32 command.
Tensor Interpret(const Context& c, const Resize& op) {
  Tensor x = c.in(0);
  for (size_t d = 0; d < x.shape.size(); ++d) x = Interpolated(op, x, d, c.out().shape[d]);
  return x;
}

}  // namespace rshift::test::interpreter
