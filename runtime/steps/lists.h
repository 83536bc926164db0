// What makers of movement steps need: constant integer lists and byte strides. The verifier has
// checked both.
#ifndef RSHIFT_RUNTIME_STEPS_LISTS_H_
#define RSHIFT_RUNTIME_STEPS_LISTS_H_

#include <cstdint>
#include <vector>

#include "base/shape.h"
#include "runtime/step.h"

namespace rshift {

// The values of a constant list tensor of s64 or s32.
std::vector<int64_t> ReadList(const void* data, const TensorRecord& record);
std::vector<int64_t> ReadList(const StepContext& context, Field field);
// From one index of each dimension to the next.
Shape ByteStrides(const TensorRecord& record);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_LISTS_H_
