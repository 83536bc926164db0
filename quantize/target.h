// What the chip can do: configs/targets/*.yaml.
#ifndef RSHIFT_QUANTIZE_TARGET_H_
#define RSHIFT_QUANTIZE_TARGET_H_

#include <string>

#include "base/cost_model.h"

namespace rshift {

struct Target {
  std::string name = "cpu";
  // Bits of the multiplier, sign included: Add (symmetric), LeakyRelu / PRelu slopes; 8 or 16.
  int add_multiplier_bits = 16, leaky_multiplier_bits = 16;
  // Of Conv, MatMul and their kin; 25 (which binary32 holds) or 32. Requantization always has 32.
  int conv_multiplier_bits = 25;
  bool per_channel_weights = true;
  CostModel cost;  // decides nothing but how many threads are worth waking
};
Target ReadTarget(const std::string& yaml_text, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_TARGET_H_
