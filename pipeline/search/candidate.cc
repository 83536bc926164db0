#include "pipeline/search/candidate.h"

#include "base/error.h"

namespace rshift {

bool Candidate::operator==(const Candidate& other) const { return KeyOf(*this) == KeyOf(other); }

std::string KeyOf(const Candidate& candidate) {
  std::string key = Cat(Name(candidate.weights.rounding), " ", Name(candidate.weights.clipping),
                        ", bias correction ", Name(candidate.bias_correction), ",");
  for (size_t i = 0; i < candidate.bits.size();) {
    size_t end = i;
    while (end < candidate.bits.size() && candidate.bits[end] == candidate.bits[i]) ++end;
    key += Cat(" ", candidate.bits[i], "x", end - i);
    i = end;
  }
  return key + (candidate.weights.any() && candidate.measured_as_is ? ", as is" : "");
}

std::string OptionsOf(const Candidate& candidate) {
  std::string options;
  const auto add = [&](const char* option, const char* value) {
    options += Cat(options.empty() ? "" : " ", option, " ", value);
  };
  add("--weight-rounding", Name(candidate.weights.rounding));
  if (candidate.weights.clipping != WeightClipping::kOff)
    add("--weight-clipping", Name(candidate.weights.clipping));
  add("--bias-correction", Name(candidate.bias_correction));
  return options;
}

void AddTypes(const std::vector<OperatorGroup>& groups, const std::vector<int>& bits,
              QuantizeConfig* config) {
  for (size_t g = 0; g < groups.size(); ++g) {
    const OperatorGroup& group = groups[g];
    for (size_t t = 0; t < group.tensors.size(); ++t) {
      if (bits[g] == kFloatBits)
        config->layers[ModelName(group.tensors[t])].float32 = true;
      else if (bits[g] == 16 && group.wide[t])
        config->layers[ModelName(group.tensors[t])].activation_bits = 16;
    }
    for (size_t i = 0; i < group.inputs.size(); ++i) {
      if (bits[g] == 16 && group.wide_inputs[i])
        config->layers[group.inputs[i]].activation_bits = 16;
    }
  }
}

}  // namespace rshift
