// What the lowering of every operator works with: tensors for values, constants, commands. Tensors
// of the arena belong to buffers; views (Reshape) share one. Placement follows when all commands
// are known.
#ifndef RSHIFT_CODEGEN_LOWERING_CONTEXT_H_
#define RSHIFT_CODEGEN_LOWERING_CONTEXT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/unique_names.h"
#include "codegen/compile.h"
#include "codegen/container/image.h"
#include "codegen/lowering/constant_pool.h"
#include "codegen/memory/buffers.h"
#include "graph/graph.h"
#include "isa/ops/field_list.h"

namespace rshift {

class LoweringContext {
 public:
  // Makes the tensors of the graph inputs. `graph` must outlive the context.
  LoweringContext(const Graph& graph, const CompileOptions& options);

  const Graph& graph() const { return graph_; }
  const TensorRecord& record(int32_t tensor) const { return image_.tensors[tensor]; }

  // --- operands ---
  // The tensor of a value: an input, a node's output made before, or a constant, stored at its
  // first use.
  int32_t Tensor(ValueId value);
  // As Tensor(node.inputs[index]); -1 when the input is omitted.
  int32_t Input(const Node& node, size_t index);
  // Makes the tensor of the node's output, in a buffer of its own.
  int32_t Output(const Node& node);
  // The value behind an input; throws kInternal when it is omitted.
  const Value& InputValue(const Node& node, size_t index) const;
  const Value& OutputValue(const Node& node) const { return graph_.value(node.outputs[0]); }

  // --- other tensors ---
  // A new tensor like `like` (type, quantization) in a buffer of its own; plain unless the shape is
  // like's.
  int32_t Temporary(const std::string& name, const TensorRecord& like, const Shape& shape);
  // The same bytes as `tensor`, seen with another shape.
  int32_t View(const std::string& name, int32_t tensor, const Shape& shape);
  int32_t AddConst(const std::string& name, DType dtype, const Shape& shape,
                   std::span<const uint8_t> bytes);
  // A 1-D constant of a vector, array or span of numbers; kBytes: of their bytes.
  template <typename Numbers>
  int32_t AddNumbers(const std::string& name, DType dtype, const Numbers& numbers) {
    const std::span<const typename Numbers::value_type> all(numbers);
    const size_t count = dtype == DType::kBytes ? all.size_bytes() : all.size();
    return AddConst(name, dtype, {static_cast<int64_t>(count)},
                    {reinterpret_cast<const uint8_t*>(all.data()), all.size_bytes()});
  }
  // The packed weights of a node as kBytes; of 4 bits where its second input is.
  int32_t AddWeights(const Node& node, std::span<const int8_t> packed);
  int32_t AddList(const std::string& name, std::span<const int64_t> elements) {
    return AddNumbers(name, DType::kS64, elements);
  }
  // Makes the node's output the same bytes as `tensor`; by a copy where names or outputs must not
  // share memory.
  void DefineAlias(const Node& node, int32_t tensor);

  // --- commands ---
  void Emit(const Node& node, const Command& command);
  template <typename C>
  void Emit(const Node& node, const C& command) {
    Emit(node, isa::Write(command));
  }

  // Binds the outputs, plans the arena. The context is used up.
  ProgramImage Finish();

 private:
  int32_t AddTensor(TensorRecord record, int32_t buffer);
  int32_t AddArenaTensor(TensorRecord record);
  int32_t ConstantTensor(const Value& value);
  bool IsPrivate(int32_t tensor) const;
  void EmitCopy(const std::string& name, int32_t dst, int32_t src);
  void BindOutputs();
  void PlaceBuffers();
  void PlaceConstants();

  const Graph& graph_;
  bool observable_, reuse_observed_;
  bool fuse_;
  ProgramImage image_;
  ConstantPool pool_, pool_of_4_bits_;
  std::vector<int32_t> tensors_of_4_bits_;  // whose offsets are in the latter until Finish
  BufferTable memory_;
  std::vector<int32_t> tensor_of_;  // per value; -1: none yet
  std::vector<bool> is_output_;     // per value
  UniqueNames names_{"#", 2};       // of tensors, and of all values
};

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_LOWERING_CONTEXT_H_
