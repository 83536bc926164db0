#include "graph/onnx/node.h"

#include <algorithm>
#include <cmath>

#include "graph/fold/fold.h"
#include "graph/fold/origin.h"

namespace rshift {
namespace {

using onnx::AttributeProto;

// No dimension of a tensor that anyone can hold is larger; sums and products of a few stay in
// int64.
constexpr int64_t kMaxDim = int64_t{1} << 40;
// Reshape and Identity share the elements of their input; those of its origin are copied.
bool SharesElements(const Op& op, const Value& input) {
  return (std::holds_alternative<Reshape>(op) || std::holds_alternative<Identity>(op)) &&
         input.origin == nullptr;
}

}  // namespace

std::string NodeLabel(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return "(unnamed)";
}

OnnxNode::OnnxNode(const onnx::NodeProto& proto, ImportState& state)
    : proto_(proto), state_(state), label_(NodeLabel(proto)) {
  const std::string quoted = Quoted(label_);
  where_ = quoted.substr(1, quoted.size() - 2) + " (" + proto.op_type() + ")";
}

const AttributeProto* OnnxNode::Find(const char* name) const {
  for (const AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const AttributeProto* OnnxNode::Find(const char* name, int type, const char* type_name) const {
  const AttributeProto* attribute = Find(name);
  // Writers of IR version 1 and 2 leave the type out.
  Check(attribute == nullptr || attribute->type() == type ||
            attribute->type() == AttributeProto::UNDEFINED,
        "attribute '", name, "' has the wrong type, expected ", type_name);
  return attribute;
}

int64_t OnnxNode::Int(const char* name, int64_t fallback) const {
  const AttributeProto* a = Find(name, AttributeProto::INT, "INT");
  return a ? a->i() : fallback;
}

float OnnxNode::Float(const char* name, float fallback) const {
  const AttributeProto* a = Find(name, AttributeProto::FLOAT, "FLOAT");
  const float number = a ? a->f() : fallback;
  Check(std::isfinite(number), "attribute '", name, "' is ", number,
        ", expected a finite number; repair the model");
  return number;
}

float OnnxNode::AnyFloat(const char* name, float fallback) const {
  const AttributeProto* a = Find(name, AttributeProto::FLOAT, "FLOAT");
  return a ? a->f() : fallback;
}

std::string OnnxNode::String(const char* name, const char* fallback) const {
  const AttributeProto* a = Find(name, AttributeProto::STRING, "STRING");
  return a ? a->s() : fallback;
}

std::vector<int64_t> OnnxNode::Ints(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::INTS, "INTS");
  return a ? std::vector<int64_t>(a->ints().begin(), a->ints().end()) : std::vector<int64_t>();
}

std::vector<float> OnnxNode::Floats(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::FLOATS, "FLOATS");
  return a ? std::vector<float>(a->floats().begin(), a->floats().end()) : std::vector<float>();
}

Value OnnxNode::Tensor(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::TENSOR, "TENSOR");
  Check(a != nullptr, "attribute '", name, "' is missing");
  Value value = ImportTensor(a->t(), state_.external, where_ + ": attribute '" + name + "'");
  state_.budget.Give(static_cast<int64_t>(value.constant->bytes.size()));
  return value;
}

ValueId OnnxNode::Input(int i) const {
  Check(HasInput(i), "input ", i, " is missing");
  return state_.values.at(proto_.input(i));
}

void OnnxNode::RequireFloat(int i) const {
  CheckSupported(TypeOf(i) == DType::kF32, "input ", Quoted(At(Input(i)).name), " has type ",
                 Name(TypeOf(i)), ", expected a float type");
}

std::vector<int64_t> OnnxNode::ConstantInts(int i, const char* role) const {
  const Value& value = At(Input(i));
  CheckSupported(
      value.is_constant(), role, " ", Quoted(value.name),
      " are computed from the model's input, expected a constant; shapes must be static");
  Check(value.dtype != DType::kF32 && value.shape.size() <= 1, role, " ", Quoted(value.name),
        " are ", Name(value.dtype), " ", ToString(value.shape), ", expected a list of integers");
  return IntElements(value);
}

std::vector<float> OnnxNode::ConstantFloats(int i, const char* role) const {
  const Value& value = At(Input(i));
  CheckSupported(value.is_constant(), role, " ", Quoted(value.name),
                 " is computed from the model's input, expected a constant");
  Check(value.dtype == DType::kF32, role, " ", Quoted(value.name), " has type ", Name(value.dtype),
        ", expected a float type");
  return FloatElements(value);
}

std::vector<int64_t> OnnxNode::IntsFrom(int i, const char* name) const {
  if (HasInput(i)) return ConstantInts(i, name);
  return Ints(name);
}

bool OnnxNode::OutputUsed(int i) const {
  if (i >= proto_.output_size() || proto_.output(i).empty()) return false;
  auto uses = state_.uses.find(proto_.output(i));
  return uses != state_.uses.end() && uses->second > 0;
}

void OnnxNode::RefuseOutput(int i, const char* role) const {
  CheckSupported(!OutputUsed(i), "output ", i, " (", role, ") is used, only output 0 is supported");
}

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
  const bool sums = std::holds_alternative<Conv>(op) || std::holds_alternative<ConvTranspose>(op) ||
                    std::holds_alternative<MatMul>(op) || std::holds_alternative<MaxPool>(op) ||
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
  if (!folded) state_.graph.AddNode({label_, std::move(op), std::move(inputs), {id}});
  return id;
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

int64_t OnnxNode::Axis(int64_t axis, size_t rank) const {
  const auto r = static_cast<int64_t>(rank);
  Check(axis >= -r && axis < r, "axis ", axis, " is outside [-", r, ", ", r, ")");
  return axis < 0 ? axis + r : axis;
}

std::vector<int64_t> OnnxNode::Axes(std::vector<int64_t> axes, size_t rank) const {
  for (int64_t& axis : axes) axis = Axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  Check(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), "an axis is given twice");
  return axes;
}

std::vector<int64_t> IntElements(const Value& constant) { return LoadInts(constant); }

std::vector<float> FloatElements(const Value& constant) {
  auto elements = constant.constant->As<float>();
  return {elements.begin(), elements.end()};
}

}  // namespace rshift
