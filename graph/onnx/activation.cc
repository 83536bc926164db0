#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

void OutputUnary(OnnxNode& node, Unary op) {
  node.RequireFloat(0);
  node.Output(op, {node.Input(0)}, DType::kF32, node.ShapeOf(0));
}

// --- the import rules of isa/functions.def ---

// A parameter that is an attribute of the operator; without a name there is none.
struct Attribute {
  const char* name = nullptr;
  float absent = 0.0f;

  constexpr Attribute() = default;
  constexpr Attribute(const char* attribute, float value) : name(attribute), absent(value) {}
  float Read(const OnnxNode& node) const { return name != nullptr ? node.Float(name, absent) : 0; }
};
constexpr Attribute None;

template <UnaryOp kOp>
constexpr Attribute kAlpha;
template <UnaryOp kOp>
constexpr Attribute kBeta;
#define RSHIFT_UNARY(id, name, rule, alpha, beta, ...)  \
  template <>                                           \
  constexpr Attribute kAlpha<UnaryOp::k##name> = alpha; \
  template <>                                           \
  constexpr Attribute kBeta<UnaryOp::k##name> = beta;
#include "isa/functions.def"

template <UnaryOp kOp>
constexpr ImportFunction Float = [](OnnxNode& node) {
  OutputUnary(node, {kOp, kAlpha<kOp>.Read(node), kBeta<kOp>.Read(node)});
};
// Abs, Neg and Sign keep their type, integers included.
template <UnaryOp kOp>
constexpr ImportFunction AnyType = [](OnnxNode& node) {
  node.Output(Unary{kOp, kAlpha<kOp>.Read(node), kBeta<kOp>.Read(node)}, {node.Input(0)},
              node.TypeOf(0), node.ShapeOf(0));
};
template <UnaryOp kOp>
constexpr ImportFunction ByHand = nullptr;

// --- those of their own ---

void ImportNot(OnnxNode& node) {
  node.Check(node.TypeOf(0) == DType::kBool, "input has type ", Name(node.TypeOf(0)),
             ", expected bool");
  node.Output(Unary{UnaryOp::kNot, 0.0f, 0.0f}, {node.Input(0)}, DType::kBool, node.ShapeOf(0));
}

// x * sigmoid(alpha * x)
void ImportSwish(OnnxNode& node) {
  const float alpha = node.Float("alpha", 1.0f);
  if (alpha == 1.0f) return OutputUnary(node, {UnaryOp::kSilu, 0.0f, 0.0f});
  node.RequireFloat(0);
  const ValueId x = node.Input(0);
  const ValueId scaled = node.Broadcasted(BinaryOp::kMul, x, node.Scalar(alpha));
  const ValueId gate =
      node.Emit(Unary{UnaryOp::kSigmoid, 0.0f, 0.0f}, {scaled}, DType::kF32, node.ShapeOf(0));
  node.OutputBinary(BinaryOp::kMul, x, gate);
}

void ImportCelu(OnnxNode& node) {
  const float alpha = node.Float("alpha", 1.0f);
  node.Check(alpha != 0.0f, "attribute 'alpha' is 0, expected another value");
  OutputUnary(node, {UnaryOp::kCelu, alpha, 0.0f});
}

void ImportGelu(OnnxNode& node) {
  const std::string how = node.String("approximate", "none");
  node.Check(how == "none" || how == "tanh", "attribute 'approximate' is ", Quoted(how),
             ", expected none or tanh");
  OutputUnary(node, {how == "tanh" ? UnaryOp::kGeluTanh : UnaryOp::kGelu, 0.0f, 0.0f});
}

void ImportRelu(OnnxNode& node) {
  if (node.TypeOf(0) != DType::kF32) {
    return node.OutputBinary(BinaryOp::kMax, node.Input(0), node.Scalar(0.0f, node.TypeOf(0)));
  }
  node.Output(Clip{{0.0f, std::numeric_limits<float>::infinity()}}, {node.Input(0)}, DType::kF32,
              node.ShapeOf(0));
}

void ImportLeakyRelu(OnnxNode& node) {
  node.RequireFloat(0);
  node.Output(LeakyRelu{node.Float("alpha", 0.01f)}, {node.Input(0)}, DType::kF32, node.ShapeOf(0));
}

void ImportPRelu(OnnxNode& node) {
  node.RequireFloat(0);
  node.RequireFloat(1);
  const Shape x = node.ShapeOf(0);
  ValueId slope = node.Input(1);
  // Before opset 7 a vector of slopes belongs to the channels.
  if (node.opset() < 7 && node.ShapeOf(1).size() == 1 && x.size() > 2) {
    Shape per_channel(x.size() - 1, 1);
    per_channel[0] = node.ShapeOf(1)[0];
    slope = node.Reshaped(slope, per_channel);
  }
  node.Check(Broadcast(x, node.At(slope).shape, node.where()) == x, "slope has the shape ",
             ToString(node.At(slope).shape), ", which does not broadcast to the input ",
             ToString(x));
  node.Output(PRelu{}, {node.Input(0), slope}, DType::kF32, x);
}

// Bounds at the end of float mean that there is none.
float OpenEnd(float bound) {
  if (std::fabs(bound) < std::numeric_limits<float>::max()) return bound;
  return std::copysign(std::numeric_limits<float>::infinity(), bound);
}

bool ConstantOrAbsent(OnnxNode& node, int i) {
  return !node.HasInput(i) || node.At(node.Input(i)).is_constant();
}

float Bound(OnnxNode& node, int i, const char* name, float none) {
  float bound = node.AnyFloat(name, none);
  if (node.HasInput(i)) {
    const auto elements = node.ConstantFloats(i, name);
    node.Check(elements.size() == 1, "input '", name, "' has ", elements.size(),
               " elements, expected a scalar");
    bound = elements[0];
  }
  node.Check(!std::isnan(bound), "bound '", name, "' is NaN");
  return OpenEnd(bound);
}

// Computed bounds, and integers, are clipped by Max and Min; bytes as wider integers, which is what
// programs compute with.
void ClipByMinMax(OnnxNode& node) {
  const DType type = node.TypeOf(0);
  const bool is_byte = type == DType::kS8 || type == DType::kU8;
  const DType wide = is_byte ? DType::kS64 : type;
  Expr x = CastTo(In(node, 0), wide);
  for (int i : {1, 2}) {
    if (!node.HasInput(i)) continue;
    node.Check(NumElements(node.ShapeOf(i)) == 1, "bound ", i, " has the shape ",
               ToString(node.ShapeOf(i)), ", expected a scalar");
    const Expr bound = CastTo(Reshaped(In(node, i), {}), wide);
    x = i == 1 ? Max(x, bound) : Min(x, bound);
  }
  Give(CastTo(x, type));
}

void ImportClip(OnnxNode& node) {
  if (node.TypeOf(0) != DType::kF32 || !ConstantOrAbsent(node, 1) || !ConstantOrAbsent(node, 2)) {
    return ClipByMinMax(node);
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float hi = Bound(node, 2, "max", kInfinity);
  // As min(max(x, lo), hi) does it, hi wins where the bounds are crossed.
  const Clamp clamp{std::min(Bound(node, 1, "min", -kInfinity), hi), hi};
  node.Output(Clip{clamp}, {node.Input(0)}, DType::kF32, node.ShapeOf(0));
}

constexpr ImportEntry kOwnImports[] = {
    {"Relu", ImportRelu},   {"Clip", ImportClip}, {"LeakyRelu", ImportLeakyRelu},
    {"PRelu", ImportPRelu}, {"Celu", ImportCelu}, {"Swish", ImportSwish},
    {"Gelu", ImportGelu},   {"Not", ImportNot},   {"tflite:Rsqrt", Float<UnaryOp::kRsqrt>},
};

constexpr ImportEntry kUnaryImports[] = {
#define RSHIFT_UNARY(id, name, rule, ...) {#name, rule<UnaryOp::k##name>},
#include "isa/functions.def"
};

std::vector<ImportEntry> AllImports() {
  std::vector<ImportEntry> all(std::begin(kOwnImports), std::end(kOwnImports));
  for (const ImportEntry& entry : kUnaryImports) {
    if (entry.import != nullptr) all.push_back(entry);
  }
  return all;
}

}  // namespace

std::span<const ImportEntry> ActivationImports() {
  static const std::vector<ImportEntry> kImports = AllImports();
  return kImports;
}

}  // namespace rshift
