// Resize, linear and cubic.
#include "quantize/numerics/resize.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

struct Taps {
  std::vector<int32_t> list;  // as in isa/ops/resize.h
  int axes = 0;
  int64_t gain = 1;  // of all axes; the unit is 1 << (bits * axes)
  int64_t most_of_axis = 0;
};

// Appends index and coefficient of each tap; the sum of |coefficient|.
template <size_t N>
int64_t Append(const std::array<numerics::ResizeTap, N>& taps, int bits,
               std::vector<int32_t>* list) {
  const std::array<int32_t, N> coefficients = numerics::ResizeCoefficients(taps, bits);
  int64_t gain = 0;
  for (size_t i = 0; i < N; ++i) {
    list->push_back(static_cast<int32_t>(taps[i].index));
    list->push_back(coefficients[i]);
    gain += std::abs(coefficients[i]);
  }
  return gain;
}

// Coefficients of so many fraction bits.
Taps TapsOf(const Resize& op, const Shape& x, const Shape& y, int bits = numerics::kResizeBits) {
  const bool cubic = op.mode == ResizeMode::kCubic;
  Taps taps;
  std::vector<int32_t> pairs;
  for (size_t d = 0; d < x.size(); ++d) {
    const numerics::ResizeAxis axis{op.coordinate, op.scales[d], x[d], y[d]};
    const bool resized = axis.in != axis.out || axis.scale != 1.0f;
    taps.list.push_back(!resized ? 0 : cubic ? 4 : 2);
    if (!resized) continue;
    ++taps.axes;
    int64_t gain = 0;
    for (int64_t i = 0; i < axis.out; ++i) {
      gain = std::max(
          gain,
          cubic ? Append(numerics::CubicTaps(axis, op.cubic_a, op.exclude_outside, i), bits, &pairs)
                : Append(numerics::LinearTaps(axis, i), bits, &pairs));
    }
    taps.gain *= gain;
    taps.most_of_axis = std::max(taps.most_of_axis, gain);
    if (taps.axes > numerics::kMostResizedAxes) break;
  }
  taps.list.insert(taps.list.end(), pairs.begin(), pairs.end());
  return taps;
}

int64_t MostGain(int axes) {
  return numerics::kMostResizeGain >> (numerics::kResizeBits * (numerics::kMostResizedAxes - axes));
}

}  // namespace

OpSupport SupportResize(const Graph& graph, const Node& node, const Resize& op,
                        const Arithmetic& rules) {
  if (rules.HasLinearResize()) return SupportLinearResize(graph, node, op);
  if (!rules.HasResize()) {
    const std::string none = "only the nearest mode has an integer form",
                      why = rules.WhyFloatSums();
    return {OpKind::kFloat, why.empty() ? none : Cat(none, ": ", why)};
  }
  const Shape& x = graph.value(node.inputs[0]).shape;
  const Shape& y = graph.value(node.outputs[0]).shape;
  if (NumElements(x) == 0 || NumElements(y) == 0) return {OpKind::kFloat, "it is empty"};
  const Taps taps = TapsOf(op, x, y);
  if (taps.axes > numerics::kMostResizedAxes) {
    return {OpKind::kFloat, "it interpolates along more than two dimensions"};
  }
  if (taps.gain > MostGain(taps.axes)) {
    return {OpKind::kFloat, "its coefficients amplify by more than 2.5"};
  }
  return {OpKind::kFunction, ""};
}

bool HasResizeOfInt16(const Graph& graph, const Node& node, const Resize& op) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  const Taps taps = TapsOf(op, x, y, numerics::kResizeInt16Bits);
  const int others = numerics::kMostResizedAxes - taps.axes;
  return others >= 0 && taps.most_of_axis <= numerics::kMostInt16AxisGain &&
         taps.gain <= numerics::kMostInt16ResizeGain >> (numerics::kResizeInt16Bits * others);
}

void EmitResizeInt16(Emitter& emitter, const Node& node, const Resize& op, int32_t factor) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType x = emitter.Int16Type(old_x, factor), y = emitter.Type(old_y);
  Taps taps = TapsOf(op, emitter.old().value(old_x).shape, emitter.old().value(old_y).shape,
                     numerics::kResizeInt16Bits);
  QResizeS16 result;
  result.clamp = {y.qmin(), y.qmax()};
  result.taps = std::move(taps.list);
  result.words = numerics::ResizeInt16Words(
      static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale), taps.axes);
  const ValueId input = emitter.Int16(old_x, factor);
  emitter.AddNode(node.name, std::move(result), {input}, emitter.DefineInt(old_y));
}

void EmitResize(Emitter& emitter, const Node& node, const Resize& op) {
  if (RulesOf(emitter).HasLinearResize()) return EmitLinearResize(emitter, node, op);
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const IntType x = emitter.Type(old_x), y = emitter.Type(old_y);
  Taps taps = TapsOf(op, emitter.old().value(old_x).shape, emitter.old().value(old_y).shape);
  QResize result;
  result.clamp = {y.qmin(), y.qmax()};
  result.taps = std::move(taps.list);
  if (x != y) {
    result.words = numerics::ResizeWords(
        static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale), taps.axes);
  }
  const ValueId input = emitter.Int(old_x);
  emitter.AddNode(node.name, std::move(result), {input}, emitter.DefineInt(old_y));
}

}  // namespace rshift
