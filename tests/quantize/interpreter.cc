#include "tests/quantize/interpreter.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "tests/quantize/interpreter_parts.h"

namespace rshift::test {
namespace interpreter {

template <typename Other>
Tensor Interpret(const Context& c, const Other&) {
  ADD_FAILURE() << c.node.name << ": the interpreter does not know " << OpName(c.node.op);
  return c.Empty();
}

namespace {

Tensor Run(const Context& c) {
  return std::visit([&](const auto& op) { return Interpret(c, op); }, c.node.op);
}

Tensor ConstantTensor(const Value& value) {
  Tensor tensor{value.shape, {}};
  const auto append = [&](auto span) { tensor.data.assign(span.begin(), span.end()); };
  switch (value.dtype) {
    case DType::kF32:
      append(value.constant->As<float>());
      break;
    case DType::kS16:
      append(value.constant->As<int16_t>());
      break;
    case DType::kS8:
      append(value.constant->As<int8_t>());
      break;
    case DType::kU8:
      append(value.constant->As<uint8_t>());
      break;
    case DType::kS64:
      append(value.constant->As<int64_t>());
      break;
    default:
      ADD_FAILURE() << "constant '" << value.name
                    << "' has an element type the interpreter does not know";
  }
  return tensor;
}

}  // namespace
}  // namespace interpreter

Tensors Execute(const Graph& graph, const Tensors& inputs) {
  std::vector<Tensor> values(graph.value_count());
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.is_constant()) values[i] = interpreter::ConstantTensor(value);
  }
  for (ValueId id : graph.inputs) values[id.index()] = inputs.at(graph.value(id).name);
  for (const Node& node : graph.nodes()) {
    Tensor y = interpreter::Run({graph, node, values});
    values[node.outputs[0].index()] = std::move(y);
  }
  Tensors result;
  for (int i = 0; i < graph.value_count(); ++i)
    result[graph.value(ValueId(i)).name] = std::move(values[i]);
  return result;
}

}  // namespace rshift::test
