// The activation functions of recurrent layers, by ONNX's names.
#include <algorithm>
#include <cctype>
#include <limits>

#include "graph/onnx/recurrent.h"

namespace rshift {
namespace {

using Formula = Expr (*)(const Expr& x, float alpha, float beta);

template <UnaryOp kOp>
Expr Plain(const Expr& x, float alpha, float beta) {
  return Apply(Unary{kOp, alpha, beta}, x);
}
Expr Affine(const Expr& x, float alpha, float beta) { return alpha * x + beta; }
Expr ScaledTanh(const Expr& x, float alpha, float beta) { return alpha * Tanh(beta * x); }
Expr Relu(const Expr& x, float, float) {
  return Clipped(x, 0.0f, std::numeric_limits<float>::infinity());
}
Expr LeakyReluOf(const Expr& x, float alpha, float) {
  return {x.node(), x.node().Emit(LeakyRelu{alpha}, {x.id()}, DType::kF32, x.shape())};
}

struct KnownFunction {
  const char* name;
  Formula formula;
  bool has_alpha, has_beta;
  float alpha, beta;  // where the node gives none
};
constexpr KnownFunction kKnown[] = {
    {"sigmoid", Plain<UnaryOp::kSigmoid>, false, false, 0.0f, 0.0f},
    {"tanh", Plain<UnaryOp::kTanh>, false, false, 0.0f, 0.0f},
    {"relu", Relu, false, false, 0.0f, 0.0f},
    {"softsign", Plain<UnaryOp::kSoftsign>, false, false, 0.0f, 0.0f},
    {"softplus", Plain<UnaryOp::kSoftplus>, false, false, 0.0f, 0.0f},
    {"hardsigmoid", Plain<UnaryOp::kHardSigmoid>, true, true, 0.2f, 0.5f},
    {"elu", Plain<UnaryOp::kElu>, true, false, 1.0f, 0.0f},
    {"thresholdedrelu", Plain<UnaryOp::kThresholdedRelu>, true, false, 1.0f, 0.0f},
    {"leakyrelu", LeakyReluOf, true, false, 0.01f, 0.0f},
    {"scaledtanh", ScaledTanh, true, true, 1.0f, 1.0f},
    {"affine", Affine, true, true, 1.0f, 0.0f},
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::vector<GateFunction> ReadGateFunctions(OnnxNode& node, std::vector<std::string> names) {
  const std::vector<std::string> given = node.Strings("activations");
  node.Check(given.empty() || given.size() == names.size(), "attribute 'activations' has ",
             given.size(), " entries, expected ", names.size());
  if (!given.empty()) names = given;
  const std::vector<float> alphas = node.Floats("activation_alpha");
  const std::vector<float> betas = node.Floats("activation_beta");
  const float clip = node.Float("clip", 0.0f);
  node.Check(clip >= 0.0f, "attribute 'clip' is ", clip, ", expected a positive number");
  size_t alpha = 0, beta = 0;  // taken by those functions that have them, in order
  std::vector<GateFunction> functions;
  for (const std::string& name : names) {
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const auto& entry) { return Lower(name) == entry.name; });
    node.Check(known != std::end(kKnown), "activation ", Quoted(name), " is none of ONNX's");
    GateFunction function{known->formula, known->alpha, known->beta, clip};
    if (known->has_alpha && alpha < alphas.size()) function.alpha = alphas[alpha++];
    if (known->has_beta && beta < betas.size()) function.beta = betas[beta++];
    functions.push_back(function);
  }
  return functions;
}

Expr GateFunction::operator()(const Expr& x) const {
  return formula(clip > 0.0f ? Clipped(x, -clip, clip) : x, alpha, beta);
}

Expr Gate(const Expr& gates, int64_t i, int64_t hidden) {
  return Part(gates, -1, i * hidden, (i + 1) * hidden);
}

}  // namespace rshift
