#include "target/conv_forms.h"

namespace rshift {

std::span<const ConvFormsKey> ConvFormsKeys() {
  static constexpr ConvFormsKey kKeys[] = {
      {"narrow_channels", &ConvForms::narrow_channels, 0, 1000000},
      {"narrow_end", &ConvForms::narrow_end, 0, 1000000},
      {"panel_end", &ConvForms::panel_end, 0, 1000000},
      {"unroll_channels", &ConvForms::unroll_channels, 0, 1000000},
      {"unroll_pixels", &ConvForms::unroll_pixels, 1, 64},
      {"unroll_image", &ConvForms::unroll_image, 0, 1000000},
      {"repeat_channels", &ConvForms::repeat_channels, 1, 1024},
  };
  return kKeys;
}

}  // namespace rshift
