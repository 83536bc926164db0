// Constants that a .tflite file stores sparse.
#ifndef RSHIFT_GRAPH_TFLITE_SPARSE_H_
#define RSHIFT_GRAPH_TFLITE_SPARSE_H_

#include <cstdint>
#include <span>
#include <string>

#include "graph/tflite/schema.h"

namespace rshift::tflite {

// All elements of a tensor that has sparsity(), row-major, 0 where the file has none; `stored` are
// those that it has, of `element_bytes` each. Throws kInvalidInput where the tables contradict each
// other or the shape, kUnsupported for a tensor of more than a gigabyte.
std::string Densified(const Tensor& tensor, std::span<const uint8_t> stored, int64_t element_bytes);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_SPARSE_H_
