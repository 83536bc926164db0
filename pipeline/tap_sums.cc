#include "pipeline/tap_sums.h"

#include <algorithm>
#include <variant>

namespace rshift {
namespace {

struct Dimension {
  int64_t kernel, stride, dilation, pad;
  int64_t in, out;  // sizes of input and output
};

// The k with low <= k * step + offset < high, 0 <= k < count; step > 0.
std::pair<int64_t, int64_t> Inside(int64_t count, int64_t step, int64_t offset, int64_t high) {
  const int64_t begin = offset >= 0 ? 0 : (-offset + step - 1) / step;
  const int64_t end = offset >= high ? 0 : std::min(count, (high - offset + step - 1) / step);
  return {begin, std::max(begin, end)};
}

// Of each kernel row: the output rows whose window has it inside the input.
std::vector<Progression> MetByGather(const Dimension& d) {
  std::vector<Progression> met;
  for (int64_t k = 0; k < d.kernel; ++k) {
    const int64_t offset = k * d.dilation - d.pad;
    const auto [begin, end] = Inside(d.out, d.stride, offset, d.in);
    met.push_back({begin * d.stride + offset, d.stride, end - begin});
  }
  return met;
}

// Of each kernel row of a transposed convolution: the input rows that it spreads into the output.
std::vector<Progression> MetByScatter(const Dimension& d) {
  std::vector<Progression> met;
  for (int64_t k = 0; k < d.kernel; ++k) {
    const auto [begin, end] = Inside(d.in, d.stride, k * d.dilation - d.pad, d.out);
    met.push_back({begin, 1, end - begin});
  }
  return met;
}

void SetWindow(const Window& w, const Shape& x, const Shape& y, bool scatters, TapGeometry* g) {
  const Dimension rows{w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, x[1], y[1]};
  const Dimension columns{w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, x[2], y[2]};
  g->images = x[0];
  g->height = x[1];
  g->width = x[2];
  g->rows = scatters ? MetByScatter(rows) : MetByGather(rows);
  g->columns = scatters ? MetByScatter(columns) : MetByGather(columns);
}

template <typename Sum, typename T>
std::vector<Sum> SumsOf(const TapGeometry& g, const T* x) {
  const auto channels = static_cast<size_t>(g.channels);
  std::vector<Sum> sums(g.taps() * channels);
  for (size_t tap = 0; tap < g.taps(); ++tap) {
    const Progression &rows = g.rows[tap / g.columns.size()],
                      &columns = g.columns[tap % g.columns.size()];
    Sum* sum = sums.data() + tap * channels;
    for (int64_t image = 0; image < g.images; ++image) {
      for (int64_t r = 0; r < rows.count; ++r) {
        const int64_t row = image * g.height + rows.first + r * rows.step;
        const T* at = x + (row * g.width + columns.first) * g.channels;
        for (int64_t c = 0; c < columns.count; ++c, at += columns.step * g.channels) {
          for (size_t i = 0; i < channels; ++i) sum[i] += static_cast<Sum>(at[i]);
        }
      }
    }
  }
  return sums;
}

}  // namespace

TapGeometry TapGeometryOf(const Graph& graph, const Node& node) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  TapGeometry geometry;
  geometry.channels = x.back();
  geometry.positions = y.back() == 0 ? 0 : NumElements(y) / y.back();
  if (const auto* conv = std::get_if<Conv>(&node.op)) {
    SetWindow(conv->window, x, y, false, &geometry);
  } else if (const auto* transposed = std::get_if<ConvTranspose>(&node.op)) {
    SetWindow(transposed->window, x, y, true, &geometry);
  } else {
    geometry.width = geometry.positions;  // rows of a matrix
    geometry.rows = {{0, 1, 1}};
    geometry.columns = {{0, 1, geometry.width}};
  }
  return geometry;
}

std::vector<double> TapSums(const TapGeometry& geometry, const float* x) {
  return SumsOf<double>(geometry, x);
}
std::vector<int64_t> TapSums(const TapGeometry& geometry, const int8_t* x) {
  return SumsOf<int64_t>(geometry, x);
}
std::vector<int64_t> TapSums(const TapGeometry& geometry, const uint8_t* x) {
  return SumsOf<int64_t>(geometry, x);
}
std::vector<int64_t> TapSums(const TapGeometry& geometry, const int16_t* x) {
  return SumsOf<int64_t>(geometry, x);
}

}  // namespace rshift
