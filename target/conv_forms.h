// Which forms of a convolution with the same sums are cheapest: the `conv:` block of
// configs/targets/*.yaml, by which codegen/passes/ chooses.
#ifndef RSHIFT_TARGET_CONV_FORMS_H_
#define RSHIFT_TARGET_CONV_FORMS_H_

#include <cstdint>
#include <span>

namespace rshift {

// The values are those of configs/targets/cpu.yaml.
struct ConvForms {
  // What the end of a register tile costs, in products (codegen/passes/conv_cost.h): of a tile of
  // at most narrow_channels output channels, and of each panel of packed weights otherwise.
  int64_t narrow_channels = 32, narrow_end = 640, panel_end = 1280;
  // Neighbouring pixels of a row as output channels (codegen/passes/unroll_width.h): convolutions
  // of at most so many channels, at most so many pixels, images of at least so many pixels.
  int64_t unroll_channels = 8, unroll_pixels = 16, unroll_image = 1024;
  // A depthwise convolution of at most so many outputs a channel reads each channel so many times
  // (codegen/passes/repeat_channels.h); one of more is a convolution of small groups.
  int64_t repeat_channels = 32;
};

struct ConvFormsKey {
  const char* name;
  int64_t ConvForms::*value;
  int64_t least, most;
};
// Every constant under its name in YAML, in the order of the struct.
std::span<const ConvFormsKey> ConvFormsKeys();

}  // namespace rshift

#endif  // RSHIFT_TARGET_CONV_FORMS_H_
