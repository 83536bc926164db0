// One way to quantize a model: a point of the search.
#ifndef RSHIFT_PIPELINE_SEARCH_CANDIDATE_H_
#define RSHIFT_PIPELINE_SEARCH_CANDIDATE_H_

#include <string>
#include <vector>

#include "pipeline/bias_correction.h"
#include "pipeline/search/groups.h"
#include "pipeline/weight_methods.h"
#include "quantize/config.h"

namespace rshift {

inline constexpr int kFloatBits = 32;

struct Candidate {
  WeightMethods weights = {};
  BiasCorrectionMode bias_correction = BiasCorrectionMode::kOff;
  std::vector<int> bits = {};  // of each group: 8, 16 or kFloatBits
  // Weights are measured with these types, as Deploy does; else with 8 bits everywhere, which holds
  // for many sets of bits. Biases always are: what they take back differs much.
  bool measured_as_is = false;

  bool measures() const { return weights.any() || bias_correction != BiasCorrectionMode::kOff; }
  bool operator==(const Candidate& other) const;
};

// "gptq off, bias correction fast, 8x12 16x3 8x40": the same for the same candidates alone.
std::string KeyOf(const Candidate& candidate);
// "--weight-rounding gptq --bias-correction fast": what is a default only where that is fixed.
std::string OptionsOf(const Candidate& candidate);
// Adds what `bits` say.
void AddTypes(const std::vector<OperatorGroup>& groups, const std::vector<int>& bits,
              QuantizeConfig* config);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_CANDIDATE_H_
