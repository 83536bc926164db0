// Element-wise loops that gain from wide registers: additions, products, quantization, averages.
// One body (elementwise.cc) compiled for each instruction set by function attributes: what a body
// calls and does not inline stays code for any CPU. Same values everywhere.
#ifndef RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_
#define RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "isa/functions.h"
#include "runtime/runtime.h"

namespace rshift {

// What a byte stands for, less its zero point: (byte ^ flip) - zero. A u8 tensor has flip 0 and its
// zero point; an s8 tensor flip 0x80 and its zero point + 128.
struct ByteOperand {
  const uint8_t* bytes = nullptr;
  uint8_t flip = 0;
  int32_t zero = 0;
};

// `rows` rows of `count` elements, so many bytes from row to row of each operand.
struct RowBlock {
  int64_t rows = 1, count = 0;
  int64_t pitch_a = 0, pitch_b = 0, pitch_y = 0;
};

// y[i] from a[i] and b[i]; y may be a or b itself.
struct AddArgs {
  ByteOperand a, b;
  uint8_t* y = nullptr;
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;  // numerics::AddCommonShift
  int32_t zero_y = 0, lo = 0, hi = 0;
};
struct AddFmaArgs {
  ByteOperand a, b;  // without their zeros
  uint8_t* y = nullptr;
  float ratio_a = 1.0f, ratio_b = 1.0f, fixed = 0.0f;  // numerics::AddFma
  int32_t shift_y = 0, lo = 0, hi = 0;
};
struct AddFloatArgs {
  ByteOperand a, b;
  uint8_t* y = nullptr;
  float scale_a = 1.0f, scale_b = 1.0f, scale_y = 1.0f;  // numerics::AddFloat
  int32_t zero_y = 0, lo = 0, hi = 0;
};
struct MulFloatArgs {
  ByteOperand a, b;
  uint8_t* y = nullptr;
  float scale = 1.0f;  // numerics::MulFloatZero
  int32_t zero_y = 0, shift_y = 0, lo = 0, hi = 0;
};
// y[i - begin] = the product of a[i] and b[i], to be requantized.
struct ProductArgs {
  ByteOperand a, b;
  int32_t* y = nullptr;
};
struct QuantizeArgs {
  const float* x = nullptr;
  uint8_t* y = nullptr;
  float scale = 1.0f;  // numerics::QuantizeValueBy, QuantizeByReciprocal
  int32_t zero = 0, lo = 0, hi = 0;
};
struct DequantizeArgs {
  ByteOperand x;
  float* y = nullptr;
  float scale = 1.0f;  // numerics::DequantizeValue
};
// The same of s16 with zero point 0.
struct QuantizeInt16Args {
  const float* x = nullptr;
  int16_t* y = nullptr;
  float scale = 1.0f;
};
struct DequantizeInt16Args {
  const int16_t* x = nullptr;
  float* y = nullptr;
  float scale = 1.0f;
};

// y[i] += the real value.
struct AddRealArgs {
  ByteOperand x;
  float* y = nullptr;
  float scale = 1.0f;
};
// numerics::AverageDequantized.
struct AverageRealArgs {
  const float* total = nullptr;
  uint8_t* y = nullptr;
  int32_t taps = 1;
  float scale_y = 1.0f;
  int32_t zero_y = 0, shift_y = 0, lo = 0, hi = 0;
};

// Sums of `inside` taps to averages of `taps`, the difference being pads that count: they add
// `pads` to the sum.
struct AverageArgs {
  const int32_t* sum = nullptr;
  uint8_t* y = nullptr;
  int32_t pads = 0, inside = 1, taps = 1;
  float scale = 1.0f, offset = 0.0f;
  int32_t zero_x = 0, zero_y = 0, lo = 0, hi = 0;
};

struct ElementwiseTable {
  template <typename Args>
  using RowsLoop = void (*)(const Args&, const RowBlock&) noexcept;
  // Elements [begin, end).
  template <typename Args>
  using Loop = void (*)(const Args&, int64_t begin, int64_t end) noexcept;

  RowsLoop<AddArgs> add;
  // Ties away from zero. |v| * |multiplier| summed over both operands must stay below 2^31.
  RowsLoop<AddArgs> add_away;
  RowsLoop<AddFloatArgs> add_float;
  // Faster, and the same for most scales: for those where it has been compared on every pair of
  // bytes. Null where add_float is as fast.
  RowsLoop<AddFloatArgs> add_float_near = nullptr;
  RowsLoop<AddFmaArgs> add_fma;
  RowsLoop<MulFloatArgs> mul_float;
  Loop<ProductArgs> product;
  Loop<QuantizeArgs> quantize[kRealRoundingCount];             // by division
  Loop<QuantizeArgs> quantize_reciprocal[kRealRoundingCount];  // by the reciprocal
  Loop<DequantizeArgs> dequantize;
  Loop<QuantizeInt16Args> quantize_int16;  // RealRounding::kEven, by division
  Loop<QuantizeInt16Args> quantize_int16_reciprocal;
  Loop<DequantizeInt16Args> dequantize_int16;
  Loop<AddRealArgs> add_real;
  Loop<AverageRealArgs> average_real;
  Loop<AverageArgs> average;             // numerics::AveragePool
  Loop<AverageArgs> average_integer;     // numerics::AverageInteger
  Loop<AverageArgs> average_scale_away;  // numerics::AverageScaleAway
};

const ElementwiseTable& ElementwiseFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_ELEMENTWISE_H_
