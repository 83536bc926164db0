// Element-wise loops that gain from wide registers: additions, quantization, averages. One body
// (elementwise.cc) compiled for each instruction set by function attributes: what a body calls and
// does not inline stays code for any CPU. Same values everywhere.
#ifndef RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_
#define RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "runtime/runtime.h"

namespace rshift {

// y[i] from a[i] and b[i], bytes of s8 or u8; y may be a or b itself.
struct AddArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  uint8_t* y = nullptr;
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;  // numerics::AddCommonShift
  int32_t zero_a = 0, zero_b = 0, zero_y = 0;
  int32_t lo = 0, hi = 0;
};
struct AddFmaArgs {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  uint8_t* y = nullptr;
  float ratio_a = 1.0f, ratio_b = 1.0f, fixed = 0.0f;  // numerics::AddFma
  uint8_t flip_a = 0, flip_b = 0;                      // 0x80 makes s8 bytes unsigned
  int32_t shift_y = 0, lo = 0, hi = 0;
};
struct AddFloatArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  uint8_t* y = nullptr;
  float scale_a = 1.0f, scale_b = 1.0f, scale_y = 1.0f;  // numerics::AddFloat
  int32_t zero_a = 0, zero_b = 0, zero_y = 0;
  int32_t lo = 0, hi = 0;
};
struct QuantizeArgs {
  const float* x = nullptr;
  uint8_t* y = nullptr;
  float scale = 1.0f;  // numerics::QuantizeValue
  int32_t zero = 0, lo = 0, hi = 0;
};

// Sums of `taps` taps (pads that count are added by `pads`) to averages.
struct AverageArgs {
  const int32_t* sum = nullptr;
  uint8_t* y = nullptr;
  int32_t pads = 0, taps = 1;
  float scale = 1.0f, offset = 0.0f;  // numerics::AveragePool
  int32_t lo = 0, hi = 0;
};

// Elements [begin, end). The first index is 1 when a is s8, the second when b is.
struct ElementwiseTable {
  void (*add[2][2])(const AddArgs&, int64_t begin, int64_t end) noexcept;
  void (*add_float[2][2])(const AddFloatArgs&, int64_t begin, int64_t end) noexcept;
  void (*add_fma)(const AddFmaArgs&, int64_t begin, int64_t end) noexcept;
  void (*quantize)(const QuantizeArgs&, int64_t begin, int64_t end) noexcept;
  void (*average)(const AverageArgs&, int64_t count) noexcept;
};

const ElementwiseTable& ElementwiseFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_
