#include "pipeline/weight_methods.h"

#include "base/error.h"

namespace rshift {

const char* Name(WeightRounding rounding) {
  return rounding == WeightRounding::kGptq ? "gptq" : "nearest";
}

const char* Name(WeightClipping clipping) {
  return clipping == WeightClipping::kMse ? "mse" : "off";
}

WeightRounding ParseWeightRounding(const std::string& name) {
  for (const WeightRounding rounding : {WeightRounding::kNearest, WeightRounding::kGptq}) {
    if (name == Name(rounding)) return rounding;
  }
  Fail(ErrorCode::kInvalidInput, "weight rounding is '", name, "', expected nearest or gptq");
}

WeightClipping ParseWeightClipping(const std::string& name) {
  for (const WeightClipping clipping : {WeightClipping::kOff, WeightClipping::kMse}) {
    if (name == Name(clipping)) return clipping;
  }
  Fail(ErrorCode::kInvalidInput, "weight clipping is '", name, "', expected off or mse");
}

}  // namespace rshift
