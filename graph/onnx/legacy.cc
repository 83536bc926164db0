// Shrink, and the experimental operators of opset 1 to 7 that ONNX Runtime still runs.
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// x + bias below -lambd, x - bias above lambd, 0 between.
void ImportShrink(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const float lambd = node.Float("lambd", 0.5f), bias = node.Float("bias", 0.0f);
  const Expr above = Select(Less(Number(node, lambd), x), x - bias, Number(node, 0.0));
  Give(Select(Less(x, Number(node, -lambd)), x + bias, above));
}

// border: [left, top, right, bottom]; scale [height, width] instead of the last two.
void ImportCrop(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const auto border = node.Ints("border"), scale = node.Ints("scale");
  node.Check(x.rank() == 4 && border.size() == 4 && (scale.empty() || scale.size() == 2),
             "expected an input [N, C, H, W] and four entries of 'border', got ",
             ToString(x.shape()), " and ", border.size());
  const int64_t left = border[0], top = border[1];
  const int64_t bottom = scale.empty() ? x.dim(2) - border[3] : top + scale[0];
  const int64_t right = scale.empty() ? x.dim(3) - border[2] : left + scale[1];
  node.Check(left >= 0 && top >= 0 && bottom > top && right > left && bottom <= x.dim(2) &&
                 right <= x.dim(3),
             "crops ", ToString(x.shape()), " to rows ", top, " to ", bottom, " and columns ", left,
             " to ", right);
  Give(Part(Part(x, 2, top, bottom), 3, left, right));
}

void ImportImageScaler(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const auto bias = node.Floats("bias");
  node.Check(x.rank() == 4 && static_cast<int64_t>(bias.size()) == x.dim(1), "input ",
             ToString(x.shape()), " has another number of channels than 'bias' entries (",
             bias.size(), ")");
  Give(x * node.Float("scale", 1.0f) + Floats(node, {x.dim(1), 1, 1}, bias));
}

// The experimental operators' alpha and beta.
template <typename F>
void ImportFormula(OnnxNode& node, float alpha, float beta, F f) {
  Give(f(FloatIn(node, 0), node.Float("alpha", alpha), node.Float("beta", beta)));
}

void ImportAffine(OnnxNode& node) {
  ImportFormula(node, 1.0f, 0.0f, [](const Expr& x, float a, float b) { return a * x + b; });
}
void ImportScaledTanh(OnnxNode& node) {
  ImportFormula(node, 1.0f, 1.0f, [](const Expr& x, float a, float b) { return a * Tanh(b * x); });
}
void ImportParametricSoftplus(OnnxNode& node) {
  ImportFormula(node, 1.0f, 1.0f, [](const Expr& x, float a, float b) {
    return a * Apply(UnaryOp::kSoftplus, b * x);
  });
}
void ImportScale(OnnxNode& node) { Give(FloatIn(node, 0) * node.Float("scale", 1.0f)); }

constexpr ImportEntry kLegacyImports[] = {
    {"Shrink", ImportShrink},
    {"Crop", ImportCrop},
    {"ImageScaler", ImportImageScaler},
    {"Affine", ImportAffine},
    {"ScaledTanh", ImportScaledTanh},
    {"ParametricSoftplus", ImportParametricSoftplus},
    {"Scale", ImportScale},
};

}  // namespace

std::span<const ImportEntry> LegacyImports() { return kLegacyImports; }

}  // namespace rshift
