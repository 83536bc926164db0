// NaN and infinity among the values of a sample.
#ifndef RSHIFT_CALIBRATE_DATA_FINITE_H_
#define RSHIFT_CALIBRATE_DATA_FINITE_H_

#include <cstddef>
#include <span>

namespace rshift {

// The index of the first value that is NaN or infinite; values.size() when there is none.
size_t FirstNotFinite(std::span<const float> values);
// As that; minus infinities pass where they are `masks`.
size_t FirstRefused(std::span<const float> values, bool masks);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_FINITE_H_
