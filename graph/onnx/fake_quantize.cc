// OpenVINO's FakeQuantize. Of activations it becomes one node; weights are quantized at once and
// remember their levels as integers (Value::origin).
#include "isa/fake_quantize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/fold/fold.h"
#include "graph/level_reading.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr std::array<const char*, 4> kEnds = {"input_low", "input_high", "output_low",
                                              "output_high"};

int64_t ReadLevelCount(const OnnxNode& node) {
  const int64_t levels = node.Int("levels", 0);
  node.Check(levels >= 2 && levels <= 65536, "has ", levels, " levels, expected 2 to 65536");
  const std::string broadcast = node.String("auto_broadcast", "numpy");
  node.CheckSupported(broadcast == "numpy", "attribute 'auto_broadcast' is ", Quoted(broadcast),
                      "; only 'numpy' is supported");
  return levels;
}

constexpr int64_t kNoAxis = -1, kManyAxes = -2;

// The dimension of x along which an end of the range varies.
int64_t AxisOfEnd(const OnnxNode& node, int i, const Shape& x) {
  const Shape shape = node.ShapeOf(i);
  int64_t axis = kNoAxis;
  node.Check(Broadcast(x, shape, node.where()) == x, kEnds[static_cast<size_t>(i) - 1],
             " has the shape ", ToString(shape), ", which does not broadcast to the input ",
             ToString(x));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (axis != kNoAxis) return kManyAxes;
    axis = static_cast<int64_t>(d + x.size() - shape.size());
  }
  return axis;
}

int64_t ReadAxis(const OnnxNode& node, const Shape& x) {
  int64_t axis = kNoAxis;
  for (int i = 1; i <= 4; ++i) {
    const int64_t own = AxisOfEnd(node, i, x);
    if (own == kNoAxis) continue;
    if (own == kManyAxes || (axis != kNoAxis && axis != own)) return kManyAxes;
    axis = own;
  }
  return axis;
}

// Input i as one number for each element of `rows`.
std::vector<float> ReadEnd(const OnnxNode& node, int i, const Shape& rows) {
  const char* name = kEnds[static_cast<size_t>(i) - 1];
  const std::vector<float> ends = node.ConstantFloats(i, name);
  for (const float end : ends) {
    node.Check(std::isfinite(end), name, " holds ", end, ", expected finite numbers");
  }
  std::vector<float> spread(static_cast<size_t>(NumElements(rows)));
  if (ends.size() == 1 || rows.size() == 1) {
    for (size_t c = 0; c < spread.size(); ++c) spread[c] = ends[ends.size() == 1 ? 0 : c];
    return spread;
  }
  const Shape strides = BroadcastStrides(node.ShapeOf(i), rows);
  WalkStrided(rows, std::array<Shape, 1>{strides}, [&](int64_t at, const auto& offsets) {
    spread[static_cast<size_t>(at)] = ends[static_cast<size_t>(offsets[0])];
  });
  return spread;
}

// `rows`: [1], [C], or the whole shape where the ends vary along several dimensions.
std::vector<FakeQuantizeRange> ReadRanges(const OnnxNode& node, const Shape& rows) {
  std::vector<FakeQuantizeRange> ranges(static_cast<size_t>(NumElements(rows)));
  for (int i = 1; i <= 4; ++i) {
    const std::vector<float> ends = ReadEnd(node, i, rows);
    for (size_t c = 0; c < ranges.size(); ++c) {
      FakeQuantizeRange& r = ranges[c];
      (i == 1 ? r.in_low : i == 2 ? r.in_high : i == 3 ? r.out_low : r.out_high) = ends[c];
    }
  }
  return ranges;
}

// The integers of quantized weights: levels counted from their middle, where 8 bits hold them.
class Weights {
 public:
  Weights(const Value& reals, const std::vector<FakeQuantizeRange>& ranges, int64_t levels,
          int64_t axis)
      : reals_(reals), ranges_(ranges), levels_(levels), axis_(axis) {}

  // Null where a range has no scale and zero point, or the levels do not fit 8 bits.
  std::shared_ptr<const QuantizedOrigin> Origin() const {
    if (levels_ > 256) return nullptr;
    auto origin = std::make_shared<QuantizedOrigin>();
    origin->axis = ranges_.size() == 1 ? -1 : axis_;
    const auto half = static_cast<int32_t>(levels_ / 2);
    for (const FakeQuantizeRange& r : ranges_) {
      const std::optional<LevelReading> reading = ReadLevels(r.out_low, r.out_high, levels_);
      if (!reading) return nullptr;
      const bool zeros = r.out_low == 0 && r.out_high == 0;
      origin->scales.push_back(static_cast<float>(reading->scale));
      origin->zero_points.push_back(zeros ? 0 : reading->zero - half);
      origin->tuned = origin->tuned || reading->tuned;
      if (!(origin->scales.back() > 0)) return nullptr;
    }
    origin->integers = Integers(*origin, half);
    return origin;
  }

 private:
  std::shared_ptr<const ConstantData> Integers(const QuantizedOrigin& origin, int32_t half) const {
    const auto in = reals_.constant->As<float>();
    const int64_t inner = origin.axis < 0 ? 1 : Strides(reals_.shape)[origin.axis];
    const auto low = static_cast<double>(-half), high = static_cast<double>(levels_ - 1 - half);
    auto data = std::make_shared<ConstantData>();
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t c = static_cast<size_t>(static_cast<int64_t>(i) / inner) % origin.scales.size();
      const double q =
          std::nearbyint(static_cast<double>(in[i]) / static_cast<double>(origin.scales[c])) +
          origin.zero_points[c];
      data->bytes.push_back(static_cast<uint8_t>(static_cast<int>(std::clamp(q, low, high))));
    }
    return data;
  }

  const Value& reals_;
  const std::vector<FakeQuantizeRange>& ranges_;
  const int64_t levels_, axis_;
};

ValueId RangesConstant(OnnxNode& node, const std::vector<FakeQuantizeRange>& ranges) {
  Value constant;
  constant.shape = {static_cast<int64_t>(ranges.size()), 4};
  auto data = std::make_shared<ConstantData>();
  data->bytes.assign(reinterpret_cast<const uint8_t*>(ranges.data()),
                     reinterpret_cast<const uint8_t*>(ranges.data() + ranges.size()));
  constant.constant = std::move(data);
  return node.Add(std::move(constant));
}

// Ranges of single elements: the tensor as one list, each element a channel.
void ImportElementwise(OnnxNode& node, int64_t levels, const Shape& shape) {
  const Shape list = {NumElements(shape)};
  const Shape rows = shape.empty() ? Shape{1} : shape;
  const ValueId ranges = RangesConstant(node, ReadRanges(node, rows));
  const ValueId x = node.Reshaped(node.Input(0), list);
  const ValueId y = node.Emit(FakeQuantize{levels, 0}, {x, ranges}, DType::kF32, list);
  node.OutputReshaped(y, shape);
}

void ImportFakeQuantize(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape shape = node.ShapeOf(0);
  const int64_t levels = ReadLevelCount(node), axis = ReadAxis(node, shape);
  if (axis == kManyAxes || shape.empty()) return ImportElementwise(node, levels, shape);
  const Shape rows = {axis == kNoAxis ? 1 : shape[static_cast<size_t>(axis)]};
  const std::vector<FakeQuantizeRange> ranges = ReadRanges(node, rows);
  const FakeQuantize op{levels, std::max<int64_t>(axis, 0)};
  node.Output(op, {node.Input(0), RangesConstant(node, ranges)}, DType::kF32, shape);
  Value& y = node.state().graph.value(node.state().values.at(node.proto().output(0)));
  if (y.is_constant()) y.origin = Weights(y, ranges, levels, op.axis).Origin();
}

constexpr ImportEntry kFakeQuantizeImports[] = {
    {"FakeQuantize", ImportFakeQuantize},
    {"org.openvinotoolkit:FakeQuantize", ImportFakeQuantize},
};

}  // namespace

std::span<const ImportEntry> FakeQuantizeImports() { return kFakeQuantizeImports; }

}  // namespace rshift
