// What to tell the user whose model leaves the shapes of its inputs open.
#ifndef RSHIFT_GRAPH_ONNX_PROPOSE_H_
#define RSHIFT_GRAPH_ONNX_PROPOSE_H_

#include <functional>
#include <string>

#include "base/error.h"
#include "graph/import.h"
#include "graph/onnx/proto.h"

namespace rshift {

// The name of an open dimension; "" for none, and for "?", which some exporters write for all that
// they do not know.
std::string SymbolOf(const onnx::TensorShapeProto::Dimension& dim);

// An input's shape is not known: what AddInputs throws.
class DynamicShape : public Error {
 public:
  explicit DynamicShape(const std::string& message) : Error(ErrorCode::kInvalidInput, message) {}
};

// "its shape, for example --input-shape x:1x3x224x224", one for each open input: the first of the
// usual sizes of images and sequences with which `imports` succeeds; a general advice where none
// does. Sizes that the user or the model give are kept.
std::string ProposeShapes(const onnx::GraphProto& graph, const ImportOptions& options,
                          const std::function<bool(const ImportOptions&)>& imports);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_PROPOSE_H_
