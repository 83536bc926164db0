// ONNX (opset 6-28), .tflite, or OpenVINO IR (.xml, its weights in the .bin beside it), told apart
// by the first bytes -> Graph: static shapes, constants folded. Every unsupported node is found
// before any work starts.
#ifndef RSHIFT_GRAPH_IMPORT_H_
#define RSHIFT_GRAPH_IMPORT_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/shape.h"
#include "graph/graph.h"

namespace rshift {

// What the table of a calibration says of inputs whose shape the model leaves open.
struct RecordedShapes {
  std::string model_sha256;  // "": of any model
  std::map<std::string, Shape> shapes;
};

struct ImportOptions {
  std::map<std::string, Shape> input_shapes;  // --input-shape, ONNX order
  std::map<std::string, Value> bound_inputs;  // --bind: name -> constant value (name may be empty)
  // --append: a model that is put behind this one. Each of its inputs is an output of this one: by
  // `append_inputs` (its input -> this one's output), by its metadata, or the one of its name. Its
  // outputs are the graph's, with those of this one that it does not read.
  std::string append;
  std::map<std::string, std::string> append_inputs;
  // Of the model with that hash alone, for inputs that are open still by all the above; a shape
  // that contradicts them is left out.
  RecordedShapes recorded;
  // Files the caller is going to write: a model whose external data is one of them is refused.
  std::vector<std::string> outputs;
  // Hears what the import takes for granted: an open first dimension of an ONNX input of two and
  // more, all others known, is a batch of 1.
  std::function<void(const std::string& note)> note = {};
};

struct NodeSupport {
  std::string node;  // ONNX node name, or its first output's name
  std::string op;    // "Conv", "onnx.brevitas:Quant"
  bool supported = false;
  bool folded = false;  // constant after shape inference
  std::string reason;   // empty when supported
  std::string advice;   // what the user can do
};

// All values carry dtype and static shape in ONNX order, layout kPlain. fp16 tensors are converted
// to F32 (graph inputs and outputs become F32 too). Throws kInvalidInput/kUnsupported; an
// unsupported model lists all unsupported nodes in one line-broken message whose first line is the
// summary.
Graph ImportOnnx(const std::string& path, const ImportOptions& options = {});
Graph ImportOnnxBytes(std::span<const uint8_t> bytes, const std::string& where,
                      const ImportOptions& options = {});
// One entry per ONNX node of the main graph, never throws for unsupported operators.
std::vector<NodeSupport> CheckSupport(const std::string& path, const ImportOptions& options = {});

}  // namespace rshift

#endif  // RSHIFT_GRAPH_IMPORT_H_
