#include "graph/onnx/node.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

using onnx::AttributeProto;

// Attributes that are 0 or 1. Of any other number one runtime takes 1, another 0.
constexpr std::array<std::string_view, 29> kSwitches = {"align_corners",
                                                        "allowzero",
                                                        "antialias",
                                                        "ceil_mode",
                                                        "center_point_box",
                                                        "count_include_pad",
                                                        "detect_negative",
                                                        "detect_positive",
                                                        "exclusive",
                                                        "exclude_outside",
                                                        "fmod",
                                                        "input_forget",
                                                        "interleaved",
                                                        "inverse",
                                                        "is_causal",
                                                        "keepdims",
                                                        "largest",
                                                        "linear_before_reset",
                                                        "layout",
                                                        "noop_with_empty_axes",
                                                        "onesided",
                                                        "periodic",
                                                        "reverse",
                                                        "select_last_index",
                                                        "sorted",
                                                        "transA",
                                                        "transB",
                                                        "unidirectional",
                                                        "upper"};

bool IsSwitch(const char* name) {
  return std::find(kSwitches.begin(), kSwitches.end(), name) != kSwitches.end();
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
  const int64_t value = a ? a->i() : fallback;
  Check(value == 0 || value == 1 || !IsSwitch(name), "attribute '", name, "' is ", value,
        ", expected 0 or 1");
  return value;
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

std::vector<std::string> OnnxNode::Strings(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::STRINGS, "STRINGS");
  return a ? std::vector<std::string>(a->strings().begin(), a->strings().end())
           : std::vector<std::string>();
}

Value OnnxNode::Tensor(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::TENSOR, "TENSOR");
  Check(a != nullptr, "attribute '", name, "' is missing");
  Value value = ImportTensor(a->t(), state_.external, where_ + ": attribute '" + name + "'");
  state_.budget.Give(static_cast<int64_t>(value.constant->bytes.size()));
  return value;
}

const onnx::GraphProto& OnnxNode::Body(const char* name) const {
  const AttributeProto* a = Find(name, AttributeProto::GRAPH, "GRAPH");
  Check(a != nullptr && a->has_g(), "attribute '", name, "' is missing");
  return a->g();
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
