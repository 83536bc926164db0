#include "runtime/steps/uniform_requant.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "quantize/numerics/requantize.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/finish.h"
#include "runtime/steps/requant_arrays.h"

namespace rshift {
namespace {

constexpr int64_t kEntries = 16;  // what RequantizeFn reads
constexpr int64_t kArrays = 6;

// Whether the vector forms' conditions hold.
bool Regular(const UniformWords& words) {
  const bool two_step =
      words.rounding == Rounding::kTwoStep || words.rounding == Rounding::kTwoStepUp;
  if (std::abs(words.zero_y) > (two_step ? 1 << 14 : 255)) return false;
  return !numerics::IsIntegerRounding(words.rounding) || words.multiplier == 0 ||
         words.multiplier >= 1 << 30 || words.rshift >= 33;
}

}  // namespace

UniformRequant::UniformRequant(Isa isa, const UniformWords& words)
    : memory_(kArrays * kEntries * sizeof(int32_t)),
      run_(KernelsFor(Regular(words) ? isa : Isa::kScalar).requantize) {
  auto* multiplier = reinterpret_cast<int32_t*>(memory_.data());
  int32_t* rshift = multiplier + kEntries;
  auto* scale = reinterpret_cast<float*>(rshift + kEntries);
  float* bias_f = scale + kEntries;
  auto* high_half = reinterpret_cast<int32_t*>(bias_f + kEntries);
  int32_t* high_shift = high_half + kEntries;
  args_.rounding = words.rounding;
  if (numerics::IsIntegerRounding(words.rounding) || words.rounding == Rounding::kDoubleAway) {
    std::fill_n(multiplier, kEntries, words.multiplier);
    std::fill_n(rshift, kEntries, words.rshift);
    args_.min_rshift = args_.max_rshift = words.rshift;
  } else {
    std::fill_n(scale, kEntries, numerics::WordToFloat(words.multiplier));
    std::fill_n(bias_f, kEntries, numerics::WordToFloat(words.rshift));
  }
  args_.multiplier = multiplier;
  args_.rshift = rshift;
  args_.scale = scale;
  args_.bias_f = bias_f;
  args_.zero_y = words.zero_y;
  args_.lo = words.lo;
  args_.hi = words.hi;
  if (words.multiplier != 0 && Regular(words))
    PrecomputeHighHalves(kEntries, std::numeric_limits<int32_t>::max(), high_half, high_shift,
                         &args_);
  args_.finish = FinishFor(words.rounding, false);
}

}  // namespace rshift
