#include "tests/codegen/test_graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/container/container.h"
#include "isa/attributes.h"
#include "tests/base/error_of.h"

namespace rshift {

Kind F32(Shape shape) { return {std::move(shape), DType::kF32, Layout::kPlain, std::nullopt}; }
Kind Nhwc(Shape shape) { return {std::move(shape), DType::kF32, Layout::kNhwc, std::nullopt}; }
Kind QuantizedNhwc(Shape shape, QuantParams quant) {
  return {std::move(shape), DType::kS8, Layout::kNhwc, quant};
}
Kind QuantizedPlain(Shape shape, QuantParams quant) {
  return {std::move(shape), DType::kS8, Layout::kPlain, quant};
}

ValueId TestGraph::Input(const std::string& name, const Kind& kind) {
  const ValueId id =
      graph.AddValue({name, kind.dtype, kind.shape, kind.layout, kind.quant, nullptr});
  graph.inputs.push_back(id);
  return id;
}

ValueId TestGraph::Node(const std::string& output, const Kind& kind, Op op,
                        std::vector<ValueId> inputs) {
  const ValueId id =
      graph.AddValue({output, kind.dtype, kind.shape, kind.layout, kind.quant, nullptr});
  graph.AddNode({output + "_node", std::move(op), std::move(inputs), {id}});
  return id;
}

ValueId TestGraph::S8(const std::string& name, const Shape& shape,
                      const std::vector<int8_t>& elements) {
  return graph.AddConstant<int8_t>(name, DType::kS8, shape, elements);
}

ValueId TestGraph::Floats(const std::string& name, const Shape& shape,
                          const std::vector<float>& elements) {
  return graph.AddConstant<float>(name, DType::kF32, shape, elements);
}

TestGraph& TestGraph::Output(ValueId value, const std::string& name) {
  graph.outputs.push_back(value);
  graph.output_names.push_back(name.empty() ? graph.value(value).name : name);
  return *this;
}

ProgramImage CompileChecked(const TestGraph& graph, bool observable) {
  const ProgramImage image = Compile(graph.graph, {.observable = observable, .meta = {}});
  const std::vector<uint8_t> file = WriteContainer(image);
  EXPECT_NO_THROW(ReadContainer(file, "compiled"));
  return image;
}

std::string CompileError(const TestGraph& graph, ErrorCode code) {
  const std::string message = ErrorOf(code, [&] { Compile(graph.graph, {}); });
  EXPECT_NE(message, kNoError);
  return message;
}

int32_t FindTensor(const ProgramImage& image, const std::string& name) {
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    if (image.tensors[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

const TensorRecord& RecordOf(const ProgramImage& image, const std::string& name) {
  const int32_t id = FindTensor(image, name);
  RSHIFT_REQUIRE(id >= 0, ErrorCode::kInternal, "the program has no tensor '", name, "'");
  return image.tensors[id];
}

const TensorRecord& RecordOf(const ProgramImage& image, const Command& command, Field field) {
  return image.tensors.at(command.Tensor(field));
}

std::vector<Opcode> OpcodesOf(const ProgramImage& image) {
  std::vector<Opcode> opcodes;
  for (const Command& command : image.commands) opcodes.push_back(command.opcode);
  return opcodes;
}

}  // namespace rshift
