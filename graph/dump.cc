#include "graph/dump.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "graph/op_text.h"

namespace rshift {
namespace {

std::string Type(const Value& value) {
  std::string text = Cat(Name(value.dtype), "[", ToString(value.shape), "]");
  if (value.layout == Layout::kNhwc) text += " nhwc";
  if (value.origin != nullptr && value.dtype == DType::kS8) {  // weights: the channels' scales
    const std::vector<float>& scales = value.origin->scales;
    const bool one =
        std::all_of(scales.begin(), scales.end(), [&](float scale) { return scale == scales[0]; });
    text += scales.empty() ? ""
            : one          ? Cat(" scale=", NumberText(scales[0]))
                           : Cat(" axis=", value.origin->axis, " scales=", ListText(scales));
  } else if (value.quant) {
    text += Cat(" scale=", NumberText(value.quant->scale), " zero=", value.quant->zero_point);
  }
  return text;
}

// The integers a constant remembers.
std::string OriginText(const Value& value) {
  if (value.origin == nullptr || value.dtype != DType::kF32) return "";
  const QuantizedOrigin& origin = *value.origin;
  std::string text = Cat(" from ", Name(origin.dtype));
  if (origin.axis >= 0) return Cat(text, " scales along axis ", origin.axis);
  return Cat(text, " scale=", NumberText(origin.scales[0]), " zero=", origin.zero_points[0]);
}

// Scalars are worth reading; everything else is named by its fingerprint.
std::string ConstantText(const Value& value) {
  if (value.dtype == DType::kF32 && NumElements(value.shape) == 1) {
    return Cat(" = ", NumberText(value.constant->As<float>()[0]));
  }
  return Cat(" #", FingerprintText(value.constant->bytes));
}

}  // namespace

std::string DumpGraph(const Graph& graph) {
  std::ostringstream out;
  out << "graph " << graph.name << "\n";
  for (ValueId id : graph.inputs) {
    out << "input " << graph.value(id).name << ": " << Type(graph.value(id)) << "\n";
  }
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.is_constant()) {
      out << "const " << value.name << ": " << Type(value) << ConstantText(value)
          << OriginText(value) << "\n";
    }
  }
  for (const Node& node : graph.nodes()) {
    out << "node ";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value& value = graph.value(node.outputs[i]);
      out << (i > 0 ? ", " : "") << value.name << ": " << Type(value);
    }
    out << " = " << OpName(node.op) << "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out << (i > 0 ? ", " : "")
          << (node.inputs[i].valid() ? graph.value(node.inputs[i]).name : std::string("-"));
    }
    out << ")" << AttributeText(node.op) << "\n";
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    out << "output " << graph.output_names[i] << " = " << graph.value(graph.outputs[i]).name
        << "\n";
  }
  return out.str();
}

}  // namespace rshift
