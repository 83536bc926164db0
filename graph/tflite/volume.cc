// Convolutions over volumes [N, D, H, W, C].
#include <algorithm>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

std::string ChannelsFirst(OpWriter& op, const std::string& x) {
  return op.Transposed(x, {0, 4, 1, 2, 3});
}

void GiveVolume(OpWriter& op, const std::string& y, ActivationFunctionType function) {
  op.GiveReal(op.Transposed(op.Activated(y, function), {0, 2, 3, 4, 1}));
}

const Conv3DOptions& CheckedOptions(const OpWriter& op, int x) {
  const auto* options = op.Options<Conv3DOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  op.Check(op.InRank(x) == 5 && op.InRank(1) == 5, "input and weights have the shapes ",
           ToString(op.InShape(x)), " and ", ToString(op.InShape(1)),
           ", expected 5 dimensions each");
  return *options;
}

OpAttributes VolumeAttributes(const Conv3DOptions& options) {
  return {
      {"strides", std::vector<int64_t>{options.stride_d(), options.stride_h(), options.stride_w()}},
      {"dilations", std::vector<int64_t>{options.dilation_d_factor(), options.dilation_h_factor(),
                                         options.dilation_w_factor()}}};
}

// Weights [D, H, W, I / groups, O].
void TranslateConv3D(OpWriter& op) {
  const Conv3DOptions& options = CheckedOptions(op, 0);
  const int64_t channels = op.InShape(0)[4], each = op.InShape(1)[3];
  op.Check(each > 0 && channels % each == 0, "has ", channels, " input channels, but weights for ",
           each, "; the file is damaged");
  OpAttributes attributes = VolumeAttributes(options);
  attributes.emplace_back("auto_pad", options.padding() == Padding_SAME ? "SAME_UPPER" : "VALID");
  attributes.emplace_back("group", channels / each);
  const std::string w = op.Transposed(op.Real(1), {4, 3, 0, 1, 2});
  const std::string x = ChannelsFirst(op, op.Real(0));
  GiveVolume(op, op.Emit("Conv", {x, w, op.Bias(2, 0, 1)}, attributes),
             options.fused_activation_function());
}

// Inputs: the shape of the result, weights [D, H, W, O, I], x, bias.
void TranslateConv3DTranspose(OpWriter& op) {
  const Conv3DOptions& options = CheckedOptions(op, 2);
  const std::vector<int64_t> size = op.Ints(0, "sizes of the result", 1);
  op.Check(size.size() == 5, "gives its result ", size.size(), " dimensions, expected 5");
  const Shape x = op.InShape(2), w = op.InShape(1);
  const int64_t strides[] = {options.stride_d(), options.stride_h(), options.stride_w()};
  const int64_t dilations[] = {options.dilation_d_factor(), options.dilation_h_factor(),
                               options.dilation_w_factor()};
  std::vector<int64_t> begins, ends, missing;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t full = (x[d + 1] - 1) * strides[d] + (w[d] - 1) * dilations[d] + 1;
    const int64_t surplus = std::max<int64_t>(full - size[d + 1], 0);
    begins.push_back(options.padding() == Padding_SAME ? surplus / 2 : 0);
    ends.push_back(surplus - begins.back());
    missing.push_back(std::max<int64_t>(size[d + 1] - full, 0));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  OpAttributes attributes = VolumeAttributes(options);
  attributes.emplace_back("pads", begins);
  attributes.emplace_back("output_padding", missing);
  const std::string weights = op.Transposed(op.Real(1), {4, 3, 0, 1, 2});
  const std::string input = ChannelsFirst(op, op.Real(2));
  GiveVolume(op, op.Emit("ConvTranspose", {input, weights, op.Bias(3, 2, 1)}, attributes),
             options.fused_activation_function());
}

constexpr Entry kVolumeEntries[] = {
    {BuiltinOperator_CONV_3D, TranslateConv3D},
    {BuiltinOperator_CONV_3D_TRANSPOSE, TranslateConv3DTranspose},
};

}  // namespace

std::span<const Entry> VolumeEntries() { return kVolumeEntries; }

}  // namespace rshift::tflite
