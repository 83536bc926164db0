// A .tflite file in memory, every offset and index of it checked.
#ifndef RSHIFT_GRAPH_TFLITE_FILE_H_
#define RSHIFT_GRAPH_TFLITE_FILE_H_

#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "graph/tflite/schema.h"

namespace rshift::tflite {

// An operator and its tensors. Their indices are the file's where it is one of subgraph 0, else see
// File.
struct Call {
  const Operator* op = nullptr;
  std::vector<int> inputs, outputs, intermediates;
};

// The network: subgraph 0, in which operators that stand for a subgraph (STABLEHLO_COMPOSITE)
// are replaced by that one's, and a WHILE by its body as often as it runs (loop.h). Its inputs and
// outputs are the tensors of whoever calls it; its other tensors have indices behind those of
// subgraph 0, new ones for each call. What the rest of the importer may rely on: tables and their
// lists are there, indices of tensors, buffers and operator codes are in range, shapes hold no
// negative dimension.
class File {
 public:
  // Throws kInvalidInput for anything that is not a whole model, kUnsupported for another version
  // of the format. The bytes must outlive the File.
  explicit File(std::span<const uint8_t> bytes);

  const SubGraph& graph() const { return *model_->subgraphs()->Get(0); }
  // Another one, of which the same has been checked.
  const SubGraph& CheckedSubgraph(int index) const;
  const std::vector<Call>& calls() const { return calls_; }
  int TensorCount() const { return static_cast<int>(tensors_.size()); }
  const Tensor& tensor(int i) const { return *tensors_[static_cast<size_t>(i)]; }
  BuiltinOperator CodeOf(const Operator& op) const;
  // "CONV_2D", or the name of a custom operator.
  std::string NameOf(const Operator& op) const;
  // The elements as stored; empty for a tensor that the model computes. Throws kInvalidInput for a
  // buffer that reaches beyond the file.
  std::span<const uint8_t> DataOf(const Tensor& tensor) const;

 private:
  // Tensor i of `graph` is `tensors`[i] here. `depth`: how many call it.
  void AddCalls(const SubGraph& graph, std::vector<int> tensors, int depth);
  // Whether the operator stands for a subgraph; then it is added.
  bool AddComposite(const Call& call, int depth);
  // Whether a WHILE runs as often in any case; then its runs are added. `results`: its outputs,
  // those of which `renamed` is not true under the names that the call gives them.
  bool AddLoop(const Call& call, const std::vector<bool>& renamed, int depth,
               std::vector<int>* results);
  void CountExpanded(const SubGraph& graph, size_t runs);
  // New tensors in place of those that `tensors` does not know.
  void AddTensors(const SubGraph& graph, std::vector<int>* tensors);

  std::span<const uint8_t> bytes_;
  const Model* model_ = nullptr;
  std::vector<const Tensor*> tensors_;
  std::vector<Call> calls_;
  size_t expanded_ = 0;  // tensors and operators of subgraphs that were called
};

// Those of variables; some of them make no tensor.
bool IsVariableOperator(BuiltinOperator code);
Shape ShapeOf(const Tensor& tensor);
std::string NameOf(const Tensor& tensor);  // without quotes; may be empty
std::vector<int> Indices(const flatbuffers::Vector<int32_t>* list);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_FILE_H_
