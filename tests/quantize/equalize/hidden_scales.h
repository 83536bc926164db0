// Little graphs whose channels a rescaling has driven apart.
#ifndef RSHIFT_TESTS_QUANTIZE_EQUALIZE_HIDDEN_SCALES_H_
#define RSHIFT_TESTS_QUANTIZE_EQUALIZE_HIDDEN_SCALES_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "quantize/equalize/choose.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {

inline const Clamp kRelu{0.0f, INFINITY};

// x [1, 5, 5, 3] -> Conv 1x1 to 4 -> Relu `clamp` -> depthwise 3x3 -> Relu -> Conv 1x1 to 2.
inline LittleGraph SeparableNet(Clamp clamp = kRelu) {
  LittleGraph net(7);
  const ValueId x = net.Input("x", {1, 5, 5, 3});
  Conv first, middle, last;
  first.clamp = clamp;
  middle.clamp = kRelu;
  middle.groups = 4;
  middle.window = {
      .kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
  const ValueId a = net.Add(
      "a", first,
      {x, net.RandomConstant("wa", {4, 3, 1, 1}, -1, 1), net.RandomConstant("ba", {4}, 0, 0.5f)},
      {1, 5, 5, 4});
  const ValueId b = net.Add(
      "b", middle,
      {a, net.RandomConstant("wb", {4, 1, 3, 3}, -1, 1), net.RandomConstant("bb", {4}, 0, 0.5f)},
      {1, 5, 5, 4});
  net.Output(net.Add(
      "y", last,
      {b, net.RandomConstant("wy", {2, 4, 1, 1}, -1, 1), net.RandomConstant("by", {2}, -1, 1)},
      {1, 5, 5, 2}));
  return net;
}

// What calibration would measure over the samples of the last net.Calibrate().
inline MeasuredChannels Measure(const Graph& graph, const std::vector<Tensors>& samples) {
  MeasuredChannels measured;
  for (const ValueId id : EqualizableValues(graph, EqualizeThrough::kFunctions)) {
    const Value& value = graph.value(id);
    const auto channels = static_cast<size_t>(value.shape.back());
    ChannelRanges ranges{std::vector<float>(channels), std::vector<double>(channels)};
    for (const Tensors& sample : samples) {
      const std::vector<double> data = Execute(graph, sample).at(value.name).data;
      for (size_t i = 0; i < data.size(); ++i) {
        float& peak = ranges.peak[i % channels];
        peak = std::max(peak, static_cast<float>(std::fabs(data[i])));
        ranges.square[i % channels] += data[i] * data[i] * static_cast<double>(channels) /
                                       static_cast<double>(data.size() * samples.size());
      }
    }
    measured[value.name] = std::move(ranges);
  }
  return measured;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_QUANTIZE_EQUALIZE_HIDDEN_SCALES_H_
