// Layers that move elements or compute shapes.
#include <algorithm>

#include "graph/openvino/layer.h"

namespace rshift::openvino {
namespace {

void Identity(LayerNode& layer) { layer.Give("Identity", {layer.In(0)}); }

void Reshape(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("Reshape", {layer.In(0), layer.In(1)});
  Set(node, "allowzero", int64_t{!layer.Flag("special_zero", false)});
}

void Squeeze(LayerNode& layer) {
  std::vector<std::string> inputs = {layer.In(0)};
  if (layer.InputCount() > 1) inputs.push_back(layer.In(1));
  layer.Give("Squeeze", inputs);
}

void Unsqueeze(LayerNode& layer) { layer.Give("Unsqueeze", {layer.In(0), layer.In(1)}); }

void Transpose(LayerNode& layer) {
  std::vector<int64_t> perm = layer.RequireIntegers(1, "order");
  if (perm.empty()) {  // the dimensions in reverse
    for (size_t d = layer.Rank(0); d-- > 0;) perm.push_back(static_cast<int64_t>(d));
  }
  Set(layer.Give("Transpose", {layer.In(0)}), "perm", perm);
}

void Concat(LayerNode& layer) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < layer.InputCount(); ++i) inputs.push_back(layer.In(i));
  Set(layer.Give("Concat", inputs), "axis", layer.Int("axis", 0));
}

int64_t AxisInput(const LayerNode& layer, size_t i) {
  const std::vector<int64_t> axis = layer.RequireIntegers(i, "axis");
  layer.Check(axis.size() == 1, "its axis has ", axis.size(), " elements, expected one");
  return axis[0];
}

void AddOutputs(LayerNode& layer, onnx::NodeProto& node) {
  for (size_t i = 1; i < layer.layer().outputs.size(); ++i) node.add_output(layer.Out(i));
}

void Split(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("Split", {layer.In(0)});
  Set(node, "axis", AxisInput(layer, 1));
  Set(node, "num_outputs", layer.Int("num_splits", 1));
  AddOutputs(layer, node);
}

void VariadicSplit(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("Split", {layer.In(0), layer.In(2)});
  Set(node, "axis", AxisInput(layer, 1));
  AddOutputs(layer, node);
}

void Gather(LayerNode& layer) {
  if (layer.Int("batch_dims", 0) != 0) layer.Unsupported("has batch_dims; only 0 is supported");
  Set(layer.Give("Gather", {layer.In(0), layer.In(1)}), "axis", AxisInput(layer, 2));
}

// Bit d of a mask: "1,0,1".
bool Masked(const std::vector<int64_t>& mask, size_t d) { return d < mask.size() && mask[d] != 0; }

// begin : end : stride of each dimension; new ones are added, single ones dropped.
void StridedSlice(LayerNode& layer) {
  const std::vector<int64_t> begin = layer.RequireIntegers(1, "begin");
  const std::vector<int64_t> end = layer.RequireIntegers(2, "end");
  std::vector<int64_t> strides(begin.size(), 1);
  if (layer.InputCount() > 3) strides = layer.RequireIntegers(3, "strides");
  const auto mask = [&](const char* name) { return layer.Ints(name); };
  const std::vector<int64_t> no_begin = mask("begin_mask"), no_end = mask("end_mask"),
                             added = mask("new_axis_mask"), single = mask("shrink_axis_mask"),
                             ellipsis = mask("ellipsis_mask");
  layer.Check(end.size() == begin.size() && strides.size() == begin.size(),
              "begin, end and strides have ", begin.size(), ", ", end.size(), " and ",
              strides.size(), " elements, expected equally many");
  if (std::any_of(ellipsis.begin(), ellipsis.end(), [](int64_t bit) { return bit != 0; }))
    layer.Unsupported("has an ellipsis_mask; write the dimensions out");
  std::vector<int64_t> starts, ends, axes, steps, unsqueezed, squeezed;
  int64_t axis = 0, place = 0;  // of the input, of the result before single ones are dropped
  for (size_t d = 0; d < begin.size(); ++d) {
    if (Masked(added, d)) {
      unsqueezed.push_back(place++);
      continue;
    }
    const bool one = Masked(single, d), forward = strides[d] > 0;
    constexpr int64_t kFar = int64_t{1} << 62;
    const int64_t first = Masked(no_begin, d) && !one ? (forward ? 0 : kFar) : begin[d];
    const int64_t last = one                 ? (begin[d] == -1 ? kFar : begin[d] + 1)
                         : Masked(no_end, d) ? (forward ? kFar : -kFar)
                                             : end[d];
    starts.push_back(first);
    ends.push_back(last);
    steps.push_back(one ? 1 : strides[d]);
    axes.push_back(axis++);
    if (one) squeezed.push_back(place);
    ++place;
  }
  std::string x = layer.In(0);
  if (!starts.empty()) {
    x = layer.Then("Slice",
                   {x, layer.IntConstant(starts, "starts"), layer.IntConstant(ends, "ends"),
                    layer.IntConstant(axes, "axes"), layer.IntConstant(steps, "steps")});
  }
  if (!unsqueezed.empty())
    x = layer.Then("Unsqueeze", {x, layer.IntConstant(unsqueezed, "new_axes")});
  if (!squeezed.empty()) x = layer.Then("Squeeze", {x, layer.IntConstant(squeezed, "single")});
  layer.Give("Identity", {x});
}

// data, start, stop, step, axes: ONNX has axes before the steps.
void Slice(LayerNode& layer) {
  std::vector<std::string> inputs = {layer.In(0), layer.In(1), layer.In(2)};
  inputs.push_back(layer.InputCount() > 4 ? layer.In(4) : "");
  inputs.push_back(layer.In(3));
  layer.Give("Slice", inputs);
}

void Pad(LayerNode& layer) {
  const std::string mode = layer.Text("pad_mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    layer.Unsupported("attribute 'pad_mode' is '", mode, "'; constant, reflect and edge are read");
  const std::string joined = layer.Temporary("pads");
  Set(layer.Add("Concat", {layer.In(1), layer.In(2)}, joined), "axis", int64_t{0});
  std::vector<std::string> inputs = {layer.In(0), joined};
  if (layer.InputCount() > 3 && mode == "constant") inputs.push_back(layer.In(3));
  Set(layer.Give("Pad", inputs), "mode", mode.c_str());
}

void Tile(LayerNode& layer) { layer.Give("Tile", {layer.In(0), layer.In(1)}); }

void Broadcast(LayerNode& layer) {
  const std::string mode = layer.Text("mode", "numpy");
  if (mode != "numpy" && mode != "bidirectional")
    layer.Unsupported("attribute 'mode' is '", mode, "'; numpy and bidirectional are read");
  layer.Give("Expand", {layer.In(0), layer.In(1)});
}

void ShapeOf(LayerNode& layer) {
  const int type = OnnxType(layer.Text("output_type", "i64"));
  const std::string shape = layer.Then("Shape", {layer.In(0)});
  Set(layer.Give("Cast", {shape}), "to", int64_t{type});
}

void Range(LayerNode& layer) { layer.Give("Range", {layer.In(0), layer.In(1), layer.In(2)}); }

void DepthToSpace(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("DepthToSpace", {layer.In(0)});
  Set(node, "blocksize", layer.Int("block_size", 1));
  const bool depth_first = layer.Text("mode", "blocks_first") == "depth_first";
  Set(node, "mode", depth_first ? "CRD" : "DCR");
}

void SpaceToDepth(LayerNode& layer) {
  if (layer.Text("mode", "blocks_first") != "blocks_first")
    layer.Unsupported("attribute 'mode' is depth_first; only blocks_first is read");
  Set(layer.Give("SpaceToDepth", {layer.In(0)}), "blocksize", layer.Int("block_size", 1));
}

// opset11: sizes or scales of the axes as the second input.
void Interpolate(LayerNode& layer) {
  const std::string mode = layer.Text("mode", "nearest");
  const bool scales = layer.Text("shape_calculation_mode", "sizes") == "scales";
  if (layer.layer().version != "opset11" && layer.layer().version != "opset4")
    layer.Unsupported("is of ", layer.layer().version, "; opset4 and opset11 are read");
  const auto pads = [&](const char* key) {
    const std::vector<int64_t> list = layer.Ints(key);
    return std::any_of(list.begin(), list.end(), [](int64_t pad) { return pad != 0; });
  };
  if (pads("pads_begin") || pads("pads_end")) layer.Unsupported("has pads; give it a Pad layer");
  if (layer.Flag("antialias", false)) layer.Unsupported("has antialias, which is not supported");
  const std::string transform = layer.Text("coordinate_transformation_mode", "half_pixel");
  if (transform == "tf_half_pixel_for_nn")
    layer.Unsupported("has the mode tf_half_pixel_for_nn, which ONNX does not have");
  const bool opset4 = layer.layer().version == "opset4";  // data, sizes, scales, axes
  const std::string wanted = layer.In(opset4 && scales ? 2 : 1);
  std::vector<std::string> inputs = {layer.In(0), ""};
  if (scales) {
    inputs.push_back(wanted);
  } else {
    inputs.insert(inputs.end(), {"", wanted});
  }
  onnx::NodeProto& node = layer.Give("Resize", inputs);
  const size_t axes = opset4 ? 3 : 2;
  if (layer.InputCount() > axes) Set(node, "axes", layer.RequireIntegers(axes, "axes"));
  Set(node, "mode", mode == "linear_onnx" ? "linear" : mode.c_str());
  Set(node, "coordinate_transformation_mode", transform.c_str());
  Set(node, "nearest_mode", layer.Text("nearest_mode", "round_prefer_floor").c_str());
  if (mode == "cubic") Set(node, "cubic_coeff_a", layer.Float("cube_coeff", -0.75f));
}

constexpr Entry kMovementTranslations[] = {
    {"Broadcast", Broadcast},
    {"Concat", Concat},
    {"DepthToSpace", DepthToSpace},
    {"Gather", Gather},
    {"Identity", Identity},
    {"Interpolate", Interpolate},
    {"Pad", Pad},
    {"Range", Range},
    {"Reshape", Reshape},
    {"ShapeOf", ShapeOf},
    {"Slice", Slice},
    {"SpaceToDepth", SpaceToDepth},
    {"Split", Split},
    {"Squeeze", Squeeze},
    {"StridedSlice", StridedSlice},
    {"Tile", Tile},
    {"Transpose", Transpose},
    {"Unsqueeze", Unsqueeze},
    {"VariadicSplit", VariadicSplit},
};

}  // namespace

std::span<const Entry> MovementTranslations() { return kMovementTranslations; }

}  // namespace rshift::openvino
