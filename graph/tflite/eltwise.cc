// Operators on two or more tensors, element by element.
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

void GiveBinary(OpWriter& op, const char* type,
                ActivationFunctionType function = ActivationFunctionType_NONE) {
  op.GiveReal(op.Activated(op.Emit(type, {op.Real(0), op.Real(1)}), function));
}

template <typename Options>
void TranslateFused(OpWriter& op, const char* type) {
  const Options* options = op.Options<Options>();
  GiveBinary(
      op, type,
      options == nullptr ? ActivationFunctionType_NONE : options->fused_activation_function());
}

// `type`, with `not_equal` behind it where the ONNX operator is the opposite.
void TranslateComparison(OpWriter& op, const char* type, bool negated = false) {
  const std::string y = op.Emit(type, {op.Real(0), op.Real(1)});
  op.GiveStored(negated ? op.Emit("Not", {y}) : y);
}

void TranslateSquaredDifference(OpWriter& op) {
  // Quantized tensors have one kernel for both.
  const TensorType type = op.In(0).type();
  if (type == TensorType_INT8 || type == TensorType_UINT8)
    return op.GiveReal(op.EmitOwn("SquaredDifference", {op.Real(0), op.Real(1)}));
  const std::string d = op.Emit("Sub", {op.Real(0), op.Real(1)});
  op.GiveReal(op.Emit("Mul", {d, d}));
}

// Of integers (a - a mod b) / b, whose remainder has b's sign.
void TranslateFloorDiv(OpWriter& op) {
  if (!op.IsFloat(0)) {
    const std::string a = op.Stored(0), b = op.Stored(1);
    const std::string multiple = op.Emit("Sub", {a, op.Emit("Mod", {a, b})});
    return op.GiveStored(op.Emit("Div", {multiple, b}));
  }
  op.GiveReal(op.Emit("Floor", {op.Emit("Div", {op.Real(0), op.Real(1)})}));
}

// a - floor(a / b) b, of b's sign.
void TranslateFloorMod(OpWriter& op) {
  if (!op.IsFloat(0)) return op.GiveStored(op.Emit("Mod", {op.Stored(0), op.Stored(1)}));
  const std::string a = op.Real(0), b = op.Real(1);
  const std::string whole = op.Emit("Floor", {op.Emit("Div", {a, b})});
  op.GiveReal(op.Emit("Sub", {a, op.Emit("Mul", {whole, b})}));
}

// The angle of (x, y) in (-pi, pi]: of y / x, half a turn on where x is negative. Where x is 0 it
// divides by 1 instead: no infinity comes up.
void TranslateAtan2(OpWriter& op) {
  constexpr float kPi = 3.14159265f;
  const std::string y = op.Real(0), x = op.Real(1), zero = op.Float(0.0f);
  const auto either = [&](const std::string& condition, const std::string& a,
                          const std::string& b) {
    return op.Emit("Where", {condition, a, b});
  };
  const std::string is_zero = op.Emit("Equal", {x, zero});
  const std::string half =
      op.Emit("Atan", {op.Emit("Div", {y, either(is_zero, op.Float(1.0f), x)})});
  const std::string turn = either(op.Emit("Less", {y, zero}), op.Float(-kPi), op.Float(kPi));
  const std::string left = op.Emit("Add", {half, turn});
  const std::string upright = op.Emit("Mul", {op.Emit("Sign", {y}), op.Float(kPi / 2)});
  op.GiveReal(either(op.Emit("Less", {x, zero}), left, either(is_zero, upright, half)));
}

void TranslateAddN(OpWriter& op) {
  Names inputs;
  for (int i = 0; i < op.InputCount(); ++i) inputs.push_back(op.Real(i));
  op.GiveReal(op.Emit("Sum", inputs));
}

// SELECT may have one condition for each index of the first dimension.
void TranslateSelect(OpWriter& op) {
  std::string condition = op.Stored(0);
  const size_t rank = static_cast<size_t>(op.InRank(1));
  if (op.InRank(0) == 1 && rank > 1 && op.InShape(0)[0] == op.InShape(1)[0]) {
    std::vector<int64_t> shape(rank, 1);
    shape[0] = op.InShape(0)[0];
    condition = op.Reshaped(condition, shape);
  }
  op.GiveReal(op.Emit("Where", {condition, op.Real(1), op.Real(2)}));
}

void TranslateSelectV2(OpWriter& op) {
  op.GiveReal(op.Emit("Where", {op.Stored(0), op.Real(1), op.Real(2)}));
}

// Add and Sub.
template <typename Options>
void TranslateSum(OpWriter& op, const char* type) {
  const Options* options = op.Options<Options>();
  const std::string y = op.Emit(type, {op.Real(0), op.Real(1)});
  if (options == nullptr) return op.GiveSum(y, true);
  op.GiveSum(op.Activated(y, options->fused_activation_function()), options->pot_scale_int16());
}

constexpr Entry kEltwiseEntries[] = {
    {BuiltinOperator_ADD, [](OpWriter& op) { TranslateSum<AddOptions>(op, "Add"); }},
    {BuiltinOperator_SUB, [](OpWriter& op) { TranslateSum<SubOptions>(op, "Sub"); }},
    {BuiltinOperator_MUL, [](OpWriter& op) { TranslateFused<MulOptions>(op, "Mul"); }},
    {BuiltinOperator_DIV, [](OpWriter& op) { TranslateFused<DivOptions>(op, "Div"); }},
    {BuiltinOperator_MAXIMUM, [](OpWriter& op) { GiveBinary(op, "Max"); }},
    {BuiltinOperator_MINIMUM, [](OpWriter& op) { GiveBinary(op, "Min"); }},
    {BuiltinOperator_POW, [](OpWriter& op) { GiveBinary(op, "Pow"); }},
    {BuiltinOperator_SQUARED_DIFFERENCE, TranslateSquaredDifference},
    {BuiltinOperator_FLOOR_DIV, TranslateFloorDiv},
    {BuiltinOperator_FLOOR_MOD, TranslateFloorMod},
    {BuiltinOperator_ATAN2, TranslateAtan2},
    {BuiltinOperator_ADD_N, TranslateAddN},
    {BuiltinOperator_LESS, [](OpWriter& op) { TranslateComparison(op, "Less"); }},
    {BuiltinOperator_LESS_EQUAL, [](OpWriter& op) { TranslateComparison(op, "LessOrEqual"); }},
    {BuiltinOperator_GREATER, [](OpWriter& op) { TranslateComparison(op, "Greater"); }},
    {BuiltinOperator_GREATER_EQUAL,
     [](OpWriter& op) { TranslateComparison(op, "GreaterOrEqual"); }},
    {BuiltinOperator_EQUAL, [](OpWriter& op) { TranslateComparison(op, "Equal"); }},
    {BuiltinOperator_NOT_EQUAL, [](OpWriter& op) { TranslateComparison(op, "Equal", true); }},
    {BuiltinOperator_LOGICAL_AND, [](OpWriter& op) { TranslateComparison(op, "And"); }},
    {BuiltinOperator_LOGICAL_OR, [](OpWriter& op) { TranslateComparison(op, "Or"); }},
    {BuiltinOperator_SELECT, TranslateSelect},
    {BuiltinOperator_SELECT_V2, TranslateSelectV2},
};

}  // namespace

std::span<const Entry> EltwiseEntries() { return kEltwiseEntries; }

}  // namespace rshift::tflite
