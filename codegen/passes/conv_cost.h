// What a convolution costs, to choose between forms of it that give the same bytes.
#ifndef RSHIFT_CODEGEN_PASSES_CONV_COST_H_
#define RSHIFT_CODEGEN_PASSES_CONV_COST_H_

#include <cstdint>

#include "codegen/packing/packing.h"
#include "target/conv_forms.h"

namespace rshift {

// One output pixel of one group, in products: those of the packed weights, whose channels are
// padded, and what the end of a register tile takes instead.
inline int64_t PixelCost(const ConvForms& forms, int64_t oc, int64_t taps, int64_t ic) {
  const PackedShape packed{.oc_per_group = oc, .ic_per_group = ic, .taps = taps};
  const int64_t panels = RoundUp(oc, kPanelChannels) / kPanelChannels;
  return packed.group_bytes() +
         (oc <= forms.narrow_channels ? forms.narrow_end : panels * forms.panel_end);
}

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_CONV_COST_H_
