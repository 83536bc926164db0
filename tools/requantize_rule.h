// What one accumulator becomes under a profile: model_tool requantize.
#ifndef RSHIFT_TOOLS_REQUANTIZE_RULE_H_
#define RSHIFT_TOOLS_REQUANTIZE_RULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/functions.h"
#include "quantize/numerics/half_float.h"
#include "quantize/profile.h"

namespace rshift {

// As given on the command line.
struct RequantizeArguments {
  std::string profile = "tpu", variant, type = "s8";
  std::optional<double> scale;  // S_x S_w / S_y; ascend: deq_scale
  std::optional<int64_t> multiplier, rshift;
  int64_t zero_point = 0;
  float bias = 0;                     // onednn, ascend: added in their float type
  std::optional<double> quant_scale;  // ascend: AscendQuant's scale, default 1
};

struct RequantizeRule {
  Rounding rounding = Rounding::kHalfUp;
  int32_t multiplier = 0, rshift = 0;  // the two words of isa/functions.def
  int32_t zero = 0, lo = -128, hi = 127;
  // kHalfFloat only.
  float scale = 1, bias = 0;
  HalfEpilogue epilogue;

  int32_t Apply(int32_t accumulator) const;
  // "multiplier 2119995857 rshift 34", "scale 0.123400003 (f32 0x3dfcb924)".
  std::string Describe() const;
};

// The variants of a profile, its default first; empty where it has one arithmetic only.
std::vector<std::string> VariantsOf(ProfileId profile);
// Throws UsageError for what contradicts itself (an integer multiplier with a float profile...) and
// kInvalidInput for a scale that the arithmetic cannot hold.
RequantizeRule MakeRequantizeRule(const RequantizeArguments& arguments);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_REQUANTIZE_RULE_H_
