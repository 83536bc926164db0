#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Before opset 7, `broadcast` stretches b only, and `axis` says where its first dimension lies.
ValueId SecondInput(OnnxNode& node) {
  const ValueId b = node.Input(1);
  if (node.opset() >= 7 || !node.HasAttribute("axis")) return b;
  const Shape x = node.ShapeOf(0), own = node.ShapeOf(1);
  const int64_t axis = node.Axis(node.Int("axis", 0), x.size());
  node.Check(axis + own.size() <= x.size(), "second input ", ToString(own), " at axis ", axis,
             " is longer than the first ", ToString(x));
  Shape shape = own;
  shape.insert(shape.end(), x.size() - axis - own.size(), 1);
  return node.Reshaped(b, shape);
}

// Programs compute with f32, s32, s64 and bool: bytes are widened and narrowed again. A constant
// part of the model has all types.
bool IsByte(const OnnxNode& node, ValueId id) {
  const Value& value = node.At(id);
  return (value.dtype == DType::kS8 || value.dtype == DType::kU8) && !value.quant;
}

void OutputBinary(OnnxNode& node, BinaryOp op, ValueId a, ValueId b) {
  const DType type = node.At(a).dtype;
  const bool constant = node.At(a).is_constant() && node.At(b).is_constant();
  if (constant || type != node.At(b).dtype || !IsByte(node, a) || !IsByte(node, b)) {
    return node.OutputBinary(op, a, b);
  }
  const Expr wide = Apply(op, CastTo({node, a}, DType::kS64), CastTo({node, b}, DType::kS64));
  Give(wide.type() == DType::kBool ? wide : CastTo(wide, type));
}

template <BinaryOp kOp>
void ImportBinary(OnnxNode& node) {
  OutputBinary(node, kOp, node.Input(0), SecondInput(node));
}

template <BinaryOp kOp>
void ImportLogical(OnnxNode& node) {
  node.Check(node.TypeOf(0) == DType::kBool && node.TypeOf(1) == DType::kBool, "inputs have types ",
             Name(node.TypeOf(0)), " and ", Name(node.TypeOf(1)), ", expected bool");
  ImportBinary<kOp>(node);
}

// The result has the type of the base, whatever the exponent's.
void ImportPow(OnnxNode& node) {
  const ValueId a = node.Input(0), b = SecondInput(node);
  const DType type = node.TypeOf(0);
  if (type == node.At(b).dtype || type == DType::kF32) {
    return node.OutputBinary(BinaryOp::kPow, a, node.Converted(b, type));
  }
  const ValueId power = node.Broadcasted(BinaryOp::kPow, node.Converted(a, DType::kF32),
                                         node.Converted(b, DType::kF32));
  node.Output(Cast{type}, {power}, type, node.At(power).shape);
}

// kMod means the sign of the dividend for floats (C's fmod), of the divisor for integers.
void ImportMod(OnnxNode& node) {
  const bool fmod = node.Int("fmod", 0) != 0;
  const bool is_float = node.TypeOf(0) == DType::kF32;
  constexpr int64_t kFloorOfFloats = 28;  // the opset that allows it
  node.Check(fmod || !is_float || node.opset() >= kFloorOfFloats,
             "needs attribute 'fmod' = 1 for float inputs");
  if (!fmod && is_float) {  // the remainder, moved to the divisor's side
    const Expr y = In(node, 1), rest = Apply(BinaryOp::kMod, In(node, 0), y);
    const Expr zero = Number(node, 0.0);
    const Expr other = Apply(BinaryOp::kXor, Less(rest, zero), Less(y, zero));
    return Give(Select(And(other, Not(Equal(rest, zero))), rest + y, rest));
  }
  if (!fmod || is_float) return OutputBinary(node, BinaryOp::kMod, node.Input(0), node.Input(1));
  // Integers with the dividend's sign: a - (a / b) * b, since integer division truncates.
  const ValueId a = node.Input(0), b = node.Input(1);
  const ValueId whole = node.Broadcasted(BinaryOp::kDiv, a, b);
  node.OutputBinary(BinaryOp::kSub, a, node.Broadcasted(BinaryOp::kMul, whole, b));
}

// Sum, Min, Max of any number of inputs: a chain, left to right.
template <BinaryOp kOp>
void ImportVariadic(OnnxNode& node) {
  ValueId sum = node.Input(0);
  const int count = node.InputCount();
  if (count == 1) return node.Output(Identity{}, {sum}, node.TypeOf(0), node.ShapeOf(0));
  for (int i = 1; i + 1 < count; ++i) sum = node.Broadcasted(kOp, sum, node.Input(i));
  OutputBinary(node, kOp, sum, node.Input(count - 1));
}

void ImportMean(OnnxNode& node) {
  ValueId sum = node.Input(0);
  const int count = node.InputCount();
  node.RequireFloat(0);
  if (count == 1) return node.Output(Identity{}, {sum}, DType::kF32, node.ShapeOf(0));
  for (int i = 1; i < count; ++i) sum = node.Broadcasted(BinaryOp::kAdd, sum, node.Input(i));
  node.OutputBinary(BinaryOp::kDiv, sum, node.Scalar(static_cast<float>(count)));
}

void ImportWhere(OnnxNode& node) {
  node.Check(node.TypeOf(0) == DType::kBool, "condition has type ", Name(node.TypeOf(0)),
             ", expected bool");
  node.Check(node.TypeOf(1) == node.TypeOf(2), "inputs have types ", Name(node.TypeOf(1)), " and ",
             Name(node.TypeOf(2)), ", expected equal types");
  const Shape both = Broadcast(node.ShapeOf(1), node.ShapeOf(2), node.where());
  node.Output(Where{}, {node.Input(0), node.Input(1), node.Input(2)}, node.TypeOf(1),
              Broadcast(node.ShapeOf(0), both, node.where()));
}

void OutputCast(OnnxNode& node, DType to) {
  node.Output(Cast{to}, {node.Input(0)}, to, node.ShapeOf(0));
}

void ImportCast(OnnxNode& node) {
  node.Check(node.HasAttribute("to"), "attribute 'to' is missing");
  const int64_t to = node.Int("to", 0);
  node.Check(to > 0 && to < 64, "attribute 'to' is ", to, ", which is no element type");
  OutputCast(node, ImportDType(static_cast<int>(to), node.where()));
}

void ImportCastLike(OnnxNode& node) { OutputCast(node, node.TypeOf(1)); }

constexpr ImportEntry kEltwiseImports[] = {
    {"Add", ImportBinary<BinaryOp::kAdd>},
    {"Sub", ImportBinary<BinaryOp::kSub>},
    {"Mul", ImportBinary<BinaryOp::kMul>},
    {"Div", ImportBinary<BinaryOp::kDiv>},
    {"Pow", ImportPow},
    {"Mod", ImportMod},
    {"Equal", ImportBinary<BinaryOp::kEqual>},
    {"Less", ImportBinary<BinaryOp::kLess>},
    {"LessOrEqual", ImportBinary<BinaryOp::kLessOrEqual>},
    {"Greater", ImportBinary<BinaryOp::kGreater>},
    {"GreaterOrEqual", ImportBinary<BinaryOp::kGreaterOrEqual>},
    {"And", ImportLogical<BinaryOp::kAnd>},
    {"Or", ImportLogical<BinaryOp::kOr>},
    {"Xor", ImportLogical<BinaryOp::kXor>},
    {"Sum", ImportVariadic<BinaryOp::kAdd>},
    {"Min", ImportVariadic<BinaryOp::kMin>},
    {"Max", ImportVariadic<BinaryOp::kMax>},
    {"Mean", ImportMean},
    {"tflite:SquaredDifference", ImportBinary<BinaryOp::kSquaredDifference>},
    {"Where", ImportWhere},
    {"Cast", ImportCast},
    {"CastLike", ImportCastLike},
};

}  // namespace

std::span<const ImportEntry> EltwiseImports() { return kEltwiseImports; }

}  // namespace rshift
