// Convolutions, matrix products, pools.
#include <algorithm>

#include "graph/openvino/layer.h"

namespace rshift::openvino {
namespace {

// strides, dilations, pads, auto_pad, which convolutions and pools share.
void SetWindow(LayerNode& layer, onnx::NodeProto& node) {
  if (layer.Has("strides")) Set(node, "strides", layer.Ints("strides"));
  if (layer.Has("dilations")) Set(node, "dilations", layer.Ints("dilations"));
  const std::string auto_pad = layer.Text("auto_pad", "explicit");
  if (auto_pad == "same_upper") return Set(node, "auto_pad", "SAME_UPPER");
  if (auto_pad == "same_lower") return Set(node, "auto_pad", "SAME_LOWER");
  if (auto_pad == "valid") return Set(node, "auto_pad", "VALID");
  layer.Check(auto_pad == "explicit" || auto_pad == "notset", "attribute 'auto_pad' is '", auto_pad,
              "', expected explicit, same_upper, same_lower or valid");
  std::vector<int64_t> pads = layer.Ints("pads_begin");
  const std::vector<int64_t> end = layer.Ints("pads_end");
  pads.insert(pads.end(), end.begin(), end.end());
  if (!pads.empty()) Set(node, "pads", pads);
}

void Convolution(LayerNode& layer) {
  SetWindow(layer, layer.Give("Conv", {layer.In(0), layer.In(1)}));
}

// [G, A, B, ...] -> [G A, B, ...]: ONNX lists the channels of all groups.
std::string Ungrouped(LayerNode& layer) {
  const std::string& flat = layer.state().flat[layer.ProducerIndex(1)];
  if (!flat.empty()) return flat;
  const std::vector<int64_t>& dims = layer.Dims(1);
  layer.Check(dims.size() >= 4, "its weights have ", dims.size(),
              " dimensions, expected groups, channels and a window");
  std::vector<int64_t> shape = {dims[0] * dims[1]};
  shape.insert(shape.end(), dims.begin() + 2, dims.end());
  return layer.Then("Reshape", {layer.In(1), layer.IntConstant(shape, "shape")});
}

void GroupConvolution(LayerNode& layer) {
  const std::string weights = Ungrouped(layer);
  onnx::NodeProto& node = layer.Give("Conv", {layer.In(0), weights});
  Set(node, "group", layer.Dims(1).at(0));
  SetWindow(layer, node);
}

void SetTransposed(LayerNode& layer, onnx::NodeProto& node) {
  SetWindow(layer, node);
  if (layer.Has("output_padding")) Set(node, "output_padding", layer.Ints("output_padding"));
  if (layer.InputCount() > 2) Set(node, "output_shape", layer.RequireIntegers(2, "output_shape"));
}

void Deconvolution(LayerNode& layer) {
  SetTransposed(layer, layer.Give("ConvTranspose", {layer.In(0), layer.In(1)}));
}

void GroupDeconvolution(LayerNode& layer) {
  const std::string weights = Ungrouped(layer);
  onnx::NodeProto& node = layer.Give("ConvTranspose", {layer.In(0), weights});
  Set(node, "group", layer.Dims(1).at(0));
  SetTransposed(layer, node);
}

std::string Swapped(LayerNode& layer, size_t input) {
  const size_t rank = layer.Rank(input);
  if (rank < 2) return layer.In(input);
  std::vector<int64_t> perm(rank);
  for (size_t d = 0; d < rank; ++d) perm[d] = static_cast<int64_t>(d);
  std::swap(perm[rank - 1], perm[rank - 2]);
  std::string y = layer.Temporary("transposed");
  Set(layer.Add("Transpose", {layer.In(input)}, y), "perm", perm);
  return y;
}

void MatMul(LayerNode& layer) {
  const std::string a = layer.Flag("transpose_a", false) ? Swapped(layer, 0) : layer.In(0);
  const std::string b = layer.Flag("transpose_b", false) ? Swapped(layer, 1) : layer.In(1);
  layer.Give("MatMul", {a, b});
}

void SetPool(LayerNode& layer, onnx::NodeProto& node) {
  Set(node, "kernel_shape", layer.Ints("kernel"));
  const std::string rounding = layer.Text("rounding_type", "floor");
  layer.Check(rounding == "floor" || rounding == "ceil" || rounding == "ceil_torch",
              "attribute 'rounding_type' is '", rounding, "', expected floor or ceil");
  Set(node, "ceil_mode", int64_t{rounding != "floor"});
  SetWindow(layer, node);
}

void MaxPool(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("MaxPool", {layer.In(0)});
  SetPool(layer, node);
  if (layer.layer().outputs.size() > 1) node.add_output(layer.Out(1));
}

void AvgPool(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("AveragePool", {layer.In(0)});
  SetPool(layer, node);
  Set(node, "count_include_pad", int64_t{!layer.Flag("exclude-pad", true)});
}

constexpr Entry kConvTranslations[] = {
    {"Convolution", Convolution},
    {"GroupConvolution", GroupConvolution},
    {"ConvolutionBackpropData", Deconvolution},
    {"GroupConvolutionBackpropData", GroupDeconvolution},
    {"MatMul", MatMul},
    {"MaxPool", MaxPool},
    {"AvgPool", AvgPool},
};

}  // namespace

std::span<const Entry> ConvTranslations() { return kConvTranslations; }

}  // namespace rshift::openvino
