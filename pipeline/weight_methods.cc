#include "pipeline/weight_methods.h"

#include "base/error.h"

namespace rshift {

const char* Name(WeightRounding rounding) {
  switch (rounding) {
    case WeightRounding::kNearest:
      return "nearest";
    case WeightRounding::kGptq:
      return "gptq";
    case WeightRounding::kAuto:
      return "auto";
  }
  return "?";
}

const char* Name(WeightClipping clipping) {
  return clipping == WeightClipping::kMse ? "mse" : "off";
}

WeightRounding ParseWeightRounding(const std::string& name) {
  for (const WeightRounding rounding :
       {WeightRounding::kAuto, WeightRounding::kNearest, WeightRounding::kGptq}) {
    if (name == Name(rounding)) return rounding;
  }
  Fail(ErrorCode::kInvalidInput, "weight rounding is '", name, "', expected auto, nearest or gptq");
}

WeightClipping ParseWeightClipping(const std::string& name) {
  for (const WeightClipping clipping : {WeightClipping::kOff, WeightClipping::kMse}) {
    if (name == Name(clipping)) return clipping;
  }
  Fail(ErrorCode::kInvalidInput, "weight clipping is '", name, "', expected off or mse");
}

}  // namespace rshift
