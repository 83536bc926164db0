#include "graph/tflite/op.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/tflite/model.h"
#include "graph/tflite/sparse.h"
#include "graph/tflite/variables.h"

namespace rshift::tflite {
namespace {

using onnx::TensorProto;

bool IsBytes(TensorType type) { return type == TensorType_INT8 || type == TensorType_UINT8; }

bool IsNibbles(TensorType type) { return type == TensorType_INT4; }

// Bits of one stored element; 0 for types without a fixed size.
int BitsOf(TensorType type) {
  switch (type) {
    case TensorType_INT4:
      return 4;
    case TensorType_INT8:
    case TensorType_UINT8:
    case TensorType_BOOL:
      return 8;
    case TensorType_INT16:
    case TensorType_UINT16:
    case TensorType_FLOAT16:
    case TensorType_BFLOAT16:
      return 16;
    case TensorType_FLOAT32:
    case TensorType_INT32:
    case TensorType_UINT32:
      return 32;
    case TensorType_FLOAT64:
    case TensorType_INT64:
      return 64;
    default:
      return 0;
  }
}

// Two's complement numbers of 4 bits, the lower half of a byte first, as bytes.
std::string Widened(std::span<const uint8_t> nibbles, int64_t count) {
  std::string bytes(static_cast<size_t>(count), '\0');
  for (int64_t i = 0; i < count; ++i) {
    const int nibble = nibbles[i / 2] >> (i % 2 * 4) & 15;
    bytes[i] = static_cast<char>(nibble < 8 ? nibble : nibble - 16);
  }
  return bytes;
}

std::vector<float> ScalesOf(const Tensor& tensor) {
  const auto* scales = tensor.quantization()->scale();
  return {scales->begin(), scales->end()};
}

bool IsPowerOfTwo(float scale) {
  int exponent = 0;
  return std::frexp(scale, &exponent) == 0.5f;
}

// The verifier holds lists of 64-bit numbers to the alignment of 32-bit ones: they are copied out.
int64_t ZeroOf(const Tensor& tensor, size_t i) {
  const auto* zeros = tensor.quantization()->zero_point();
  if (zeros == nullptr || zeros->size() == 0) return 0;
  int64_t zero = 0;
  std::memcpy(&zero, zeros->Data() + (zeros->size() == 1 ? 0 : i) * sizeof(zero), sizeof(zero));
  return flatbuffers::EndianScalar(zero);
}

void CheckQuantization(const Tensor& tensor, const std::string& where) {
  const QuantizationParameters& q = *tensor.quantization();
  RSHIFT_REQUIRE(q.details_type() == QuantizationDetails_NONE, ErrorCode::kUnsupported, "tensor ",
                 Quoted(NameOf(tensor)), " has ",
                 q.details_type() == QuantizationDetails_BlockwiseQuantization
                     ? "a scale for each block of elements"
                     : "a quantization of its own kind",
                 "; scales of the tensor or of its channels are supported");
  const size_t scales = q.scale()->size();
  const size_t zeros = q.zero_point() == nullptr ? 0 : q.zero_point()->size();
  const Shape shape = ShapeOf(tensor);
  const int64_t axis = q.quantized_dimension();
  const bool fits = scales == 1 || (axis >= 0 && axis < static_cast<int64_t>(shape.size()) &&
                                    shape[axis] == static_cast<int64_t>(scales));
  RSHIFT_REQUIRE(fits && (zeros <= 1 || zeros == scales), ErrorCode::kInvalidInput, where,
                 ": tensor ", Quoted(NameOf(tensor)), " of shape ", ToString(shape), " has ",
                 scales, " scales and ", zeros, " zero points along dimension ", axis,
                 "; the file is damaged");
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

int OnnxType(TensorType type, const std::string& where) {
  switch (type) {
    case TensorType_FLOAT32:
      return TensorProto::FLOAT;
    case TensorType_FLOAT16:
      return TensorProto::FLOAT16;
    case TensorType_BFLOAT16:
      return TensorProto::BFLOAT16;
    case TensorType_FLOAT64:
      return TensorProto::DOUBLE;
    case TensorType_INT8:
    case TensorType_INT4:
      return TensorProto::INT8;
    case TensorType_UINT8:
      return TensorProto::UINT8;
    case TensorType_INT16:
      return TensorProto::INT16;
    case TensorType_UINT16:
      return TensorProto::UINT16;
    case TensorType_INT32:
      return TensorProto::INT32;
    case TensorType_UINT32:
      return TensorProto::UINT32;
    case TensorType_INT64:
      return TensorProto::INT64;
    case TensorType_BOOL:
      return TensorProto::BOOL;
    default:
      Fail(ErrorCode::kUnsupported, where, " has elements of type ", EnumNameTensorType(type),
           "; floats, integers of 4 to 64 bits and booleans are supported");
  }
}

bool IsQuantized(const Tensor& tensor) {
  const TensorType type = tensor.type();
  const bool integer = IsBytes(type) || IsNibbles(type) || type == TensorType_INT16;
  const QuantizationParameters* q = tensor.quantization();
  return integer && q != nullptr && q->scale() != nullptr && q->scale()->size() > 0;
}

namespace {

// s16 of one scale and without a zero point: TensorFlow Lite's 16x8.
bool IsInt16(const Tensor& tensor) {
  return tensor.type() == TensorType_INT16 && IsQuantized(tensor) && ScalesOf(tensor).size() == 1 &&
         ZeroOf(tensor, 0) == 0;
}

}  // namespace

int64_t ZeroPointOf(const Tensor& tensor) { return ZeroOf(tensor, 0); }

bool HaveEqualQuantization(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || IsQuantized(a) != IsQuantized(b)) return false;
  if (!IsQuantized(a)) return true;
  if (ScalesOf(a).size() != 1 || ScalesOf(b).size() != 1) return false;
  return ScalesOf(a) == ScalesOf(b) && ZeroOf(a, 0) == ZeroOf(b, 0);
}

OpWriter::OpWriter(const Call& call, Translation& state)
    : op_(*call.op),
      state_(state),
      inputs_(call.inputs),
      outputs_(call.outputs),
      label_(state.tensor_names[outputs_[0]]),
      where_(Cat(label_, " (", state.file.NameOf(op_), ")")) {}

const Tensor& OpWriter::In(int i) const {
  Check(HasInput(i), "input ", i, " is missing");
  return state_.file.tensor(inputs_[i]);
}

bool OpWriter::IsFloat(int i) const {
  const TensorType type = In(i).type();
  return type == TensorType_FLOAT32 || type == TensorType_FLOAT16 || IsQuantized(In(i));
}

namespace {

TensorProto& NewInitializer(Translation& state, const std::string& name, int type,
                            const Shape& shape) {
  TensorProto& proto = *state.graph.add_initializer();
  proto.set_name(name);
  proto.set_data_type(type);
  for (const int64_t d : shape) proto.add_dims(d);
  return proto;
}

}  // namespace

onnx::TensorProto& OpWriter::AddInitializer(const std::string& name, int type, const Shape& shape) {
  return NewInitializer(state_, name, type, shape);
}

void StoreConstant(Translation& state, int index, const std::string& where) {
  if (state.computed[index] || state.stored[index]) return;
  const Tensor& tensor = state.file.tensor(index);
  const std::string what = "tensor " + Quoted(NameOf(tensor));
  RSHIFT_REQUIRE(!tensor.is_variable(), ErrorCode::kUnsupported, what,
                 " is a variable: it keeps its contents between runs; only tensors that are "
                 "computed anew in each run are supported");
  const Shape shape = ShapeOf(tensor);
  const int type = OnnxType(tensor.type(), what);
  const std::span<const uint8_t> data = state.file.DataOf(tensor);
  const int64_t count = NumElements(shape), bits = BitsOf(tensor.type());
  RSHIFT_REQUIRE(!data.empty() || count == 0, ErrorCode::kInvalidInput, where, "reads ", what,
                 ", which no operator, input or buffer provides; the file is damaged");
  if (tensor.sparsity() != nullptr) {
    RSHIFT_REQUIRE(bits >= 8, ErrorCode::kUnsupported, what, " is stored sparse in elements of ",
                   bits, " bits; elements of 8 bits and more are supported");
    NewInitializer(state, state.tensor_names[index], type, shape)
        .set_raw_data(Densified(tensor, data, bits / 8));
    state.stored[index] = true;
    return;
  }
  RSHIFT_REQUIRE((count * bits + 7) / 8 == static_cast<int64_t>(data.size()),
                 ErrorCode::kInvalidInput, where, what, " of shape ", ToString(shape), " and type ",
                 EnumNameTensorType(tensor.type()), " has ", data.size(), " bytes, expected ",
                 (count * bits + 7) / 8, "; the file is damaged");
  TensorProto& proto = NewInitializer(state, state.tensor_names[index], type, shape);
  if (IsNibbles(tensor.type())) {
    proto.set_raw_data(Widened(data, count));
  } else {
    proto.set_raw_data(data.data(), data.size());
  }
  state.stored[index] = true;
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
    const int64_t zero = ZeroOf(tensor, i);
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

std::vector<int64_t> OpWriter::Ints(int i, const char* role) const {
  const Tensor& tensor = In(i);
  CheckSupported(IsConstant(i), role, " ", Quoted(NameOf(tensor)),
                 " are computed by the model, expected a constant; shapes must be static");
  const std::span<const uint8_t> data = state_.file.DataOf(tensor);
  const bool wide = tensor.type() == TensorType_INT64;
  Check(wide || tensor.type() == TensorType_INT32, role, " ", Quoted(NameOf(tensor)), " have type ",
        EnumNameTensorType(tensor.type()), ", expected INT32 or INT64");
  const size_t size = wide ? 8 : 4, count = static_cast<size_t>(NumElements(ShapeOf(tensor)));
  Check(data.size() == count * size, role, " ", Quoted(NameOf(tensor)), " have ", data.size(),
        " bytes, expected ", count * size, "; the file is damaged");
  std::vector<int64_t> elements(count);
  for (size_t k = 0; k < count; ++k) {
    int32_t narrow = 0;
    if (wide) {
      std::memcpy(&elements[k], data.data() + k * 8, 8);
    } else {
      std::memcpy(&narrow, data.data() + k * 4, 4);
      elements[k] = narrow;
    }
  }
  return elements;
}

std::span<const uint8_t> OpWriter::CustomBytes() const {
  const auto* data = op_.custom_options();
  if (data == nullptr) return {};
  return {data->data(), data->size()};
}

std::vector<int32_t> OpWriter::CustomOptions(size_t count) const {
  const std::span<const uint8_t> bytes = CustomBytes();
  std::vector<int32_t> options(count);
  Check(bytes.size() >= count * 4, "has options of ", bytes.size(), " bytes, expected ", count * 4,
        " or more");
  std::memcpy(options.data(), bytes.data(), count * 4);
  return options;
}

int64_t OpWriter::Int(int i, const char* role) const {
  const std::vector<int64_t> elements = Ints(i, role);
  Check(elements.size() == 1, role, " ", Quoted(NameOf(In(i))), " has ", elements.size(),
        " elements, expected 1");
  return elements[0];
}

float OpWriter::FloatOf(int i, const char* role) const {
  const Tensor& tensor = In(i);
  CheckSupported(IsConstant(i) && tensor.type() == TensorType_FLOAT32, role, " ",
                 Quoted(NameOf(tensor)), " is no constant of type FLOAT32");
  const std::span<const uint8_t> data = state_.file.DataOf(tensor);
  float element = 0;
  Check(data.size() == sizeof element, role, " ", Quoted(NameOf(tensor)), " has ", data.size(),
        " bytes, expected ", sizeof element);
  std::memcpy(&element, data.data(), sizeof element);
  return element;
}

std::optional<BuiltinOperator> OpWriter::BodyOf(int subgraph) const {
  const SubGraph& body = state_.file.CheckedSubgraph(subgraph);
  const std::vector<int> in = Indices(body.inputs()), out = Indices(body.outputs());
  Check(in.size() == 2 && out.size() == 1, "its subgraph has ", in.size(), " inputs and ",
        out.size(), " outputs, expected 2 and 1");
  if (body.operators()->size() == 0 && out == std::vector{in[1]}) return {};
  CheckSupported(body.operators()->size() == 1, "its subgraph has ", body.operators()->size(),
                 " operators; one of two numbers is supported");
  const Operator& op = *body.operators()->Get(0);
  std::vector<int> read = Indices(op.inputs());
  if (read == std::vector{in[1], in[0]}) std::swap(read[0], read[1]);
  CheckSupported(read == in && Indices(op.outputs()) == out,
                 "the operator of its subgraph does not make the result of the two inputs");
  return state_.file.CodeOf(op);
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
