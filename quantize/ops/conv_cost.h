// What a convolution costs, to choose between forms of it that give the same bytes.
#ifndef RSHIFT_QUANTIZE_OPS_CONV_COST_H_
#define RSHIFT_QUANTIZE_OPS_CONV_COST_H_

#include <cstdint>

#include "base/round_up.h"

namespace rshift {

// One output pixel of one group, in products: those of padded channels (codegen/packing/packing.h)
// and what the end of a register tile takes instead, measured.
inline constexpr int64_t PixelCost(int64_t oc, int64_t taps, int64_t ic) {
  constexpr int64_t kNarrow = 32, kNarrowEnd = 640, kPanel = 64, kPanelEnd = 1280;
  const int64_t end = oc <= kNarrow ? kNarrowEnd : RoundUp(oc, kPanel) / kPanel * kPanelEnd;
  return RoundUp(oc, 16) * taps * RoundUp(ic, 4) + end;
}

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_CONV_COST_H_
