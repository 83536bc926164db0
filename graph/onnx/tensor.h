// ONNX TensorProto -> constant Value.
#ifndef RSHIFT_GRAPH_ONNX_TENSOR_H_
#define RSHIFT_GRAPH_ONNX_TENSOR_H_

#include <map>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "graph/graph.h"
#include "graph/onnx/proto.h"

namespace rshift {

// External data of a model: files beside it, mapped once each. An empty folder means that the model
// came from memory and may not refer to files.
struct ExternalData {
  std::string folder;
  std::map<std::string, MappedFile> files;
  std::vector<std::string> outputs;  // files that will be written: none may be read here
};

// The element type that a tensor of this ONNX type has in the graph: f16, bf16 and double become
// F32. Throws kUnsupported for strings, complex and sub-byte types, kInvalidInput for numbers that
// mean nothing.
DType ImportDType(int onnx_type, const std::string& where);
// The ONNX type of those elements; UNDEFINED of kInvalid and kBytes.
int OnnxType(DType type);
// "FLOAT16", or the number where this build's ONNX does not know it.
std::string OnnxTypeName(int onnx_type);

// The name of the result is the tensor's. Throws kInvalidInput when data and dimensions disagree.
Value ImportTensor(const onnx::TensorProto& tensor, ExternalData& external,
                   const std::string& where);

// A name for use inside a one-line message: quoted, control characters replaced, cut when long.
std::string Quoted(const std::string& name);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_TENSOR_H_
