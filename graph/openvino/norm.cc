// Softmax, normalizations, reductions.
#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/openvino/layer.h"

namespace rshift::openvino {
namespace {

void Softmax(LayerNode& layer) {
  Set(layer.Give("Softmax", {layer.In(0)}), "axis", layer.Int("axis", 1));
}

void LogSoftmax(LayerNode& layer) {
  Set(layer.Give("LogSoftmax", {layer.In(0)}), "axis", layer.Int("axis", 1));
}

// opset5: data, gamma, beta, mean, variance; opset1 has data third.
void BatchNorm(LayerNode& layer) {
  const bool first = layer.layer().version == "opset1";
  std::vector<std::string> inputs = {layer.In(0), layer.In(1), layer.In(2), layer.In(3),
                                     layer.In(4)};
  if (first) std::rotate(inputs.begin(), inputs.begin() + 2, inputs.begin() + 3);
  const char* key = layer.Has("epsilon") ? "epsilon" : "eps";
  Set(layer.Give("BatchNormalization", inputs), "epsilon", layer.Float(key, 1e-5f));
}

std::string Mean(LayerNode& layer, const std::string& x, const std::string& axes) {
  std::string y = layer.Temporary("mean");
  Set(layer.Add("ReduceMean", {x, axes}, y), "keepdims", int64_t{1});
  return y;
}

// (x - mean) / sqrt(variance + eps) over the axes.
void Mvn(LayerNode& layer) {
  const std::string centred =
      layer.Then("Sub", {layer.In(0), Mean(layer, layer.In(0), layer.In(1))});
  if (!layer.Flag("normalize_variance", true)) {
    layer.Give("Identity", {centred});
    return;
  }
  const std::string variance = Mean(layer, layer.Then("Mul", {centred, centred}), layer.In(1));
  const std::string eps = layer.Scalar(layer.Float("eps", 1e-5f), "eps");
  const bool inside = layer.Text("eps_mode", "inside_sqrt") == "inside_sqrt" ||
                      layer.Text("eps_mode", "") == "INSIDE_SQRT";
  const std::string deviation = inside ? layer.Then("Sqrt", {layer.Then("Add", {variance, eps})})
                                       : layer.Then("Add", {layer.Then("Sqrt", {variance}), eps});
  layer.Give("Div", {centred, deviation});
}

void NormalizeL2(LayerNode& layer) {
  const std::string squares = layer.Temporary("squares");
  const std::string square = layer.Then("Mul", {layer.In(0), layer.In(0)});
  Set(layer.Add("ReduceSum", {square, layer.In(1)}, squares), "keepdims", int64_t{1});
  const std::string eps = layer.Scalar(layer.Float("eps", 1e-10f), "eps");
  const char* how = layer.Text("eps_mode", "add") == "max" ? "Max" : "Add";
  layer.Give("Div", {layer.In(0), layer.Then("Sqrt", {layer.Then(how, {squares, eps})})});
}

void Lrn(LayerNode& layer) {
  if (layer.RequireIntegers(1, "axes") != std::vector<int64_t>{1})
    layer.Unsupported("normalizes along other axes than the channels");
  onnx::NodeProto& node = layer.Give("LRN", {layer.In(0)});
  Set(node, "size", layer.Int("size", 1));
  Set(node, "alpha", layer.Float("alpha", 1e-4f));
  Set(node, "beta", layer.Float("beta", 0.75f));
  Set(node, "bias", layer.Float("bias", 1));
}

void GroupNormalization(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("GroupNormalization", {layer.In(0), layer.In(1), layer.In(2)});
  Set(node, "num_groups", layer.Int("num_groups", 1));
  Set(node, "epsilon", layer.Float("epsilon", 1e-5f));
}

// q, k, v, mask, scale: softmax(q k^T scale + mask) v over the last two dimensions.
void Attention(LayerNode& layer) {
  if (layer.Flag("causal", false)) layer.Unsupported("is causal; only plain attention is read");
  const size_t rank = layer.Rank(1);
  layer.Check(rank >= 2, "its keys have ", rank, " dimensions, expected at least 2");
  std::vector<int64_t> perm;
  for (size_t d = 0; d < rank; ++d) perm.push_back(static_cast<int64_t>(d));
  std::swap(perm[rank - 1], perm[rank - 2]);
  const std::string keys = layer.Temporary("keys");
  Set(layer.Add("Transpose", {layer.In(1)}, keys), "perm", perm);
  const int64_t width = layer.Dims(0).back();
  if (width <= 0 && layer.InputCount() < 5) layer.Unsupported("its width is open");
  const std::string scale = layer.InputCount() > 4
                                ? layer.In(4)
                                : layer.Scalar(1 / std::sqrt(static_cast<float>(width)), "scale");
  std::string scores = layer.Then("Mul", {layer.Then("MatMul", {layer.In(0), keys}), scale});
  if (layer.InputCount() > 3) {
    if (layer.layer().inputs[3].precision == "BOOL")
      layer.Unsupported("has a mask of bool; only one that is added is read");
    scores = layer.Then("Add", {scores, layer.In(3)});
  }
  const std::string shares = layer.Temporary("shares");
  Set(layer.Add("Softmax", {scores}, shares), "axis", int64_t{-1});
  layer.Give("MatMul", {shares, layer.In(2)});
}

void Reduce(LayerNode& layer) {
  const std::string& type = layer.layer().type;
  onnx::NodeProto& node = layer.Give(type.c_str(), {layer.In(0), layer.In(1)});
  Set(node, "keepdims", int64_t{layer.Flag("keep_dims", false)});
}

constexpr Entry kNorms[] = {
    {"BatchNormInference", BatchNorm},
    {"GroupNormalization", GroupNormalization},
    {"LRN", Lrn},
    {"LogSoftmax", LogSoftmax},
    {"MVN", Mvn},
    {"NormalizeL2", NormalizeL2},
    {"ScaledDotProductAttention", Attention},
    {"SoftMax", Softmax},
};
constexpr Entry kReductions[] = {
    {"ReduceL1", Reduce},  {"ReduceL2", Reduce},   {"ReduceMax", Reduce}, {"ReduceMean", Reduce},
    {"ReduceMin", Reduce}, {"ReduceProd", Reduce}, {"ReduceSum", Reduce},
};

}  // namespace

std::span<const Entry> NormTranslations() { return kNorms; }
std::span<const Entry> ReduceTranslations() { return kReductions; }

}  // namespace rshift::openvino
