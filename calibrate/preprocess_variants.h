// The ways in which a preprocessing file is usually wrong, as preprocessing files.
#ifndef RSHIFT_CALIBRATE_PREPROCESS_VARIANTS_H_
#define RSHIFT_CALIBRATE_PREPROCESS_VARIANTS_H_

#include <string>
#include <vector>

#include "calibrate/data/preprocess.h"

namespace rshift {

struct PreprocessVariant {
  std::string name;  // "BGR, mean and scale as given", "RGB, 0 to 1"
  InputPreprocess recipe;
};

// `given` first; then both orders of the colours with: its own mean and scale, 0 to 255, 0 to 1, -1
// to 1, ImageNet's mean in 0 to 255 (Caffe), ImageNet's mean and deviation (PyTorch). Each once.
std::vector<PreprocessVariant> VariantsOf(const InputPreprocess& given);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_PREPROCESS_VARIANTS_H_
