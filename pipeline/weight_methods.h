// How integers of weights are chosen: what --weight-rounding and --weight-clipping name.
#ifndef RSHIFT_PIPELINE_WEIGHT_METHODS_H_
#define RSHIFT_PIPELINE_WEIGHT_METHODS_H_

#include <string>

namespace rshift {

// kNearest: each weight by itself. kGptq: the weights of a channel together, for the sake of the
// sums that they make of the samples. kAuto: as kGptq, for as many layers as kMostAutoProducts
// (weight_choice.h) leave room for, kept where the outputs of every second sample are better by
// kAutoGainDb (paired_choice.h) at least, than with the nearest integers and the bias correction
// that those get, by what the other samples give, and the other way round; beside a clipping it is
// kNearest.
enum class WeightRounding { kNearest, kGptq, kAuto };
const char* Name(WeightRounding rounding);
// kOff: the largest weight of a channel is its last step. kMse: the scale with the least error of
// the sums.
enum class WeightClipping { kOff, kMse };
const char* Name(WeightClipping clipping);
// Throw kInvalidInput for an unknown name.
WeightRounding ParseWeightRounding(const std::string& name);
WeightClipping ParseWeightClipping(const std::string& name);

struct WeightMethods {
  WeightRounding rounding = WeightRounding::kNearest;
  WeightClipping clipping = WeightClipping::kOff;
  bool any() const {
    return rounding != WeightRounding::kNearest || clipping != WeightClipping::kOff;
  }
  // A method was asked for by its name: it is refused where there can be none.
  bool asked() const {
    return rounding == WeightRounding::kGptq || clipping != WeightClipping::kOff;
  }
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_WEIGHT_METHODS_H_
