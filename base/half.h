// IEEE binary16 <-> binary32, bit exact (round to nearest even, subnormals, infinities, NaN kept
// quiet).
#ifndef RSHIFT_BASE_HALF_H_
#define RSHIFT_BASE_HALF_H_

#include <cstdint>

namespace rshift {

float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);

}  // namespace rshift

#endif  // RSHIFT_BASE_HALF_H_
