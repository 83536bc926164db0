// A part of an ONNX model as a model of its own: the network without the post-processing that
// cannot be deployed, or what lies between named tensors.
#ifndef RSHIFT_GRAPH_CUT_H_
#define RSHIFT_GRAPH_CUT_H_

#include <string>
#include <vector>

#include "graph/import.h"

namespace rshift {

// Names of tensors. No outputs: everything up to the last convolutions, matrix products and
// recurrent layers that can be deployed, and what follows from one of their results alone.
struct CutEnds {
  std::vector<std::string> inputs, outputs;
};

struct CutEnd {
  std::string name;
  Shape shape;
};

struct ModelPart {
  std::string bytes;  // an ONNX file
  std::vector<CutEnd> inputs, outputs;
  int nodes = 0, left = 0;     // in the part, and not in it
  bool external_data = false;  // its weights are in files beside the model
};

// Throws what ImportOnnx throws for a model that cannot be read or has open shapes; kInvalidInput
// for ends that the model does not have, or that do not belong together; kUnsupported for other
// files than ONNX and where no part can be deployed. Without outputs, a model of which everything
// can be deployed is kInvalidInput, too.
ModelPart CutModel(const std::string& path, const ImportOptions& options, const CutEnds& ends);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_CUT_H_
