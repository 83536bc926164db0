// The rows of weights behind a flattened image: the program holds them in the order of NHWC, ONNX
// in that of NCHW.
#ifndef RSHIFT_INTEROP_ONNX_ROWS_H_
#define RSHIFT_INTEROP_ONNX_ROWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// By the name of the result of each MatMul of a tensor and a constant matrix: for each row of the
// matrix in the program, which one it is in `graph`, the model as ONNX has it. A product of
// another form has no entry.
std::map<std::string, std::vector<int64_t>> FindOnnxRows(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_ONNX_ROWS_H_
