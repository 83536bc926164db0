// Functions of one tensor.
#include "graph/tflite/table.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

void GiveFunction(OpWriter& op, const char* type, const OpAttributes& attributes = {}) {
  op.GiveReal(op.Emit(type, {op.Real(0)}, attributes));
}

void TranslateRelu(OpWriter& op, ActivationFunctionType function) {
  op.GiveReal(op.Activated(op.Real(0), function));
}

void TranslateRelu0To1(OpWriter& op) {
  op.GiveReal(op.Emit("Clip", {op.Real(0), op.Float(0), op.Float(1)}));
}

void TranslateLeakyRelu(OpWriter& op) {
  const auto* options = op.Options<LeakyReluOptions>();
  GiveFunction(op, "LeakyRelu", {{"alpha", options == nullptr ? 0.0f : options->alpha()}});
}

// The slope of ONNX lies along dimension 1 of an image.
void TranslatePrelu(OpWriter& op) {
  const bool image = op.InRank(0) == 4 && op.InRank(1) == 3;
  if (!image) return op.GiveReal(op.Emit("PRelu", {op.Real(0), op.Real(1)}));
  const std::string slope = op.Transposed(op.Real(1), {2, 0, 1});
  const std::string y = op.Emit("PRelu", {op.ToChannelsFirst(op.Real(0)), slope});
  op.GiveReal(op.ToChannelsLast(y));
}

void TranslateGelu(OpWriter& op) {
  const auto* options = op.Options<GeluOptions>();
  const bool approximate = options != nullptr && options->approximate();
  GiveFunction(op, "Gelu", {{"approximate", approximate ? "tanh" : "none"}});
}

void TranslateSoftmax(OpWriter& op) {
  const auto* options = op.Options<SoftmaxOptions>();
  const float beta = options == nullptr ? 1.0f : options->beta();
  std::string x = op.Real(0);
  if (beta != 1.0f) x = op.Emit("Mul", {x, op.Float(beta)});
  op.GiveReal(op.Emit("Softmax", {x}, {{"axis", int64_t{-1}}}));
}

void TranslateRsqrt(OpWriter& op) { op.GiveReal(op.EmitOwn("Rsqrt", {op.Real(0)})); }

void TranslateSquare(OpWriter& op) {
  const std::string x = op.Real(0);
  op.GiveReal(op.Emit("Mul", {x, x}));
}

void TranslateL2Norm(OpWriter& op) {
  const auto* options = op.Options<L2NormOptions>();
  const std::string y =
      op.Emit("LpNormalization", {op.Real(0)}, {{"axis", int64_t{-1}}, {"p", int64_t{2}}});
  op.GiveReal(options == nullptr ? y : op.Activated(y, options->fused_activation_function()));
}

// The sum of squares of 2 radius + 1 channels, times alpha; ONNX divides alpha by their number.
void TranslateLrn(OpWriter& op) {
  const auto* options = op.Options<LocalResponseNormalizationOptions>();
  op.Check(options != nullptr && op.InRank(0) == 4, "expected options and 4 dimensions");
  op.Check(options->radius() >= 0 && options->radius() < (1 << 24), "has the radius ",
           options->radius());
  const int64_t size = 2 * int64_t{options->radius()} + 1;
  const std::string y = op.Emit("LRN", {op.ToChannelsFirst(op.Real(0))},
                                {{"size", size},
                                 {"alpha", options->alpha() * static_cast<float>(size)},
                                 {"beta", options->beta()},
                                 {"bias", options->bias()}});
  op.GiveReal(op.ToChannelsLast(y));
}

void TranslateCast(OpWriter& op) {
  if (op.In(0).type() == TensorType_COMPLEX64) {
    op.CheckSupported(op.Out().type() == TensorType_FLOAT32, "makes ",
                      EnumNameTensorType(op.Out().type()),
                      " of complex numbers; FLOAT32 is supported");
    return GiveComplexPart(op, 0);
  }
  const int64_t to = OnnxType(op.Out().type(), op.where());
  op.GiveStored(op.Emit("Cast", {op.Stored(0)}, {{"to", to}}));
}

// Integers of one scale to those of another, or real numbers to integers.
void TranslateQuantize(OpWriter& op) { op.GiveReal(op.Real(0)); }

void TranslateLogicalNot(OpWriter& op) { op.GiveStored(op.Emit("Not", {op.Stored(0)})); }

constexpr Entry kActivationEntries[] = {
    {BuiltinOperator_RELU, [](OpWriter& op) { TranslateRelu(op, ActivationFunctionType_RELU); }},
    {BuiltinOperator_RELU6, [](OpWriter& op) { TranslateRelu(op, ActivationFunctionType_RELU6); }},
    {BuiltinOperator_RELU_N1_TO_1,
     [](OpWriter& op) { TranslateRelu(op, ActivationFunctionType_RELU_N1_TO_1); }},
    {BuiltinOperator_RELU_0_TO_1, TranslateRelu0To1},
    {BuiltinOperator_LEAKY_RELU, TranslateLeakyRelu},
    {BuiltinOperator_PRELU, TranslatePrelu},
    {BuiltinOperator_GELU, TranslateGelu},
    {BuiltinOperator_SOFTMAX, TranslateSoftmax},
    {BuiltinOperator_LOG_SOFTMAX,
     [](OpWriter& op) {
       GiveFunction(op, "LogSoftmax", {{"axis", int64_t{-1}}});
     }},
    {BuiltinOperator_LOGISTIC, [](OpWriter& op) { GiveFunction(op, "Sigmoid"); }},
    {BuiltinOperator_TANH, [](OpWriter& op) { GiveFunction(op, "Tanh"); }},
    {BuiltinOperator_HARD_SWISH, [](OpWriter& op) { GiveFunction(op, "HardSwish"); }},
    {BuiltinOperator_ELU, [](OpWriter& op) { GiveFunction(op, "Elu"); }},
    {BuiltinOperator_ABS, [](OpWriter& op) { GiveFunction(op, "Abs"); }},
    {BuiltinOperator_NEG, [](OpWriter& op) { GiveFunction(op, "Neg"); }},
    {BuiltinOperator_SIGN, [](OpWriter& op) { GiveFunction(op, "Sign"); }},
    {BuiltinOperator_EXP, [](OpWriter& op) { GiveFunction(op, "Exp"); }},
    {BuiltinOperator_LOG, [](OpWriter& op) { GiveFunction(op, "Log"); }},
    {BuiltinOperator_SIN, [](OpWriter& op) { GiveFunction(op, "Sin"); }},
    {BuiltinOperator_COS, [](OpWriter& op) { GiveFunction(op, "Cos"); }},
    {BuiltinOperator_SQRT, [](OpWriter& op) { GiveFunction(op, "Sqrt"); }},
    {BuiltinOperator_RSQRT, TranslateRsqrt},
    {BuiltinOperator_SQUARE, TranslateSquare},
    {BuiltinOperator_FLOOR, [](OpWriter& op) { GiveFunction(op, "Floor"); }},
    {BuiltinOperator_CEIL, [](OpWriter& op) { GiveFunction(op, "Ceil"); }},
    {BuiltinOperator_ROUND, [](OpWriter& op) { GiveFunction(op, "Round"); }},
    {BuiltinOperator_L2_NORMALIZATION, TranslateL2Norm},
    {BuiltinOperator_LOCAL_RESPONSE_NORMALIZATION, TranslateLrn},
    {BuiltinOperator_CAST, TranslateCast},
    {BuiltinOperator_QUANTIZE, TranslateQuantize},
    {BuiltinOperator_DEQUANTIZE, TranslateQuantize},
    {BuiltinOperator_LOGICAL_NOT, TranslateLogicalNot},
};

}  // namespace

std::span<const Entry> ActivationEntries() { return kActivationEntries; }

}  // namespace rshift::tflite
