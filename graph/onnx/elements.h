// Tensors as one row of elements, and where in it an element lies.
#ifndef RSHIFT_GRAPH_ONNX_ELEMENTS_H_
#define RSHIFT_GRAPH_ONNX_ELEMENTS_H_

#include <vector>

#include "graph/onnx/expr.h"

namespace rshift {

// Indices of either integer type as s64, negative ones counted from the end. Throws kInvalidInput
// for a constant one outside [-size, size).
Expr Wrapped(const Expr& indices, int64_t size);

// GatherElements, GatherND: where in the row of all elements of `data` (of this shape) each element
// of the result lies.
Expr PlacesAlong(const Expr& indices, const Shape& data, int64_t axis);
// indices: [..., count] address slices data[batch..., i0, i1, ...]; the result is one place for
// each index tuple, of the first element of its slice.
Expr PlacesOfSlices(const Expr& indices, const Shape& data, int64_t batch);

// The elements of a constant: floats or integers.
std::vector<double> Doubles(const Value& constant);
// A constant input of one number; `fallback` where it is left out. Throws kUnsupported where it is
// computed; `role` is for the message.
double NumberIn(OnnxNode& node, int i, const char* role, double fallback);

// All elements as one row.
Expr Flat(const Expr& x);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_ELEMENTS_H_
