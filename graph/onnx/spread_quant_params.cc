// Scales and zero points belong to every tensor of bytes or 16-bit integers that a node only moves.
#include <set>

#include "graph/onnx/table.h"

namespace rshift {
namespace {

bool MovesIntegers(const Op& op) {
  if (std::holds_alternative<Resize>(op)) return false;
  return std::holds_alternative<MaxPool>(op) || MovementOf(op) != Movement::kNone;
}

// Calls f(input, output) for every activation of integers of a scale that a node moves.
template <typename F>
void ForMovedIntegers(Graph& graph, const Node& node, F f) {
  if (!MovesIntegers(node.op)) return;
  Value& out = graph.value(node.outputs[0]);
  const DType type = out.dtype;
  const bool wide = type == DType::kS16 || type == DType::kU16;
  if (type != DType::kS8 && type != DType::kU8 && !wide) return;
  const size_t count = std::holds_alternative<Concat>(node.op) ? node.inputs.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    Value& in = graph.value(node.inputs[i]);
    if (in.dtype == out.dtype && !in.is_constant()) f(in, out);
  }
}

}  // namespace

void SpreadQuantParams(Graph& graph) {
  for (int i = 0; i < graph.value_count(); ++i) {
    Value& value = graph.value(ValueId(i));
    if (value.dtype == DType::kF32) value.quant.reset();  // integers of 16 bits (quant.cc)
  }
  std::set<const Value*> own;  // those that something reads or writes with a scale
  for (int i = 0; i < graph.value_count(); ++i) {
    if (graph.value(ValueId(i)).quant) own.insert(&graph.value(ValueId(i)));
  }
  auto& nodes = graph.nodes();
  for (const Node& node : nodes) {
    ForMovedIntegers(graph, node, [](const Value& in, Value& out) {
      if (!out.quant) out.quant = in.quant;
    });
  }
  for (size_t n = nodes.size(); n-- > 0;) {
    ForMovedIntegers(graph, nodes[n], [](Value& in, const Value& out) {
      if (!in.quant) in.quant = out.quant;
    });
  }
  for (const Node& node : nodes) {
    ForMovedIntegers(graph, node, [&](const Value& in, Value& out) {
      // Integers of 16 bits may be no more than integers to what reads them.
      if (in.quant != out.quant && SizeOf(out.dtype) == 2 && !own.contains(&out)) out.quant.reset();
      RSHIFT_REQUIRE(
          in.quant == out.quant || !out.quant, ErrorCode::kUnsupported, node.name, ": ",
          OpName(node.op), " moves the integers ", Quoted(in.name), " to ", Quoted(out.name),
          ", which have another scale or zero point; expected equal parameters on both sides");
    });
  }
}

}  // namespace rshift
