// Products of integers that no integer command has: kept as F32 numbers, which compute them and
// their sums exactly as long as no sum reaches 2^24; longer ones are computed in parts and added as
// s32. NUMERICS.md section 21.
#ifndef RSHIFT_GRAPH_ONNX_NUMBER_PRODUCT_H_
#define RSHIFT_GRAPH_ONNX_NUMBER_PRODUCT_H_

#include <string>

#include "graph/onnx/expansion.h"

namespace rshift {

std::string CastTo(Expansion& e, const std::string& x, int64_t type);
// q - zero as f32; `zero` may be empty.
std::string Centered(Expansion& e, const std::string& q, const std::string& zero);
// The matrix product of integers in f32, as s32.
std::string ProductOf(Expansion& e, const std::string& a, const std::string& b);
// The node's output: float(sum) * scale, then the bias, if any.
void GiveReal(Expansion& e, const std::string& sum, const std::string& scale,
              const std::string& bias);
// The output of a ConvInteger.
void GiveConvOfNumbers(OnnxNode& node);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_NUMBER_PRODUCT_H_
