// Powers that a root, a logarithm or a quotient by their sum takes back: LpPool, GeM pooling,
// magnitudes of complex numbers, the logarithm of an energy or of a sum of exponentials, a Softmax
// in a form that no pass recognizes.
#ifndef RSHIFT_QUANTIZE_POWERS_H_
#define RSHIFT_QUANTIZE_POWERS_H_

#include <vector>

#include "graph/graph.h"

namespace rshift {

// By node: whether it lies between a power and the root or logarithm of what becomes of it, or a
// quotient by their sum (3.), both included. The square of 8 bits needs 16, its cube 24: one scale
// rounds away all but the largest, which the root would have brought back.
//
// 1. x^2, a product of a tensor with itself, a power of 2 or more; exp(x) where it is summed.
// 2. What is made of such results: movements, sums, means and maxima, bounds, sums, differences,
//    products and quotients with constants or with each other, matrix products and convolutions
//    with constants without a number below 0 (mel filters).
// 3. A square root, its reciprocal, a logarithm, a power of at most 1/2 of them; of sums and means
//    of 16 squares or more, as normalizations have them, a logarithm alone; a quotient by a sum of
//    exponentials. What leads to none of these is not among them.
std::vector<bool> PowerNodes(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_POWERS_H_
