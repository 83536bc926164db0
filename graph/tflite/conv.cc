// Convolutions and pools: windows over [N, H, W, C].
#include <algorithm>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// Spatial attributes of a window; the padding follows the size of the input.
template <typename T>
OpAttributes WindowAttributes(const T& options) {
  return {{"strides", std::vector<int64_t>{options.stride_h(), options.stride_w()}},
          {"auto_pad", options.padding() == Padding_SAME ? "SAME_UPPER" : "VALID"}};
}

template <typename T>
const T& Needed(const OpWriter& op, const T* options) {
  op.Check(options != nullptr, "has no options; the file is damaged");
  return *options;
}

void CheckRanks(const OpWriter& op, int x, int w) {
  op.Check(op.InRank(x) == 4 && op.InRank(w) == 4, "input and weights have the shapes ",
           ToString(op.InShape(x)), " and ", ToString(op.InShape(w)),
           ", expected 4 dimensions each");
}

// x [N, H, W, C] and w, both channels first, and the s32 bias.
void GiveConv(OpWriter& op, const std::string& w, int64_t groups, OpAttributes attributes,
              ActivationFunctionType function) {
  const std::string x = op.ToChannelsFirst(op.Real(0));
  attributes.emplace_back("group", groups);
  const std::string bias = op.Bias(2, 0, 1);
  const std::string y = op.Activated(op.Emit("Conv", {x, w, bias}, attributes), function);
  op.GiveReal(op.ToChannelsLast(y));
}

// Weights [O, H, W, I / groups].
void TranslateConv(OpWriter& op) {
  const auto& options = Needed(op, op.Options<Conv2DOptions>());
  CheckRanks(op, 0, 1);
  const int64_t channels = op.InShape(0)[3], each = op.InShape(1)[3];
  op.Check(each > 0 && channels % each == 0, "has ", channels, " input channels, but weights for ",
           each, "; the file is damaged");
  OpAttributes attributes = WindowAttributes(options);
  attributes.emplace_back(
      "dilations", std::vector<int64_t>{options.dilation_h_factor(), options.dilation_w_factor()});
  GiveConv(op, op.ToChannelsFirst(op.Real(1)), channels / each, std::move(attributes),
           options.fused_activation_function());
}

// Weights [1, H, W, O].
void TranslateDepthwise(OpWriter& op) {
  const auto& options = Needed(op, op.Options<DepthwiseConv2DOptions>());
  CheckRanks(op, 0, 1);
  OpAttributes attributes = WindowAttributes(options);
  attributes.emplace_back(
      "dilations", std::vector<int64_t>{options.dilation_h_factor(), options.dilation_w_factor()});
  GiveConv(op, op.Transposed(op.Real(1), {3, 0, 1, 2}), op.InShape(0)[3], std::move(attributes),
           options.fused_activation_function());
}

// How much of the full transposed convolution is cut off, begin and end, and what is missing.
struct Cut {
  int64_t begin = 0, end = 0, missing = 0;
};

Cut CutTo(int64_t size, int64_t full, bool same) {
  const int64_t surplus = std::max<int64_t>(full - size, 0);
  const int64_t begin = same ? surplus / 2 : 0;
  return {begin, surplus - begin, std::max<int64_t>(size - full, 0)};
}

// A transposed convolution of x with weights [O, H, W, I] to a map of `size`, both spatial.
struct TransposedConv {
  int x = 0, weights = 1, bias = 2;  // which inputs
  int64_t height = 0, width = 0;
  int64_t stride_h = 1, stride_w = 1;
  bool same = false;
  ActivationFunctionType function = ActivationFunctionType_NONE;
};

void GiveTransposedConv(OpWriter& op, const TransposedConv& conv) {
  CheckRanks(op, conv.x, conv.weights);
  const Shape x = op.InShape(conv.x), w = op.InShape(conv.weights);
  const Cut h = CutTo(conv.height, (x[1] - 1) * conv.stride_h + w[1], conv.same);
  const Cut v = CutTo(conv.width, (x[2] - 1) * conv.stride_w + w[2], conv.same);
  const OpAttributes attributes = {{"strides", std::vector<int64_t>{conv.stride_h, conv.stride_w}},
                                   {"pads", std::vector<int64_t>{h.begin, v.begin, h.end, v.end}},
                                   {"output_padding", std::vector<int64_t>{h.missing, v.missing}}};
  const std::string weights = op.Transposed(op.Real(conv.weights), {3, 0, 1, 2});
  const std::string bias = op.Bias(conv.bias, conv.x, conv.weights);
  const std::string y =
      op.Emit("ConvTranspose", {op.ToChannelsFirst(op.Real(conv.x)), weights, bias}, attributes);
  op.GiveReal(op.ToChannelsLast(op.Activated(y, conv.function)));
}

// Inputs: the shape of the result, weights, x, bias.
void TranslateTransposeConv(OpWriter& op) {
  const auto& options = Needed(op, op.Options<TransposeConvOptions>());
  const std::vector<int64_t> size = op.Ints(0, "sizes of the result", 1);
  op.Check(size.size() == 4, "gives its result ", size.size(), " dimensions, expected 4");
  GiveTransposedConv(op, {.x = 2,
                          .weights = 1,
                          .bias = 3,
                          .height = size[1],
                          .width = size[2],
                          .stride_h = options.stride_h(),
                          .stride_w = options.stride_w(),
                          .same = options.padding() == Padding_SAME,
                          .function = options.fused_activation_function()});
}

// MediaPipe's. Inputs: x, weights, bias. Options: padding (1: same, 2: valid), the stride along the
// width, along the height.
void TranslateTransposeConvBias(OpWriter& op) {
  const std::vector<int32_t> options = op.CustomOptions(3);
  const int32_t padding = options[0], stride_w = options[1], stride_h = options[2];
  op.Check(padding == 1 || padding == 2, "has padding ", padding, ", expected 1 or 2");
  op.Check(stride_w > 0 && stride_h > 0, "has strides ", stride_h, " and ", stride_w,
           ", expected positive ones");
  CheckRanks(op, 0, 1);
  const Shape x = op.InShape(0), w = op.InShape(1);
  const bool same = padding == 1;
  GiveTransposedConv(op, {.height = same ? x[1] * stride_h : (x[1] - 1) * stride_h + w[1],
                          .width = same ? x[2] * stride_w : (x[2] - 1) * stride_w + w[2],
                          .stride_h = stride_h,
                          .stride_w = stride_w,
                          .same = same});
}

void TranslatePool(OpWriter& op, const char* type) {
  const auto& options = Needed(op, op.Options<Pool2DOptions>());
  op.Check(op.InRank(0) == 4, "input has the shape ", ToString(op.InShape(0)),
           ", expected 4 dimensions");
  OpAttributes attributes = WindowAttributes(options);
  attributes.emplace_back("kernel_shape",
                          std::vector<int64_t>{options.filter_height(), options.filter_width()});
  const std::string y = op.Emit(type, {op.ToChannelsFirst(op.Real(0))}, attributes);
  op.GiveReal(op.ToChannelsLast(op.Activated(y, options.fused_activation_function())));
}

// The root of the mean of squares.
void TranslateL2Pool(OpWriter& op) {
  const auto& options = Needed(op, op.Options<Pool2DOptions>());
  op.Check(op.InRank(0) == 4, "input has the shape ", ToString(op.InShape(0)),
           ", expected 4 dimensions");
  OpAttributes attributes = WindowAttributes(options);
  attributes.emplace_back("kernel_shape",
                          std::vector<int64_t>{options.filter_height(), options.filter_width()});
  const std::string x = op.ToChannelsFirst(op.Real(0));
  const std::string mean = op.Emit("AveragePool", {op.Emit("Mul", {x, x})}, attributes);
  const std::string y = op.Activated(op.Emit("Sqrt", {mean}), options.fused_activation_function());
  op.GiveReal(op.ToChannelsLast(y));
}

constexpr Entry kConvEntries[] = {
    {BuiltinOperator_CONV_2D, TranslateConv},
    {BuiltinOperator_DEPTHWISE_CONV_2D, TranslateDepthwise},
    {BuiltinOperator_TRANSPOSE_CONV, TranslateTransposeConv},
    {BuiltinOperator_MAX_POOL_2D, [](OpWriter& op) { TranslatePool(op, "MaxPool"); }},
    {BuiltinOperator_L2_POOL_2D, TranslateL2Pool},
    {BuiltinOperator_AVERAGE_POOL_2D, [](OpWriter& op) { TranslatePool(op, "AveragePool"); }},
};

constexpr CustomEntry kCustomConvEntries[] = {
    {"Convolution2DTransposeBias", TranslateTransposeConvBias},
};

}  // namespace

std::span<const CustomEntry> CustomConvEntries() { return kCustomConvEntries; }

std::span<const Entry> ConvEntries() { return kConvEntries; }

}  // namespace rshift::tflite
