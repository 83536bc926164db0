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
bool Regular(const UniformForm& form) {
  const bool two_step =
      form.rounding == Rounding::kTwoStep || form.rounding == Rounding::kTwoStepUp;
  if (std::abs(form.zero_y) > (two_step ? 1 << 14 : 255)) return false;
  const auto [multiplier, rshift] = form.words;
  return !numerics::IsIntegerRounding(form.rounding) || multiplier == 0 || multiplier >= 1 << 30 ||
         rshift >= 33;
}

}  // namespace

UniformRequant::UniformRequant(Isa isa, const UniformForm& form)
    : memory_(kArrays * kEntries * sizeof(int32_t)),
      run_(KernelsFor(Regular(form) ? isa : Isa::kScalar).requantize) {
  auto* multiplier = reinterpret_cast<int32_t*>(memory_.data());
  int32_t* rshift = multiplier + kEntries;
  auto* scale = reinterpret_cast<float*>(rshift + kEntries);
  float* bias_f = scale + kEntries;
  auto* high_half = reinterpret_cast<int32_t*>(bias_f + kEntries);
  int32_t* high_shift = high_half + kEntries;
  args_.rounding = form.rounding;
  if (numerics::KeepsWords(form.rounding)) {
    std::fill_n(multiplier, kEntries, form.words.multiplier);
    std::fill_n(rshift, kEntries, form.words.rshift);
    args_.min_rshift = args_.max_rshift = form.words.rshift;
  } else {
    std::fill_n(scale, kEntries, numerics::WordToFloat(form.words.multiplier));
    std::fill_n(bias_f, kEntries, numerics::WordToFloat(form.words.rshift));
  }
  args_.multiplier = multiplier;
  args_.rshift = rshift;
  args_.scale = scale;
  args_.bias_f = bias_f;
  args_.zero_y = form.zero_y;
  args_.lo = form.clamp.lo;
  args_.hi = form.clamp.hi;
  if (form.words.multiplier != 0 && Regular(form))
    PrecomputeHighHalves(kEntries, std::numeric_limits<int32_t>::max(), high_half, high_shift,
                         &args_);
  args_.finish = FinishFor(form.rounding, false);
}

}  // namespace rshift
