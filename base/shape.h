// Static tensor shapes: a list of dimensions, outermost first, every one >= 0. A scalar is {}.
#ifndef RSHIFT_BASE_SHAPE_H_
#define RSHIFT_BASE_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rshift {

using Shape = std::vector<int64_t>;

// Their product (scalar: 1). Throws kInvalidInput: one is < 0, or all but zeros make 2^40 or more.
int64_t NumElements(const Shape& shape);
// "1x3x224x224"; "scalar" for {}.
std::string ToString(const Shape& shape);
// Row-major strides in elements.
Shape Strides(const Shape& shape);
// Numpy broadcasting; throws kInvalidInput, naming `where`, when the shapes do not fit.
Shape Broadcast(const Shape& a, const Shape& b, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_BASE_SHAPE_H_
