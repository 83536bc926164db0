// Requant records of the file -> the aligned arrays that kernels read (kernels.h, RequantArgs).
#ifndef RSHIFT_RUNTIME_STEPS_REQUANT_ARRAYS_H_
#define RSHIFT_RUNTIME_STEPS_REQUANT_ARRAYS_H_

#include <cstdint>
#include <memory>

#include "base/aligned.h"
#include "runtime/kernels/finish.h"
#include "runtime/step.h"

namespace rshift {

// Owns the arrays that args() points into; move it, do not copy.
struct RequantArrays {
  AlignedBuffer memory;
  std::unique_ptr<PostOpArgs> post_op_args;
  std::unique_ptr<RequantArgs> negative;  // args.negative
  RequantArgs args;
};

// Channel c of `channels` goes to entry Entry(c) = c / per_group * padded + c % per_group;
// `entries` in all.
struct RequantLayout {
  int64_t channels = 0, per_group = 0, padded = 0, entries = 0;
  int64_t products = 0;  // in one accumulator
  int64_t Entry(int64_t channel) const {
    return channel / per_group * padded + channel % per_group;
  }
};

// How conv, depthwise and matmul turn an accumulator into a byte.
struct RequantForm {
  Rounding rounding = Rounding::kHalfUp;
  ClampQ clamp;
  HalfEpilogue half;  // kHalfFloat
};
template <typename C>
RequantForm RequantFormOf(const C& c) {
  return {c.rounding, c.clamp, c.half};
}

// Reads kRequant, of either length, kZeroW, post-operations and their addend, src's type, dst's
// zero point and the sums of weights that the program's proof has.
RequantArrays MakeRequantArrays(const StepContext& context, const RequantForm& form,
                                const RequantLayout& layout);

// Of a product whose source's scale and zero point are known only when it runs: scale and bias_f
// are those of the weights; `sums` holds sum(w - zero_w) of each entry modulo 2^32; bias_flipped
// what is to be added to a bias. dst is f32 or s32.
struct DynamicArrays : RequantArrays {
  const int32_t* sums = nullptr;
};
DynamicArrays MakeDynamicArrays(const StepContext& context, const RequantLayout& layout);

// One factor for all of `columns` channels, no biases: a product of two activations, whose step
// sets bias, bias_flipped and zero_w itself. No |accumulator| is above `most_acc`.
RequantArrays MakeColumnArrays(const RequantForm& form, const RequantWords& words, int32_t zero_y,
                               int64_t columns, int64_t most_acc);

// Fills RequantArgs::high_half and high_shift, two arrays of `entries`, and sets them and
// acc_factor in *args where its rounding, rshifts and bounds, all set before, allow. No |acc| is
// above `most_acc`.
void PrecomputeHighHalves(int64_t entries, int64_t most_acc, int32_t* high_half,
                          int32_t* high_shift, RequantArgs* args);

// Sets RequantArgs::ratio to `ratio`, an array of `entries`, where every multiplier and bound
// allows. Then, with one rounding to nearest, m = 1.5 * 2^23 and z = zero_y - bias (as
// high_half's),
//   fma(float(acc), ratio, m + z) = m + z + floor(acc * multiplier / 2^rshift + 1/2)
// but for results that saturate: there is no other tie, for acc * ratio = k + 1/2 makes 2k + 1 a
// multiple of the multiplier's odd part, 2^10 at least; and an acc that binary32 has not, from 2^24
// on, gives 2^10 and more. No |acc - bias| is above `most_sum`.
void PrecomputeRatios(int64_t entries, int64_t most_sum, float* ratio, RequantArgs* args);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_REQUANT_ARRAYS_H_
