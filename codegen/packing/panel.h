// No code: kernel units, which must not share any, include this.
#ifndef RSHIFT_CODEGEN_PACKING_PANEL_H_
#define RSHIFT_CODEGEN_PACKING_PANEL_H_

#include <cstdint>

namespace rshift {

// Output channels of a panel of packed weights (packing.h); the last panel of a group may have
// fewer. Depthwise weights are padded to a multiple of it.
inline constexpr int64_t kPanelChannels = 64;
// A panel is as wide as its channels, rounded up to lines of so many, for each of which so many K
// positions follow each other: what a dot product adds up.
inline constexpr int64_t kLineChannels = 16, kDotProducts = 4;

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PACKING_PANEL_H_
