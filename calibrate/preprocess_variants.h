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

// A .png of an image input after preprocessing, its values stretched to 0 to 255 over all channels,
// so that a person sees what the network sees: crop, order of the colours, layout. `values`: one
// image in `shape` (ONNX order, batch 1).
void WritePicture(const std::string& path, const std::vector<float>& values, const Shape& shape,
                  const InputPreprocess& recipe);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_PREPROCESS_VARIANTS_H_
