// What the chip can do: configs/targets/*.yaml.
#ifndef RSHIFT_TARGET_TARGET_H_
#define RSHIFT_TARGET_TARGET_H_

#include <optional>
#include <string>

#include "base/cost_model.h"
#include "target/conv_forms.h"

namespace rshift {

// The values are those of configs/targets/cpu.yaml.
struct Target {
  std::string name = "cpu";
  // Bits of the multiplier, sign included: Add (symmetric), LeakyRelu / PRelu slopes; 8 or 16.
  int add_multiplier_bits = 16, leaky_multiplier_bits = 16;
  // Of Conv, MatMul and their kin; 8, 16, 25 (which binary32 holds) or 32. Requantization always
  // has 32.
  int conv_multiplier_bits = 25;
  bool per_channel_weights = true;
  // A channel may have a second multiplier and rshift, for accumulators below 0: LeakyRelu and
  // PRelu are part of the convolution before them (quantize/ops/fuse_slopes.h), and the byte before
  // a function has two scales (quantize/ops/function_scales.h).
  bool negative_multipliers = true;
  // Asymmetric activations of profile tpu are u8, [0, 255], instead of s8.
  bool unsigned_activations = false;
  std::optional<ConvForms> conv = ConvForms{};  // none: convolutions stay as the model has them
  CostModel cost;  // decides nothing but how many threads are worth waking
};

// A file without a `conv:` block has no forms, one without `multiplier_bits: conv` has 32, one
// without `negative_multipliers` has none; whatever else is not there is as above. Throws
// kInvalidInput with the line of an unknown key or of a value that is none.
Target ReadTarget(const std::string& yaml_text, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_TARGET_TARGET_H_
