// Attributes that have one number for each dimension, or two.
#ifndef RSHIFT_GRAPH_ONNX_ENTRIES_H_
#define RSHIFT_GRAPH_ONNX_ENTRIES_H_

#include <cstdint>
#include <vector>

#include "graph/onnx/node.h"

namespace rshift {

// The attribute's entries, each `least` or more and below 2^31; `count` times `fallback` where it
// is missing. Throws kInvalidInput.
std::vector<int64_t> Entries(const OnnxNode& node, const char* name, size_t count, int64_t fallback,
                             int64_t least);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_ENTRIES_H_
