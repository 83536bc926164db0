// From complete accumulators to bytes for every rounding (isa/functions.h), on any CPU: what all
// instruction sets call where they have no form of their own. One unit for the base instruction
// set, but for post-operations (post_ops.cc); the formulas are
// quantize/numerics/{requantize,float_scale,half_float,post_ops}.h.
#ifndef RSHIFT_RUNTIME_KERNELS_FINISH_H_
#define RSHIFT_RUNTIME_KERNELS_FINISH_H_

#include <cstdint>
#include <vector>

#include "isa/functions.h"
#include "quantize/numerics/post_ops.h"
#include "runtime/kernels/kernels.h"
#include "runtime/runtime.h"

namespace rshift {

struct PostOpArgs {
  std::vector<PostOp> post_ops;  // kFloatZeroEven
  // The addend of kSum, bytes of dst's shape: what belongs to the byte at dst[i] is at addend[i].
  const uint8_t* dst = nullptr;
  const uint8_t* addend = nullptr;
  bool addend_signed = false;
  // Of the functions that make no bytes: what would be the byte at dst[i] is the number at
  // result[i], half[i], sums[i] or numbers[i]; nothing is stored at dst.
  float* result = nullptr;
  uint16_t* half = nullptr;
  int32_t* sums = nullptr;     // FinishToSums()
  int16_t* numbers = nullptr;  // FinishToInt16()
};

// The function for a rounding; null for kHalfUp, which every kernel has itself. kFloatZeroEven
// without post-operations is a function of its own. Same bytes for every instruction set.
FinishFn FinishFor(Rounding rounding, bool post_ops, Isa isa = Isa::kScalar);
// kFloatZeroEven with post-operations, to bytes.
FinishFn FinishPostOps(Isa isa);
// kHalfUp with other words for accumulators below 0 (RequantArgs::negative).
FinishFn FinishBySign();
// kFloatZeroEven with a result in f32: the value after the post-operations, not rounded.
FinishFn FinishToFloat(Isa isa);
// kHalfFloat with a result in f16: the value before AscendQuant.
FinishFn FinishToHalf();
// The accumulators themselves.
FinishFn FinishToSums();
// f32: float(acc) * scale + bias_f, each operation rounded.
FinishFn FinishToScaledSums();

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_FINISH_H_
