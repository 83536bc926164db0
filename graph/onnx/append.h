// A model put behind another one (--append): it becomes a function of that model, which one node at
// the end of its graph calls. So each keeps its opset, its names and its own functions.
#ifndef RSHIFT_GRAPH_ONNX_APPEND_H_
#define RSHIFT_GRAPH_ONNX_APPEND_H_

#include <string>
#include <unordered_map>

#include "graph/import.h"
#include "graph/onnx/node.h"

namespace rshift {

class AppendedModel {
 public:
  // Reads options.append and joins its inputs to outputs of `model`: by options.append_inputs, by
  // its metadata ("append:INPUT": OUTPUT) or by their names. Nothing where the options name none.
  // Throws kInvalidInput, naming the file, for inputs without an output.
  AppendedModel(const ImportOptions& options, onnx::ModelProto* model);

  // The node that calls it.
  bool IsCall(const onnx::NodeProto& node) const;
  // Throws kInvalidInput unless the outputs have the types and shapes that the inputs are declared
  // with.
  void CheckInputs(const ImportState& state) const;
  // What outputs of the whole are called, where another value has the name already.
  const std::unordered_map<std::string, std::string>& public_names() const { return public_; }

 private:
  void Join(const ImportOptions& options, onnx::ModelProto* model);
  void MakeFunction(onnx::ModelProto* model);
  void MakeOutputs(onnx::GraphProto* graph);

  std::string where_;
  onnx::ModelProto own_;
  onnx::NodeProto call_;
  std::unordered_map<std::string, std::string> public_;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_APPEND_H_
