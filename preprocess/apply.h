// From a picture to the values of an input: resize, letterbox, crop, mean and scale.
#ifndef RSHIFT_PREPROCESS_APPLY_H_
#define RSHIFT_PREPROCESS_APPLY_H_

#include <string>
#include <vector>

#include "base/shape.h"
#include "preprocess/image.h"
#include "preprocess/recipe.h"

namespace rshift {

// ResizeBilinear (resize.h), or another function that gives its bytes. `where` names the picture.
using Resizer = Image (*)(const PixelView& image, int height, int width, const std::string& where);

// `shape`: of one picture, in ONNX order, batch 1. The channels of the image are those of the
// recipe's colour, in its order. Throws kInvalidInput when channels or size do not fit (`where`
// names the picture).
std::vector<float> ApplyRecipe(const InputPreprocess& recipe, const Image& image,
                               const Shape& shape, const std::string& where, Resizer resize);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_APPLY_H_
