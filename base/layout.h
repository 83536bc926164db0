// How a tensor's dimensions are ordered in memory. `shape` always lists them in memory order; for
// kNhwc the shape a user sees (ONNX order) is [shape[0], shape[3], shape[1], shape[2]].
#ifndef RSHIFT_BASE_LAYOUT_H_
#define RSHIFT_BASE_LAYOUT_H_

#include <cstdint>

namespace rshift {

enum class Layout : uint8_t { kPlain = 0, kNhwc = 1 };

}  // namespace rshift

#endif  // RSHIFT_BASE_LAYOUT_H_
