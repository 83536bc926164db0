// Small graphs for the tests of the compiler.
#ifndef RSHIFT_TESTS_CODEGEN_TEST_GRAPH_H_
#define RSHIFT_TESTS_CODEGEN_TEST_GRAPH_H_

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/compile.h"
#include "graph/graph.h"

namespace rshift {

// What a value is, besides its name.
struct Kind {
  Shape shape;
  DType dtype = DType::kF32;
  Layout layout = Layout::kPlain;
  std::optional<QuantParams> quant;
};
Kind F32(Shape shape);
Kind Nhwc(Shape shape);                               // f32
Kind QuantizedNhwc(Shape shape, QuantParams quant);   // s8
Kind QuantizedPlain(Shape shape, QuantParams quant);  // s8

struct TestGraph {
  Graph graph;

  ValueId Input(const std::string& name, const Kind& kind);
  ValueId Node(const std::string& output, const Kind& kind, Op op, std::vector<ValueId> inputs);
  ValueId S8(const std::string& name, const Shape& shape, const std::vector<int8_t>& elements);
  ValueId Floats(const std::string& name, const Shape& shape, const std::vector<float>& elements);
  TestGraph& Output(ValueId value, const std::string& name = "");
};

// Compiles, and writes and reads the program, which must be valid.
ProgramImage CompileChecked(const TestGraph& graph, bool observable = false);
// The message of the error that compiling throws; it must have this code.
std::string CompileError(const TestGraph& graph, ErrorCode code);

int32_t FindTensor(const ProgramImage& image, const std::string& name);  // -1: none
const TensorRecord& RecordOf(const ProgramImage& image, const std::string& name);
// The tensor of a command's field.
const TensorRecord& RecordOf(const ProgramImage& image, const Command& command, Field field);
std::vector<Opcode> OpcodesOf(const ProgramImage& image);

template <typename T>
std::vector<T> ConstantOf(const ProgramImage& image, const Command& command, Field field) {
  const TensorRecord& record = RecordOf(image, command, field);
  std::vector<T> elements(record.bytes() / sizeof(T));
  std::memcpy(elements.data(), image.constants.data() + record.offset, record.bytes());
  return elements;
}
inline std::vector<int64_t> ListOf(const ProgramImage& image, const Command& command, Field field) {
  return ConstantOf<int64_t>(image, command, field);
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_CODEGEN_TEST_GRAPH_H_
