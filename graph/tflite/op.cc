#include "graph/tflite/op.h"

#include <cmath>

#include "graph/tflite/constants.h"
#include "graph/tflite/model.h"
#include "graph/tflite/tensor_types.h"
#include "graph/tflite/variables.h"

namespace rshift::tflite {
namespace {

using onnx::TensorProto;

bool IsPowerOfTwo(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5f;
}

onnx::AttributeProto ToProto(const char* name, const Attribute& attribute) {
  onnx::AttributeProto proto;
  proto.set_name(name);
  if (const auto* i = std::get_if<int64_t>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*i);
  } else if (const auto* f = std::get_if<float>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*f);
  } else if (const auto* s = std::get_if<std::string>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*s);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const float element : *floats) proto.add_floats(element);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& text : *texts) proto.add_strings(text);
  } else {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const int64_t element : std::get<std::vector<int64_t>>(attribute)) proto.add_ints(element);
  }
  return proto;
}

}  // namespace

OpWriter::OpWriter(const Call& call, Translation& state)
    : op_(*call.op),
      state_(state),
      inputs_(call.inputs),
      outputs_(call.outputs),
      intermediates_(call.intermediates),
      label_(state.tensor_names[outputs_[0]]),
      where_(Cat(label_, " (", state.file.NameOf(op_), ")")) {}

onnx::TensorProto& OpWriter::AddInitializer(const std::string& name, int type, const Shape& shape) {
  return NewInitializer(state_, name, type, shape);
}

std::string OpWriter::Stored(int i) {
  In(i);
  StoreConstant(state_, inputs_[i], where_ + ": ");
  return state_.tensor_names[inputs_[i]];
}

std::string OpWriter::AddScales(const std::vector<float>& scales) {
  std::string name = Fresh("scale");
  const bool one = scales.size() == 1;
  TensorProto& proto = AddInitializer(name, TensorProto::FLOAT,
                                      one ? Shape{} : Shape{static_cast<int64_t>(scales.size())});
  for (const float scale : scales) proto.add_float_data(scale);
  return name;
}

std::string OpWriter::AddZeros(const Tensor& tensor, size_t count) {
  std::string name = Fresh("zero_point");
  TensorProto& proto = AddInitializer(name, OnnxType(tensor.type(), where_),
                                      count == 1 ? Shape{} : Shape{static_cast<int64_t>(count)});
  for (size_t i = 0; i < count; ++i) {
    const int64_t zero = ZeroPointOf(tensor, i);
    const bool is_unsigned = tensor.type() == TensorType_UINT8;
    const int bits = tensor.type() == TensorType_INT16 ? 16 : 8;
    const int64_t lowest = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
    Check(zero >= lowest && zero < lowest + (int64_t{1} << bits), "tensor ", Quoted(NameOf(tensor)),
          " has the zero point ", zero, ", which its type ", EnumNameTensorType(tensor.type()),
          " cannot hold; the file is damaged");
    proto.add_int32_data(static_cast<int32_t>(zero));
  }
  return name;
}

std::string OpWriter::Dequantized(int index) {
  const auto known = state_.reals.find(index);
  if (known != state_.reals.end()) return known->second;
  const Tensor& tensor = state_.file.tensor(index);
  CheckQuantization(tensor, where_);
  const std::vector<float> scales = ScalesOf(tensor);
  OpAttributes attributes;
  if (scales.size() > 1) {
    attributes = {{"axis", int64_t{tensor.quantization()->quantized_dimension()}}};
  }
  const std::string& stored = state_.tensor_names[index];
  std::string real =
      IsInt16(tensor)
          ? EmitOwn("DequantizeLinear", {stored, AddScales(scales)}, {})
          : Emit("DequantizeLinear", {stored, AddScales(scales), AddZeros(tensor, scales.size())},
                 attributes);
  state_.reals[index] = real;
  return real;
}

std::string OpWriter::Real(int i) {
  std::string stored = Stored(i);
  return IsQuantized(In(i)) ? Dequantized(inputs_[i]) : stored;
}

std::string OpWriter::Bias(int i, int x, int w) {
  if (!HasInput(i)) return "";
  const bool integer = In(i).type() == TensorType_INT32 || In(i).type() == TensorType_INT64;
  if (!integer || !IsQuantized(In(x)) || !IsQuantized(In(w))) return Real(i);
  const float scale = ScalesOf(In(x))[0];
  std::vector<float> scales = ScalesOf(In(w));
  for (float& s : scales) s *= scale;
  const std::string stored = Stored(i);
  if (In(i).type() == TensorType_INT32) {
    return Emit("DequantizeLinear", {stored, AddScales(scales)}, {{"axis", int64_t{0}}});
  }
  return EmitOwn("DequantizeLinear", {stored, AddScales(scales)}, {{"axis", int64_t{0}}});
}

std::string OpWriter::List(int i) {
  std::string stored = Stored(i);
  if (In(i).type() == TensorType_INT64) return stored;
  return Emit("Cast", {stored}, {{"to", int64_t{TensorProto::INT64}}});
}

int64_t OpWriter::Axis(int64_t axis, int rank) const {
  Check(axis >= -rank && axis < rank, "axis ", axis, " is outside [-", rank, ", ", rank, ")");
  return axis < 0 ? axis + rank : axis;
}

Names OpWriter::EmitMany(const char* type, const Names& inputs, int count,
                         const OpAttributes& attributes) {
  onnx::NodeProto& node = *state_.graph.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  Names outputs;
  for (int i = 0; i < count; ++i) {
    outputs.push_back(Fresh(type));
    node.add_output(outputs.back());
  }
  for (const auto& [name, attribute] : attributes) *node.add_attribute() = ToProto(name, attribute);
  return outputs;
}

std::string OpWriter::Emit(const char* type, const Names& inputs, const OpAttributes& attributes) {
  return EmitMany(type, inputs, 1, attributes)[0];
}

std::string OpWriter::EmitOwn(const char* type, const Names& inputs,
                              const OpAttributes& attributes) {
  return EmitManyOwn(type, inputs, 1, attributes)[0];
}

Names OpWriter::EmitManyOwn(const char* type, const Names& inputs, int count,
                            const OpAttributes& attributes) {
  Names made = EmitMany(type, inputs, count, attributes);
  state_.graph.mutable_node(state_.graph.node_size() - 1)->set_domain(kTfliteDomain);
  return made;
}

std::string OpWriter::IntList(const std::vector<int64_t>& elements) {
  std::string name = Fresh("list");
  TensorProto& proto =
      AddInitializer(name, TensorProto::INT64, {static_cast<int64_t>(elements.size())});
  for (const int64_t element : elements) proto.add_int64_data(element);
  return name;
}

std::string OpWriter::Scalar(int64_t element) {
  std::string name = Fresh("number");
  AddInitializer(name, TensorProto::INT64, {}).add_int64_data(element);
  return name;
}

std::string OpWriter::Float(float element) {
  std::string name = Fresh("number");
  AddInitializer(name, TensorProto::FLOAT, {}).add_float_data(element);
  return name;
}

std::string OpWriter::FloatList(const std::vector<float>& elements) {
  std::string name = Fresh("list");
  TensorProto& proto =
      AddInitializer(name, TensorProto::FLOAT, {static_cast<int64_t>(elements.size())});
  for (const float element : elements) proto.add_float_data(element);
  return name;
}

std::string OpWriter::Transposed(const std::string& x, const std::vector<int64_t>& order) {
  return Emit("Transpose", {x}, {{"perm", order}});
}

std::string OpWriter::Reshaped(const std::string& x, const std::vector<int64_t>& shape) {
  return Emit("Reshape", {x, IntList(shape)});
}

std::string OpWriter::Activated(const std::string& x, ActivationFunctionType function) {
  switch (function) {
    case ActivationFunctionType_NONE:
      return x;
    case ActivationFunctionType_RELU:
      return Emit("Relu", {x});
    case ActivationFunctionType_RELU6:
      return Emit("Clip", {x, Float(0), Float(6)});
    case ActivationFunctionType_RELU_N1_TO_1:
      return Emit("Clip", {x, Float(-1), Float(1)});
    case ActivationFunctionType_TANH:
      return Emit("Tanh", {x});
    default:
      Unsupported("has the fused activation function ", static_cast<int>(function),
                  "; RELU, RELU6, RELU_N1_TO_1 and TANH are supported");
  }
}

void OpWriter::GiveStored(const std::string& x, int i) {
  const std::string& name = state_.tensor_names[outputs_.at(i)];
  const int last = state_.graph.node_size() - 1;
  // A node of this operator alone makes x: its result is called as the tensor at once.
  if (last >= 0) {
    onnx::NodeProto& node = *state_.graph.mutable_node(last);
    const bool mine = node.output(0) == x && x.starts_with(label_ + "/");
    if (mine && node.output_size() == 1 && node.op_type() != "DequantizeLinear") {
      node.set_output(0, name);
      node.set_name(name);
      return;
    }
  }
  onnx::NodeProto& node = *state_.graph.add_node();
  node.set_op_type("Identity");
  node.add_input(x);
  node.add_output(name);
}

void OpWriter::GiveReal(const std::string& x, int i) { GiveQuantized(x, i, false); }

void OpWriter::GiveSum(const std::string& x, bool pot_scale_int16) {
  const auto is_power = [](const Tensor& tensor) {
    return IsInt16(tensor) && IsPowerOfTwo(ScalesOf(tensor)[0]);
  };
  GiveQuantized(x, 0, pot_scale_int16 && is_power(In(0)) && is_power(In(1)) && is_power(Out()));
}

std::string OpWriter::QuantizedAs(const Tensor& tensor, const std::string& x,
                                  bool shifts_operands) {
  if (!IsQuantized(tensor)) return x;
  CheckQuantization(tensor, where_);
  const std::vector<float> scales = ScalesOf(tensor);
  CheckSupported(scales.size() == 1, "gives ", scales.size(),
                 " scales to the channels of its result, expected one scale");
  if (IsInt16(tensor)) {
    return EmitOwn("QuantizeLinear", {x, AddScales(scales)},
                   {{"shifts_operands", int64_t{shifts_operands}}});
  }
  return Emit("QuantizeLinear", {x, AddScales(scales), AddZeros(tensor, 1)});
}

void OpWriter::GiveQuantized(const std::string& x, int i, bool shifts_operands) {
  GiveStored(QuantizedAs(Out(i), x, shifts_operands), i);
}

std::string OpWriter::State(int i) {
  CheckSupported(In(i).is_variable(), "state ", Quoted(NameOf(In(i))),
                 " is no variable tensor, which is not supported");
  ReadState(inputs_[i], state_);
  return Real(i);
}

void OpWriter::GiveState(int i, const std::string& x) {
  AssignState(inputs_[i], QuantizedAs(In(i), x, false), state_);
}

void OpWriter::BeginWithZeros() {
  if (state_.begins_with_zeros.empty()) state_.begins_with_zeros = label_;
}

std::string OpWriter::Moved(int i) {
  moves_stored_ = In(i).type() != TensorType_INT16 || !IsQuantized(In(i));
  for (int o = 0; o < OutputCount(); ++o) {
    moves_stored_ = moves_stored_ && HaveEqualQuantization(In(i), Out(o));
  }
  return moves_stored_ ? Stored(i) : Real(i);
}

void OpWriter::GiveMoved(const std::string& x, int i) {
  if (moves_stored_) return GiveStored(x, i);
  GiveReal(x, i);
}

}  // namespace rshift::tflite
