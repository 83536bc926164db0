// Functions of one element.
#ifndef RSHIFT_GRAPH_OPS_ACTIVATION_H_
#define RSHIFT_GRAPH_OPS_ACTIVATION_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/ops/activation.h"

namespace rshift {

// Relu, Relu6, Clip with constant bounds.
using Clip = isa::ClipF32;

// y = x >= 0 ? x : alpha * x
using LeakyRelu = isa::LeakyReluF32;

// inputs: x, slope (constant or not, broadcast to x from the right as in ONNX).
using PRelu = isa::PReluF32;

// alpha and beta: where isa/functions.def names them. Equalization (quantize/equalize) gives the
// channels, indices of the last dimension, scales of their own: channel c of x holds
// x / 2^input_exponents[c], that of y holds y / 2^output_exponents[c]. Empty: all exponents are 0.
struct Unary : isa::UnaryF32 {
  Unary() = default;
  Unary(UnaryOp function, float a = 0, float b = 0) : isa::UnaryF32{function, a, b} {}  // NOLINT

  bool scales_channels() const { return !input_exponents.empty() || !output_exponents.empty(); }
  std::pair<int32_t, int32_t> ExponentsOf(size_t channel) const {
    return {input_exponents.empty() ? 0 : input_exponents[channel],
            output_exponents.empty() ? 0 : output_exponents[channel]};
  }

  std::vector<int32_t> input_exponents, output_exponents;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ACTIVATION_H_
