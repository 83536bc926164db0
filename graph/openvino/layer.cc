#include "graph/openvino/layer.h"

#include <charconv>
#include <cstring>

#include "graph/onnx/tensor.h"

namespace rshift::openvino {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

template <typename T>
bool Parse(std::string_view text, T* number) {
  text = Trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T>
std::vector<int64_t> Widened(std::span<const uint8_t> bytes) {
  std::vector<int64_t> result;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    result.push_back(element);
  }
  return result;
}

}  // namespace

std::string LayerNode::Where() const { return Quoted(layer_.name) + " (" + layer_.type + ")"; }

std::string LayerNode::Text(const char* key, const char* fallback) const {
  const auto found = layer_.data.find(key);
  return found == layer_.data.end() ? fallback : found->second;
}

int64_t LayerNode::Int(const char* key, int64_t fallback) const {
  if (!Has(key)) return fallback;
  int64_t number = 0;
  Check(Parse(layer_.data.at(key), &number), "attribute '", key, "' is ",
        Quoted(layer_.data.at(key)), ", expected a whole number");
  return number;
}

float LayerNode::Float(const char* key, float fallback) const {
  if (!Has(key)) return fallback;
  double number = 0;
  Check(Parse(layer_.data.at(key), &number), "attribute '", key, "' is ",
        Quoted(layer_.data.at(key)), ", expected a number");
  return static_cast<float>(number);
}

bool LayerNode::Flag(const char* key, bool fallback) const {
  const std::string text = Text(key, fallback ? "true" : "false");
  const bool yes = text == "true" || text == "1";
  Check(yes || text == "false" || text == "0", "attribute '", key, "' is ", Quoted(text),
        ", expected true or false");
  return yes;
}

std::vector<int64_t> LayerNode::Ints(const char* key) const {
  return ParseInts(Text(key, ""), Where() + ": attribute '" + key + "'");
}

std::vector<int64_t> ParseInts(const std::string& text, const std::string& where) {
  std::vector<int64_t> result;
  if (Trimmed(text).empty()) return result;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t number = 0;
    RSHIFT_REQUIRE(Parse(std::string_view(text).substr(begin, end - begin), &number),
                   ErrorCode::kInvalidInput, where, " is ", Quoted(text),
                   ", expected whole numbers with commas between them");
    result.push_back(number);
    begin = end + 1;
  }
  return result;
}

const std::string& LayerNode::In(size_t i) const {
  Check(i < layer_.sources.size(), "has ", layer_.sources.size(), " inputs, expected at least ",
        i + 1);
  const Layer::Source& source = layer_.sources[i];
  return state_.tensors[source.layer][source.output];
}

const std::vector<int64_t>& LayerNode::Dims(size_t i) const {
  Check(i < layer_.inputs.size(), "has ", layer_.inputs.size(), " inputs, expected at least ",
        i + 1);
  return layer_.inputs[i].dims;
}

std::optional<std::vector<int64_t>> LayerNode::Integers(size_t i) const {
  if (i >= layer_.sources.size() || Producer(i).type != "Const") return std::nullopt;
  const std::string type = TypeOf(Producer(i));
  const auto bytes = ConstBytes(state_, Producer(i));
  if (type == "i64" || type == "u64") return Widened<int64_t>(bytes);
  if (type == "i32") return Widened<int32_t>(bytes);
  if (type == "i8") return Widened<int8_t>(bytes);
  if (type == "u8") return Widened<uint8_t>(bytes);
  return std::nullopt;
}

std::vector<int64_t> LayerNode::RequireIntegers(size_t i, const char* role) const {
  auto integers = Integers(i);
  if (!integers) Unsupported("input ", i, " (", role, ") is computed; only constants are read");
  return *integers;
}

std::string LayerNode::Temporary(const char* what) {
  return state_.names.Take(layer_.name + "/" + what);
}

onnx::NodeProto& LayerNode::Add(const char* op, std::vector<std::string> inputs,
                                std::string output) {
  onnx::NodeProto& node = *state_.model.mutable_graph()->add_node();
  node.set_op_type(op);
  // The layer's own name belongs to the node that gives its result.
  node.set_name(output == state_.tensors[index_].at(0) ? layer_.name : output);
  for (std::string& input : inputs) node.add_input(std::move(input));
  node.add_output(std::move(output));
  return node;
}

std::string LayerNode::Then(const char* op, std::vector<std::string> inputs) {
  std::string y = Temporary(op);
  Add(op, std::move(inputs), y);
  return y;
}

std::string LayerNode::IntConstant(const std::vector<int64_t>& elements, const char* what) {
  onnx::TensorProto& tensor = *state_.model.mutable_graph()->add_initializer();
  tensor.set_name(Temporary(what));
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(elements.size()));
  for (const int64_t element : elements) tensor.add_int64_data(element);
  return tensor.name();
}

std::string LayerNode::Scalar(float value, const char* what) {
  onnx::TensorProto& tensor = *state_.model.mutable_graph()->add_initializer();
  tensor.set_name(Temporary(what));
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_float_data(value);
  return tensor.name();
}

namespace {

onnx::AttributeProto& AddAttribute(onnx::NodeProto& node, const char* name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

void Set(onnx::NodeProto& node, const char* name, int64_t value) {
  AddAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void Set(onnx::NodeProto& node, const char* name, float value) {
  AddAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void Set(onnx::NodeProto& node, const char* name, const char* value) {
  AddAttribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}

void Set(onnx::NodeProto& node, const char* name, const std::vector<int64_t>& values) {
  onnx::AttributeProto& attribute = AddAttribute(node, name, onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

std::string TypeOf(const Layer& layer) {
  const char* key = layer.type == "Convert" ? "destination_type" : "element_type";
  const auto found = layer.data.find(key);
  return found == layer.data.end() ? "" : found->second;
}

int OnnxType(const std::string& type) {
  constexpr std::pair<const char*, int> kTypes[] = {
      {"f32", onnx::TensorProto::FLOAT},     {"f16", onnx::TensorProto::FLOAT16},
      {"bf16", onnx::TensorProto::BFLOAT16}, {"f64", onnx::TensorProto::DOUBLE},
      {"i64", onnx::TensorProto::INT64},     {"i32", onnx::TensorProto::INT32},
      {"i16", onnx::TensorProto::INT16},     {"u16", onnx::TensorProto::UINT16},
      {"i8", onnx::TensorProto::INT8},       {"u8", onnx::TensorProto::UINT8},
      {"u64", onnx::TensorProto::UINT64},    {"u32", onnx::TensorProto::UINT32},
      {"boolean", onnx::TensorProto::BOOL}};
  for (const auto& [name, number] : kTypes) {
    if (type == name) return number;
  }
  return 0;
}

std::span<const uint8_t> ConstBytes(const State& state, const Layer& layer) {
  const auto number = [&](const char* key) {
    const auto found = layer.data.find(key);
    int64_t value = -1;
    RSHIFT_REQUIRE(found != layer.data.end() && Parse(found->second, &value) && value >= 0,
                   ErrorCode::kInvalidInput, "constant ", Quoted(layer.name), " has no ", key);
    return static_cast<uint64_t>(value);
  };
  const uint64_t offset = number("offset"), size = number("size");
  const auto bytes = state.bin.bytes();
  RSHIFT_REQUIRE(!state.bin_name.empty(), ErrorCode::kUnsupported, "constant ", Quoted(layer.name),
                 " lies in a .bin file, which a model in memory cannot have; give the path of the "
                 ".xml");
  RSHIFT_REQUIRE(offset <= bytes.size() && size <= bytes.size() - offset, ErrorCode::kInvalidInput,
                 "constant ", Quoted(layer.name), " is bytes ", offset, " to ", offset + size,
                 " of ", Quoted(state.bin_name), ", which has ", bytes.size(),
                 "; the files do not belong together, or one is cut short");
  return bytes.subspan(offset, size);
}

void AddInitializer(State& state, const Layer& layer, const std::string& name,
                    const std::vector<int64_t>& shape) {
  const std::string type = TypeOf(layer);
  const int number = OnnxType(type);
  RSHIFT_REQUIRE(number != 0, ErrorCode::kUnsupported, "constant ", Quoted(layer.name),
                 " is of type ", Quoted(type), ", which is not supported");
  static_cast<void>(ConstBytes(state, layer));
  onnx::TensorProto& tensor = *state.model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(number);
  for (const int64_t dim : shape) tensor.add_dims(dim);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& value) {
    auto* added = tensor.add_external_data();
    added->set_key(key);
    added->set_value(value);
  };
  entry("location", state.bin_name);
  entry("offset", std::string(Trimmed(layer.data.at("offset"))));
  entry("length", std::string(Trimmed(layer.data.at("size"))));
}

}  // namespace rshift::openvino
