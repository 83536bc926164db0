#include "pipeline/channel_moments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rshift {
namespace {

// Of every group, [inputs, outputs of the group].
struct Columns {
  std::vector<double> floats, integers;
};

Columns ColumnsOf(const BiasLayer& layer, const WindowRows& rows) {
  const int64_t outputs = layer.product.outputs, inputs = rows.inputs(), taps = rows.taps();
  const int64_t of_group = outputs / rows.groups;
  ProductWeights order = layer.product;
  order.transposed = layer.inputs_first;
  Columns columns;
  columns.floats.resize(static_cast<size_t>(outputs * inputs));
  columns.integers.resize(columns.floats.size());
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t k = 0; k < inputs; ++k) {
      const auto at = static_cast<size_t>((o / of_group * inputs + k) * of_group + o % of_group);
      const int64_t i = k / taps, t = k % taps;
      columns.floats[at] =
          static_cast<double>(layer.weights[static_cast<size_t>(layer.product.Index(o, i, t))]);
      columns.integers[at] =
          static_cast<double>(layer.integers[static_cast<size_t>(order.Index(o, i, t))]);
    }
  }
  return columns;
}

// Row `position`, all groups one after the other.
template <typename T>
void GatherRow(const WindowRows& rows, int64_t position, const T* x, double zero, double* row) {
  const int64_t taps = rows.taps();
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t place = TapPlace(rows, position, tap);
    for (int64_t c = 0; c < rows.channels; ++c)
      row[c * taps + tap] = place < 0 ? 0 : static_cast<double>(x[place + c]) - zero;
  }
}

void Multiply(const WindowRows& rows, const std::vector<double>& row,
              const std::vector<double>& columns, std::vector<double>* sums) {
  const int64_t inputs = rows.inputs();
  const auto of_group = static_cast<int64_t>(sums->size()) / rows.groups;
  std::fill(sums->begin(), sums->end(), 0);
  for (int64_t k = 0; k < inputs * rows.groups; ++k) {
    const double x = row[static_cast<size_t>(k)];
    if (x == 0) continue;
    const double* w = columns.data() + k * of_group;
    double* sum = sums->data() + k / inputs * of_group;
    for (int64_t o = 0; o < of_group; ++o) sum[o] += x * w[o];
  }
}

}  // namespace

std::vector<ChannelMoments> MomentsOf(const BiasLayer& layer, const WindowRows& rows,
                                      std::span<const float> x,
                                      std::span<const std::byte> integers) {
  const Columns columns = ColumnsOf(layer, rows);
  const auto width = static_cast<size_t>(rows.inputs() * rows.groups);
  const auto outputs = static_cast<size_t>(layer.product.outputs);
  std::vector<double> row(width), y(outputs), u(outputs);
  std::vector<ChannelMoments> moments(outputs);
  for (int64_t position = 0; position < rows.rows(); ++position) {
    GatherRow(rows, position, x.data(), 0, row.data());
    Multiply(rows, row, columns.floats, &y);
    const double zero = layer.quant.zero_point;
    if (layer.dtype == DType::kU8)
      GatherRow(rows, position, reinterpret_cast<const uint8_t*>(integers.data()), zero,
                row.data());
    else
      GatherRow(rows, position, reinterpret_cast<const int8_t*>(integers.data()), zero, row.data());
    Multiply(rows, row, columns.integers, &u);
    for (size_t o = 0; o < outputs; ++o) {
      ChannelMoments& m = moments[o];
      m.count += 1;
      m.y += y[o];
      m.u += u[o];
      m.yu += y[o] * u[o];
      m.uu += u[o] * u[o];
    }
  }
  return moments;
}

double SlopeOf(std::span<const ChannelMoments> samples, double unit) {
  ChannelMoments all;
  for (const ChannelMoments& m : samples) {
    all.count += m.count;
    all.y += m.y;
    all.u += m.u;
    all.yu += m.yu;
    all.uu += m.uu;
  }
  if (samples.size() < 2 || all.count == 0) return 1;
  const double y = all.y / all.count, u = all.u / all.count;
  const double variance = all.uu - all.count * u * u;
  if (!(variance > 0)) return 1;
  const double slope = (all.yu - all.count * y * u) / variance;
  double squares = 0;  // of what each sample would have of its own
  for (const ChannelMoments& m : samples) {
    const double covariance = m.yu - u * m.y - y * m.u + m.count * y * u;
    const double own = m.uu - 2 * u * m.u + m.count * u * u;
    squares += std::pow(covariance - slope * own, 2);
  }
  const auto count = static_cast<double>(samples.size());
  // Of twice the standard error, squared: few samples show it smaller than it is.
  const double chance = 4 * squares * count / (count - 1) / (variance * variance) / (unit * unit);
  const double off = slope / unit - 1;
  if (!(off * off > chance) || !(off > -0.5 && off < 1)) return 1;
  return 1 + off * (1 - chance / (off * off));
}

}  // namespace rshift
