// Compressed weights, as NNCF writes them: Const (i8, u8) -> Convert -> Subtract -> Multiply. The
// zero point has a Convert of its own, and may be missing.
#include <algorithm>

#include "graph/openvino/layer.h"

namespace rshift::openvino {
namespace {

// Through Convert layers to the Const at their end; null when something else is there.
const Layer* ConstBehind(const State& state, size_t index) {
  const Layer* layer = &state.net.layers[index];
  while (layer->type == "Convert" && !layer->sources.empty()) {
    layer = &state.net.layers[layer->sources[0].layer];
  }
  return layer->type == "Const" && layer->outputs.size() == 1 ? layer : nullptr;
}

const std::vector<int64_t>& ShapeOf(const Layer& constant) { return constant.outputs[0].dims; }

int64_t Count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

struct Parts {
  const Layer *integers = nullptr, *scale = nullptr, *zero = nullptr;
};

bool IsByte(const Layer& constant) { return TypeOf(constant) == "i8" || TypeOf(constant) == "u8"; }

bool Find(LayerNode& multiply, Parts* parts) {
  const State& state = multiply.state();
  if (multiply.InputCount() != 2) return false;
  parts->scale = ConstBehind(state, multiply.ProducerIndex(1));
  const Layer* left = &multiply.Producer(0);
  if (left->type == "Subtract" && left->sources.size() == 2) {
    parts->zero = ConstBehind(state, left->sources[1].layer);
    if (parts->zero == nullptr) return false;
    left = &state.net.layers[left->sources[0].layer];
  }
  if (left->type != "Convert" || parts->scale == nullptr) return false;
  parts->integers = ConstBehind(state, left->sources[0].layer);
  if (parts->integers == nullptr || !IsByte(*parts->integers)) return false;
  const std::string scale = TypeOf(*parts->scale);
  return (scale == "f32" || scale == "f16") &&
         (parts->zero == nullptr || TypeOf(*parts->zero) == TypeOf(*parts->integers));
}

// How many leading dimensions the scales run along: 0 for one scale, -1 for any other form. Those
// before them may be 1.
int LeadingAxes(const std::vector<int64_t>& shape, const std::vector<int64_t>& scale) {
  if (Count(scale) == 1) return 0;
  if (scale.size() != shape.size()) return -1;
  for (int axes = 1; axes <= 2 && axes <= static_cast<int>(shape.size()); ++axes) {
    const bool leads = std::equal(scale.begin(), scale.begin() + axes, shape.begin());
    const bool alone =
        std::all_of(scale.begin() + axes, scale.end(), [](auto d) { return d == 1; });
    if (leads && alone) return axes;
  }
  return -1;
}

// The dimension along which the scales run, where it is a single one.
int64_t SingleAxis(const std::vector<int64_t>& shape, const std::vector<int64_t>& scale) {
  int64_t axis = -1;
  if (scale.size() != shape.size()) return -1;
  for (size_t d = 0; d < scale.size(); ++d) {
    if (scale[d] == 1) continue;
    if (axis >= 0 || scale[d] != shape[d]) return -1;
    axis = static_cast<int64_t>(d);
  }
  return axis;
}

}  // namespace

bool TranslateDequantize(LayerNode& multiply) {
  Parts parts;
  if (!Find(multiply, &parts)) return false;
  State& state = multiply.state();
  const std::vector<int64_t>& shape = ShapeOf(*parts.integers);
  const std::vector<int64_t>& scale = ShapeOf(*parts.scale);
  const int leading = LeadingAxes(shape, scale);
  const int64_t axis = leading == 0 ? 0 : SingleAxis(shape, scale);
  const bool grouped = leading == 2 && shape[1] > 1 && shape.size() >= 4;
  if (leading < 0 && axis < 0) return false;
  if (parts.zero != nullptr && Count(ShapeOf(*parts.zero)) != Count(scale)) return false;
  std::vector<int64_t> whole = shape, one = {Count(scale)};
  if (leading == 0) one.clear();
  if (grouped) {  // the channels of all groups in one list: the convolution takes it as it is
    whole = {shape[0] * shape[1]};
    whole.insert(whole.end(), shape.begin() + 2, shape.end());
  }
  const auto add = [&](const Layer& constant, const char* what, const std::vector<int64_t>& dims) {
    std::string name = multiply.Temporary(what);
    AddInitializer(state, constant, name, dims);
    return name;
  };
  std::vector<std::string> inputs = {add(*parts.integers, "integers", whole),
                                     add(*parts.scale, "scale", one)};
  if (TypeOf(*parts.scale) == "f16") {
    const std::string real = multiply.Temporary("scale_f32");
    Set(multiply.Add("Cast", {inputs[1]}, real), "to", int64_t{onnx::TensorProto::FLOAT});
    inputs[1] = real;
  }
  if (parts.zero != nullptr) inputs.push_back(add(*parts.zero, "zero_point", one));
  const std::string y = grouped ? multiply.Temporary("flat") : multiply.Out();
  Set(multiply.Add("DequantizeLinear", inputs, y), "axis", grouped ? int64_t{0} : axis);
  if (!grouped) return true;
  state.flat[multiply.index()] = y;
  multiply.Give("Reshape", {y, multiply.IntConstant(shape, "shape")});
  return true;
}

}  // namespace rshift::openvino
