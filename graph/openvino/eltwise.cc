// Functions of one element, operators on two, FakeQuantize.
#include "graph/openvino/layer.h"

namespace rshift::openvino {
namespace {

std::vector<std::string> AllInputs(const LayerNode& layer) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < layer.InputCount(); ++i) inputs.push_back(layer.In(i));
  return inputs;
}

// The operator of ONNX that has the name and the inputs of this one, without attributes.
template <const char* const& kName>
void Same(LayerNode& layer) {
  const std::string broadcast = layer.Text("auto_broadcast", "numpy");
  if (broadcast != "numpy" && broadcast != "none")
    layer.Unsupported("attribute 'auto_broadcast' is '", broadcast, "'; only numpy is supported");
  layer.Give(kName, AllInputs(layer));
}

#define RSHIFT_SAME(name) const char* const k##name = #name;
RSHIFT_SAME(Abs)
RSHIFT_SAME(Acos)
RSHIFT_SAME(Acosh)
RSHIFT_SAME(Add)
RSHIFT_SAME(And)
RSHIFT_SAME(Asin)
RSHIFT_SAME(Asinh)
RSHIFT_SAME(Atan)
RSHIFT_SAME(Atanh)
RSHIFT_SAME(Ceil)
RSHIFT_SAME(Cos)
RSHIFT_SAME(Cosh)
RSHIFT_SAME(Div)
RSHIFT_SAME(Equal)
RSHIFT_SAME(Erf)
RSHIFT_SAME(Exp)
RSHIFT_SAME(Floor)
RSHIFT_SAME(Greater)
RSHIFT_SAME(GreaterOrEqual)
RSHIFT_SAME(HardSwish)
RSHIFT_SAME(Less)
RSHIFT_SAME(LessOrEqual)
RSHIFT_SAME(Log)
RSHIFT_SAME(Max)
RSHIFT_SAME(Min)
RSHIFT_SAME(Mish)
RSHIFT_SAME(Mul)
RSHIFT_SAME(Neg)
RSHIFT_SAME(Not)
RSHIFT_SAME(Or)
RSHIFT_SAME(Pow)
RSHIFT_SAME(Relu)
RSHIFT_SAME(Sigmoid)
RSHIFT_SAME(Sign)
RSHIFT_SAME(Sin)
RSHIFT_SAME(Sinh)
RSHIFT_SAME(Softplus)
RSHIFT_SAME(Softsign)
RSHIFT_SAME(Sqrt)
RSHIFT_SAME(Sub)
RSHIFT_SAME(Tan)
RSHIFT_SAME(Tanh)
RSHIFT_SAME(Where)
RSHIFT_SAME(Xor)
#undef RSHIFT_SAME

void Multiply(LayerNode& layer) {
  if (!TranslateDequantize(layer)) Same<kMul>(layer);
}

void NotEqual(LayerNode& layer) {
  layer.Give("Not", {layer.Then("Equal", {layer.In(0), layer.In(1)})});
}

void SquaredDifference(LayerNode& layer) {
  const std::string difference = layer.Then("Sub", {layer.In(0), layer.In(1)});
  layer.Give("Mul", {difference, difference});
}

void FloorMod(LayerNode& layer) { layer.Give("Mod", {layer.In(0), layer.In(1)}); }

void Clamp(LayerNode& layer) {
  const std::string lo = layer.Scalar(layer.Float("min", 0), "min");
  const std::string hi = layer.Scalar(layer.Float("max", 0), "max");
  layer.Give("Clip", {layer.In(0), lo, hi});
}

void Elu(LayerNode& layer) {
  Set(layer.Give("Elu", {layer.In(0)}), "alpha", layer.Float("alpha", 1));
}

void HSigmoid(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("HardSigmoid", {layer.In(0)});
  Set(node, "alpha", 1.0f / 6);
  Set(node, "beta", 0.5f);
}

void Swish(LayerNode& layer) {
  std::string scaled = layer.In(0);
  if (layer.InputCount() > 1) scaled = layer.Then("Mul", {layer.In(0), layer.In(1)});
  layer.Give("Mul", {layer.In(0), layer.Then("Sigmoid", {scaled})});
}

void Gelu(LayerNode& layer) {
  std::string mode = layer.Text("approximation_mode", "ERF");
  const bool tanh = mode == "TANH" || mode == "tanh";
  Set(layer.Give("Gelu", {layer.In(0)}), "approximate", tanh ? "tanh" : "none");
}

// One slope, or one for each channel: dimension 1.
void PRelu(LayerNode& layer) {
  std::string slope = layer.In(1);
  if (layer.Rank(1) == 1 && layer.Rank(0) > 2 && layer.Dims(1)[0] != 1) {
    std::vector<int64_t> shape(layer.Rank(0) - 1, 1);
    shape[0] = layer.Dims(1)[0];
    slope = layer.Then("Reshape", {slope, layer.IntConstant(shape, "shape")});
  }
  layer.Give("PRelu", {layer.In(0), slope});
}

void Convert(LayerNode& layer) {
  const int to = OnnxType(layer.Text("destination_type", ""));
  if (to == 0)
    layer.Unsupported("converts to '", layer.Text("destination_type", ""), "', which is not read");
  Set(layer.Give("Cast", {layer.In(0)}), "to", int64_t{to});
}

void FakeQuantize(LayerNode& layer) {
  onnx::NodeProto& node = layer.Give("FakeQuantize", AllInputs(layer));
  node.set_domain("org.openvinotoolkit");
  Set(node, "levels", layer.Int("levels", 0));
  const std::string broadcast = layer.Text("auto_broadcast", "numpy");
  Set(node, "auto_broadcast", broadcast.c_str());
}

constexpr Entry kEltwiseTranslations[] = {
    {"Abs", Same<kAbs>},
    {"Acos", Same<kAcos>},
    {"Acosh", Same<kAcosh>},
    {"Add", Same<kAdd>},
    {"Asin", Same<kAsin>},
    {"Asinh", Same<kAsinh>},
    {"Atan", Same<kAtan>},
    {"Atanh", Same<kAtanh>},
    {"Ceiling", Same<kCeil>},
    {"Clamp", Clamp},
    {"Convert", Convert},
    {"Cos", Same<kCos>},
    {"Cosh", Same<kCosh>},
    {"Divide", Same<kDiv>},
    {"Elu", Elu},
    {"Equal", Same<kEqual>},
    {"Erf", Same<kErf>},
    {"Exp", Same<kExp>},
    {"FakeQuantize", FakeQuantize},
    {"Floor", Same<kFloor>},
    {"FloorMod", FloorMod},
    {"Gelu", Gelu},
    {"Greater", Same<kGreater>},
    {"GreaterEqual", Same<kGreaterOrEqual>},
    {"HSigmoid", HSigmoid},
    {"HSwish", Same<kHardSwish>},
    {"Less", Same<kLess>},
    {"LessEqual", Same<kLessOrEqual>},
    {"Log", Same<kLog>},
    {"LogicalAnd", Same<kAnd>},
    {"LogicalNot", Same<kNot>},
    {"LogicalOr", Same<kOr>},
    {"LogicalXor", Same<kXor>},
    {"Maximum", Same<kMax>},
    {"Minimum", Same<kMin>},
    {"Mish", Same<kMish>},
    {"Multiply", Multiply},
    {"Negative", Same<kNeg>},
    {"NotEqual", NotEqual},
    {"PReLU", PRelu},
    {"Power", Same<kPow>},
    {"ReLU", Same<kRelu>},
    {"Select", Same<kWhere>},
    {"Sigmoid", Same<kSigmoid>},
    {"Sign", Same<kSign>},
    {"Sin", Same<kSin>},
    {"Sinh", Same<kSinh>},
    {"SoftPlus", Same<kSoftplus>},
    {"SoftSign", Same<kSoftsign>},
    {"Sqrt", Same<kSqrt>},
    {"SquaredDifference", SquaredDifference},
    {"Subtract", Same<kSub>},
    {"Swish", Swish},
    {"Tan", Same<kTan>},
    {"Tanh", Same<kTanh>},
};

}  // namespace

std::span<const Entry> EltwiseTranslations() { return kEltwiseTranslations; }

}  // namespace rshift::openvino
