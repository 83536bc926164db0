// How a model is to be quantized.
#ifndef RSHIFT_QUANTIZE_OPTIONS_H_
#define RSHIFT_QUANTIZE_OPTIONS_H_

#include <set>
#include <string>

#include "quantize/config.h"
#include "quantize/profile.h"
#include "quantize/ranges/ranges.h"
#include "target/target.h"

namespace rshift {

struct QuantizeOptions {
  QuantMode mode = QuantMode::kSymmetric;
  // A model with its own parameters decides the mode, unless the user did: then true.
  bool mode_given = false;
  Profile profile;
  Target target;
  QuantizeConfig config;
  bool shift_negative = true;  // RangeOptions::shift_negative, for profile tpu
  // 16: every result that can be; of the sums of two activations and what they add. Else 8.
  int activation_bits = 8, residual_bits = 8;
  // Integers of weights (Value::origin) come from another tool's scales, not from the model: their
  // requantization is the target's, like that of all others.
  bool scaled_weights = false;
  // Inputs of the model that come as integers: nothing of them is computed in F32 for its own sake.
  std::set<std::string> integer_inputs = {};
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPTIONS_H_
