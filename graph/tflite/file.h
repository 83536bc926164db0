// A .tflite file in memory, every offset and index of it checked.
#ifndef RSHIFT_GRAPH_TFLITE_FILE_H_
#define RSHIFT_GRAPH_TFLITE_FILE_H_

#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "graph/tflite/schema.h"

namespace rshift::tflite {

// What the rest of the importer may rely on, for subgraph 0: tables and their lists are there,
// indices of tensors, buffers and operator codes are in range, shapes hold no negative dimension.
class File {
 public:
  // Throws kInvalidInput for anything that is not a whole model, kUnsupported for another version
  // of the format. The bytes must outlive the File.
  explicit File(std::span<const uint8_t> bytes);

  const SubGraph& graph() const { return *model_->subgraphs()->Get(0); }
  // Another one, of which the same has been checked.
  const SubGraph& CheckedSubgraph(int index) const;
  int TensorCount() const { return static_cast<int>(graph().tensors()->size()); }
  const Tensor& tensor(int i) const { return *graph().tensors()->Get(static_cast<unsigned>(i)); }
  BuiltinOperator CodeOf(const Operator& op) const;
  // "CONV_2D", or the name of a custom operator.
  std::string NameOf(const Operator& op) const;
  // The elements as stored; empty for a tensor that the model computes. Throws kInvalidInput for a
  // buffer that reaches beyond the file.
  std::span<const uint8_t> DataOf(const Tensor& tensor) const;

 private:
  std::span<const uint8_t> bytes_;
  const Model* model_ = nullptr;
};

// Those of variables; some of them make no tensor.
bool IsVariableOperator(BuiltinOperator code);
Shape ShapeOf(const Tensor& tensor);
std::string NameOf(const Tensor& tensor);  // without quotes; may be empty
std::vector<int> Indices(const flatbuffers::Vector<int32_t>* list);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_FILE_H_
