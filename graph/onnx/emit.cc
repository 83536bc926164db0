// The half of OnnxNode that emits graph nodes: constants are executed at once.
#include "graph/conv_or_matmul.h"
#include "graph/fold/fold.h"
#include "graph/fold/origin.h"
#include "graph/onnx/bounded.h"
#include "graph/onnx/node.h"

namespace rshift {
namespace {

// No dimension of a tensor that anyone can hold is larger; sums and products of a few stay in
// int64.
constexpr int64_t kMaxDim = int64_t{1} << 40;
// Reshape and Identity share the elements of their input; those of its origin are copied.
bool SharesElements(const Op& op, const Value& input) {
  return (std::holds_alternative<Reshape>(op) || std::holds_alternative<Identity>(op)) &&
         input.origin == nullptr;
}

}  // namespace

std::shared_ptr<const ConstantData> OnnxNode::Fold(const Op& op, const std::vector<ValueId>& inputs,
                                                   DType type, const Shape& shape) const {
  std::vector<const Value*> constants;
  for (ValueId id : inputs) {
    constants.push_back(id.valid() ? &At(id) : nullptr);
    if (constants.back() && !constants.back()->is_constant()) return nullptr;
  }
  if (!IsEvaluated(op)) return nullptr;
  if (!SharesElements(op, *constants[0])) {
    const int64_t work = FoldWork(op, constants, shape);
    // A product of large constants is left to the program.
    if (std::holds_alternative<MatMul>(op) && !state_.budget.HasWork(work)) return nullptr;
    state_.budget.Spend(NumElements(shape) * static_cast<int64_t>(SizeOf(type)), work,
                        std::holds_alternative<Expand>(op) && constants[0]->shape.empty());
  }
  return FoldNode(op, constants, shape);
}

void OnnxNode::CheckNotEmpty(const Op& op, const std::vector<ValueId>& inputs,
                             const Shape& result) const {
  const bool sums = IsConvOrMatMul(op) || std::holds_alternative<MaxPool>(op) ||
                    std::holds_alternative<AveragePool>(op);
  if (!sums) return;
  for (ValueId id : inputs) {
    if (!id.valid()) continue;
    CheckSupported(NumElements(At(id).shape) > 0, "input ", Quoted(At(id).name), " of shape ",
                   ToString(At(id).shape), " is empty, expected one element or more");
  }
  CheckSupported(NumElements(result) > 0, "the result of shape ", ToString(result),
                 " is empty, expected one element or more");
}

ValueId OnnxNode::Make(Op op, std::vector<ValueId> inputs, Value result) {
  for (int64_t d : result.shape) {
    Check(d >= 0 && d < kMaxDim, "the result would have the shape ", ToString(result.shape),
          "; every dimension must be in [0, 2^40)");
  }
  try {
    NumElements(result.shape);
    result.constant = Fold(op, inputs, result.dtype, result.shape);
    if (result.is_constant() && inputs[0].valid()) {
      result.origin = OriginAfter(op, At(inputs[0]), result.shape);
    }
  } catch (const Error& error) {
    Fail(error.code(), where_, ": ", error.what());
  }
  const bool folded = result.is_constant();
  if (!folded) CheckNotEmpty(op, inputs, result.shape);
  const ValueId id = state_.graph.AddValue(std::move(result));
  if (folded) return id;
  BoundAfter(*this, op, inputs, id);
  state_.graph.AddNode({label_, std::move(op), std::move(inputs), {id}});
  return id;
}

const BoundedDim* OnnxNode::Bounded(ValueId id) const {
  const auto found = state_.bounded.find(id.index());
  return found == state_.bounded.end() ? nullptr : &found->second;
}

void OnnxNode::Bound(ValueId id, int64_t axis, ValueId count) {
  state_.bounded[id.index()] = {axis, count};
}

ValueId OnnxNode::Emit(Op op, std::vector<ValueId> inputs, DType type, Shape shape) {
  Value result;
  result.name = state_.names.Take(label_ + "/" + OpName(op));
  result.dtype = type;
  result.shape = std::move(shape);
  return Make(std::move(op), std::move(inputs), std::move(result));
}

void OnnxNode::Output(Op op, std::vector<ValueId> inputs, DType type, Shape shape, int i) {
  Check(i < proto_.output_size(), "has ", proto_.output_size(), " outputs, expected at least ",
        i + 1);
  if (proto_.output(i).empty()) return;
  Value result;
  result.name = proto_.output(i);
  result.dtype = type;
  result.shape = std::move(shape);
  state_.values[proto_.output(i)] = Make(std::move(op), std::move(inputs), std::move(result));
}

void OnnxNode::SetQuant(ValueId id, const QuantParams& params) {
  Value& value = state_.graph.value(id);
  CheckSupported(!value.quant || *value.quant == params, "reads ", Quoted(value.name),
                 " with scale ", params.scale, " and zero point ", params.zero_point,
                 ", but elsewhere it has ", value.quant ? value.quant->scale : 0.0f, " and ",
                 value.quant ? value.quant->zero_point : 0, "; a tensor has one scale");
  value.quant = params;
}

void OnnxNode::SetOutputQuant(const QuantParams& params) {
  const auto found = state_.values.find(proto_.output(0));
  if (found != state_.values.end()) SetQuant(found->second, params);
}

void OnnxNode::KeepSign(const std::string& name) {
  const auto found = state_.values.find(name);
  if (found == state_.values.end()) return;
  Value& value = state_.graph.value(found->second);
  value.keeps_sign = value.dtype == DType::kS8;
}

void OnnxNode::SetShiftsOperands() {
  const auto found = state_.values.find(proto_.output(0));
  if (found != state_.values.end()) state_.graph.value(found->second).shifts_operands = true;
}

void OnnxNode::OutputConstant(Value constant, int i) {
  Check(i < proto_.output_size(), "has ", proto_.output_size(), " outputs, expected at least ",
        i + 1);
  const auto bytes = static_cast<int64_t>(constant.constant->bytes.size());
  try {
    state_.budget.Spend(bytes, bytes);
  } catch (const Error& error) {
    Fail(error.code(), where_, ": ", error.what());
  }
  constant.name = proto_.output(i);
  state_.values[proto_.output(i)] = state_.graph.AddValue(std::move(constant));
}

ValueId OnnxNode::Reshaped(ValueId id, const Shape& shape) {
  if (At(id).shape == shape) return id;
  return Emit(Reshape{}, {id}, At(id).dtype, shape);
}

ValueId OnnxNode::Broadcasted(BinaryOp op, ValueId a, ValueId b) {
  Check(At(a).dtype == At(b).dtype, "inputs have types ", Name(At(a).dtype), " and ",
        Name(At(b).dtype), ", expected equal types");
  const DType type = kResultIsBool[static_cast<size_t>(op)] ? DType::kBool : At(a).dtype;
  return Emit(Binary{op, {}}, {a, b}, type, Broadcast(At(a).shape, At(b).shape, where_));
}

ValueId OnnxNode::Applied(UnaryOp op, ValueId x) {
  return Emit(Unary{op, 0.0f, 0.0f}, {x}, At(x).dtype, At(x).shape);
}

ValueId OnnxNode::Converted(ValueId id, DType to) {
  if (At(id).dtype == to) return id;
  return Emit(Cast{to}, {id}, to, At(id).shape);
}

ValueId OnnxNode::Add(Value constant) {
  constant.name = state_.names.Take(label_ + "/Constant");
  return state_.graph.AddValue(std::move(constant));
}

ValueId OnnxNode::Scalar(float value, DType type) {
  Value constant;
  constant.constant = MakeConstant(std::span<const float>(&value, 1));
  return Converted(Add(std::move(constant)), type);
}

void OnnxNode::OutputBinary(BinaryOp op, ValueId a, ValueId b) {
  Check(At(a).dtype == At(b).dtype, "inputs ", Quoted(At(a).name), " and ", Quoted(At(b).name),
        " have types ", Name(At(a).dtype), " and ", Name(At(b).dtype), ", expected equal types");
  const DType type = kResultIsBool[static_cast<size_t>(op)] ? DType::kBool : At(a).dtype;
  Output(Binary{op, {}}, {a, b}, type, Broadcast(At(a).shape, At(b).shape, where_));
}

void OnnxNode::OutputReshaped(ValueId id, const Shape& shape) {
  Output(Reshape{}, {id}, At(id).dtype, shape);
}

}  // namespace rshift
