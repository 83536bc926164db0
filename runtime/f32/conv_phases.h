// Convolution and transposed convolution as one thing: outputs whose taps lie alike.
#ifndef RSHIFT_RUNTIME_F32_CONV_PHASES_H_
#define RSHIFT_RUNTIME_F32_CONV_PHASES_H_

#include <cstdint>
#include <vector>

#include "base/shape.h"
#include "isa/attributes.h"

namespace rshift::f32 {

// Output pixel (first + i * step) reads input pixel i * in_step + offset.
struct PhaseAxis {
  int64_t first = 0, step = 1, count = 0, in_step = 1;
};

struct PhaseTap {
  int64_t y = 0, x = 0;  // offset of the input pixel
  int64_t place = 0;     // in the window: ky * kernel_w + kx
};

struct ConvPhase {
  PhaseAxis y, x;
  std::vector<PhaseTap> taps;  // in the window's order
};

// NHWC shapes. A convolution has one phase, a transposed one one for each residue of its strides.
std::vector<ConvPhase> ConvPhases(const Window& window, const Shape& dst, bool transposed);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_CONV_PHASES_H_
