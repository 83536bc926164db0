// An image input after preprocessing as a picture, its values stretched to 0 to 255 over all
// channels, so that a person sees what the network sees: crop, order of the colours, layout.
#ifndef RSHIFT_CALIBRATE_INPUT_PICTURE_H_
#define RSHIFT_CALIBRATE_INPUT_PICTURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/preprocess.h"

namespace rshift {

// How an input of such a shape (ONNX order) holds one picture: as `recipe` says, where there is
// one, else by its 1 or 3 channels. Nothing where it holds none.
std::optional<InputPreprocess> PictureRecipe(const Shape& shape, const InputPreprocess* recipe);

// A .png. `values`: one image in `shape` (ONNX order, batch 1).
void WritePicture(const std::string& path, const std::vector<float>& values, const Shape& shape,
                  const InputPreprocess& recipe);

// A .jpg of at most `side` pixels a side.
std::vector<uint8_t> Thumbnail(const std::vector<float>& values, const Shape& shape,
                               const InputPreprocess& recipe, int side);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_INPUT_PICTURE_H_
