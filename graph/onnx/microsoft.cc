// Fused operators of the domain com.microsoft, as ONNX Runtime's optimizer writes them.
#include <limits>
#include <numeric>

#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// x plus the bias in input 1, if there is one.
Expr Biased(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  return node.HasInput(1) ? x + FloatIn(node, 1) : x;
}

void ImportQuickGelu(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  Give(x * Sigmoid(node.Float("alpha", 1.702f) * x));
}

// The attributes `activation` and `activation_params` (or activation_alpha ...).
Expr Activated(OnnxNode& node, const Expr& x) {
  const std::string name = node.String("activation", "");
  std::vector<float> params = node.Floats("activation_params");
  if (params.empty()) {
    params = {node.Float("activation_alpha", 0.01f), node.Float("activation_beta", 0.0f)};
  }
  params.resize(2, 0.0f);
  if (name.empty()) return x;
  if (name == "Relu") return Clipped(x, 0.0f, kInfinity);
  if (name == "Clip") return Clipped(x, params[0], params[1]);
  if (name == "Sigmoid") return Sigmoid(x);
  if (name == "Tanh") return Tanh(x);
  if (name == "HardSigmoid") return Apply(Unary{UnaryOp::kHardSigmoid, params[0], params[1]}, x);
  if (name == "LeakyRelu") {
    return {node, node.Emit(LeakyRelu{params[0]}, {x.id()}, DType::kF32, x.shape())};
  }
  node.Unsupported("attribute 'activation' is ", Quoted(name),
                   ", expected Relu, Clip, LeakyRelu, Sigmoid, HardSigmoid or Tanh");
}

Expr OptionalIn(OnnxNode& node, int i) {
  return {node, node.HasInput(i) ? node.Input(i) : ValueId()};
}

void ImportFusedConv(OnnxNode& node) {
  Expr y = Called(
      node, "Conv", {In(node, 0), In(node, 1), OptionalIn(node, 2)},
      AttributesOf(node, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (node.HasInput(3)) y = y + FloatIn(node, 3);
  Give(Activated(node, y));
}

void ImportFusedGemm(OnnxNode& node) {
  Give(Activated(node, Called(node, "Gemm", {In(node, 0), In(node, 1), OptionalIn(node, 2)},
                              AttributesOf(node, {"alpha", "beta", "transA", "transB"}))));
}

// transBatch: the first dimension is the one before the last.
Expr FusedOperand(OnnxNode& node, int i, const char* transpose, const char* batch) {
  Expr x = FloatIn(node, i);
  if (node.Int(batch, 0) != 0 && x.rank() > 2) {
    std::vector<int64_t> perm(x.rank());
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
    x = Transposed(x, perm);
  }
  return node.Int(transpose, 0) != 0 && x.rank() >= 2 ? Swapped(x) : x;
}

void ImportFusedMatMul(OnnxNode& node) {
  const Expr a = FusedOperand(node, 0, "transA", "transBatchA");
  const Expr b = FusedOperand(node, 1, "transB", "transBatchB");
  Give(Called(node, "MatMul", {a, b}, {}) * node.Float("alpha", 1.0f));
}

// LayerNorm over the last dimension; beta may be missing. `by_root`: without mean and shift.
Expr Normalized(OnnxNode& node, const Expr& x, const Expr& gamma, const Expr& beta, bool by_root) {
  const float epsilon = node.Float("epsilon", 1e-12f);
  for (const Expr& row : {gamma, beta}) {
    node.Check(!row.id().valid() || (x.rank() >= 1 && row.shape() == Shape{x.dim(x.rank() - 1)}),
               "gamma or beta does not fit the input ", ToString(x.shape()));
  }
  std::vector<ValueId> inputs{x.id(), gamma.id()};
  if (beta.id().valid()) inputs.push_back(beta.id());
  const auto axis = static_cast<int64_t>(x.rank()) - 1;
  return {node, node.Emit(LayerNorm{axis, epsilon, by_root}, inputs, DType::kF32, x.shape())};
}

// Output 0: the norm of input + skip + bias; output 3: that sum.
void ImportSkipNorm(OnnxNode& node, bool by_root) {
  node.RefuseOutput(1, "mean");
  node.RefuseOutput(2, "inv_std_var");
  Expr x = FloatIn(node, 0) + FloatIn(node, 1);
  const int bias = by_root ? 3 : 4;
  if (node.HasInput(bias)) x = x + FloatIn(node, bias);
  if (node.OutputUsed(3)) Give(x, 3);
  const Expr beta = by_root ? Expr(node, ValueId()) : OptionalIn(node, 3);
  Give(Normalized(node, x, FloatIn(node, 2), beta, by_root));
}

// ids, segment ids, tables of words, positions and segments, gamma, beta, mask, position ids.
void ImportEmbedNorm(OnnxNode& node) {
  const Expr ids = In(node, 0);
  node.Check(ids.rank() == 2, "input has the shape ", ToString(ids.shape()),
             ", expected [batch, sequence]");
  const Expr position_table = FloatIn(node, 3);
  const Expr positions = node.HasInput(8) ? Gathered(position_table, In(node, 8), 0)
                                          : Part(position_table, 0, 0, ids.dim(1));
  Expr x = Gathered(FloatIn(node, 2), ids, 0) + positions;
  if (node.HasInput(4)) x = x + Gathered(FloatIn(node, 4), In(node, 1), 0);
  if (node.OutputUsed(2)) Give(x, 2);
  if (node.OutputUsed(1)) {
    const Expr none = Filled(node, 0.0, {ids.dim(0)}, DType::kS32);
    Give(node.HasInput(7)
             ? CastTo(Reduced(ReduceOp::kSum, CastTo(In(node, 7), DType::kS64), {1}, false),
                      DType::kS32)
             : none,
         1);
  }
  Give(Normalized(node, x, FloatIn(node, 5), FloatIn(node, 6), false));
}

// MaxPool of pixels whose channels lie side by side.
void ImportNhwcMaxPool(OnnxNode& node) {
  const Expr x = In(node, 0);
  node.Check(x.rank() == 4, "input has the shape ", ToString(x.shape()), ", expected [N, H, W, C]");
  const Expr pooled = Called(node, "MaxPool", {Transposed(x, {0, 3, 1, 2})},
                             AttributesOf(node, {"auto_pad", "ceil_mode", "dilations",
                                                 "kernel_shape", "pads", "strides"}));
  Give(Transposed(pooled, {0, 2, 3, 1}));
}

// Of the standard domain, but ONNX Runtime's own.
void ImportSimplifiedNorm(OnnxNode& node) {
  node.RefuseOutput(1, "inv_std_var");
  Give(Called(node, "RMSNormalization", {In(node, 0), In(node, 1)},
              AttributesOf(node, {"axis", "epsilon"})));
}

constexpr ImportEntry kMicrosoftImports[] = {
    {"com.microsoft:Gelu", [](OnnxNode& node) { Give(Apply(UnaryOp::kGelu, FloatIn(node, 0))); }},
    {"com.microsoft:BiasGelu", [](OnnxNode& node) { Give(Apply(UnaryOp::kGelu, Biased(node))); }},
    {"com.microsoft:FastGelu",
     [](OnnxNode& node) { Give(Apply(UnaryOp::kGeluTanh, Biased(node))); }},
    {"com.microsoft:QuickGelu", ImportQuickGelu},
    {"com.microsoft:FusedConv", ImportFusedConv},
    {"com.microsoft:FusedGemm", ImportFusedGemm},
    {"com.microsoft:FusedMatMul", ImportFusedMatMul},
    {"com.microsoft:TransposeMatMul", ImportFusedMatMul},
    {"com.microsoft:SkipLayerNormalization", [](OnnxNode& node) { ImportSkipNorm(node, false); }},
    {"com.microsoft:SkipSimplifiedLayerNormalization",
     [](OnnxNode& node) { ImportSkipNorm(node, true); }},
    {"com.microsoft:EmbedLayerNormalization", ImportEmbedNorm},
    {"com.microsoft:NhwcMaxPool", ImportNhwcMaxPool},
    {"SimplifiedLayerNormalization", ImportSimplifiedNorm},
};

}  // namespace

std::span<const ImportEntry> MicrosoftImports() { return kMicrosoftImports; }

}  // namespace rshift
