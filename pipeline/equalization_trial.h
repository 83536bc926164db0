// Equalization that an estimate proposes (quantize/equalize/choose.h), and the integer program
// decides.
#ifndef RSHIFT_PIPELINE_EQUALIZATION_TRIAL_H_
#define RSHIFT_PIPELINE_EQUALIZATION_TRIAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/choose_integers.h"

namespace rshift {

// What came of it.
struct EqualizationTrialReport {
  size_t tensors = 0, samples = 0;
  double before_db = 0, after_db = 0;  // of the outputs, over the samples
  bool kept = false;                   // true: the program has it
  std::string why_none = {};           // for people, why nothing was measured; "": it was
};

struct EqualizationTrial {
  IntegerChoice integers;  // of the program that is better
  EqualizationTrialReport report;
};

// `usual` and `other`: the same network and request, but for graph and table, which are equalized
// further in `other`. Both become the program that they would be, with weights and biases as
// ChooseIntegers finds them; `other` must have outputs that are better beyond chance, and by
// kAutoGainDb (paired_choice.h). Without bias correction nothing is measured, and `usual` stays.
EqualizationTrial TryEqualization(const IntegerRequest& usual, const IntegerRequest& other);

// As model_deploy says it, a line.
std::string TrialLine(const EqualizationTrialReport& report);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_EQUALIZATION_TRIAL_H_
