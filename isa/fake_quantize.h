// The formula of OpenVINO's FakeQuantize for one element, once for constant folding and the F32
// command.
#ifndef RSHIFT_ISA_FAKE_QUANTIZE_H_
#define RSHIFT_ISA_FAKE_QUANTIZE_H_

#include <cmath>

namespace rshift {

// [in_low, in_high] in `levels` values, which become [out_low, out_high]. A row of the command's
// ranges.
struct FakeQuantizeRange {
  float in_low = 0, in_high = 0, out_low = 0, out_high = 0;
};
static_assert(sizeof(FakeQuantizeRange) == 4 * sizeof(float));

// In binary32, each operation rounded; `steps` is levels - 1. Ties go to even. The ends of the
// input range may be in any order; at and below the lower one is out_low, above the higher one
// out_high. NaN stays NaN.
inline float FakeQuantized(float x, const FakeQuantizeRange& r, float steps) {
  const float low = r.in_low < r.in_high ? r.in_low : r.in_high;
  const float high = r.in_low < r.in_high ? r.in_high : r.in_low;
  if (x <= low) return r.out_low;
  if (x > high) return r.out_high;
  const float level = std::nearbyint((x - r.in_low) / (r.in_high - r.in_low) * steps);
  return level / steps * (r.out_high - r.out_low) + r.out_low;
}

}  // namespace rshift

#endif  // RSHIFT_ISA_FAKE_QUANTIZE_H_
