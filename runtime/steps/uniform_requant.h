// Requantization of many accumulators by the same two words: what additions, products and averages
// end with.
#ifndef RSHIFT_RUNTIME_STEPS_UNIFORM_REQUANT_H_
#define RSHIFT_RUNTIME_STEPS_UNIFORM_REQUANT_H_

#include <cstdint>

#include "base/aligned.h"
#include "isa/attributes.h"
#include "runtime/kernels/kernels.h"
#include "runtime/runtime.h"

namespace rshift {

struct UniformForm {
  Rounding rounding = Rounding::kHalfUp;  // any but kHalfFloat
  RequantWords words;
  int32_t zero_y = 0;
  ClampQ clamp;
};

// Accumulators that are requantized together: a buffer of so many fits the first-level cache.
inline constexpr int64_t kRequantBlock = 1024;
inline constexpr int64_t kRequantSlack = 64;  // readable past the last

// The vector forms rely on a zero point of a byte (two-step forms: 14 bits) and, where shifts are
// small, on a multiplier of 2^30 and more. Other words are computed one by one.
class UniformRequant {
 public:
  UniformRequant() = default;
  UniformRequant(Isa isa, const UniformForm& form);

  // numerics::RequantizeBy of acc[0, count).
  void operator()(const int32_t* acc, int64_t count, uint8_t* dst) const noexcept {
    run_(args_, acc, count, dst);
  }

 private:
  AlignedBuffer memory_;
  RequantArgs args_;
  RequantizeFn run_ = nullptr;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_UNIFORM_REQUANT_H_
