// Preprocessing files (schema: the README of configs/preprocess): value = (pixel - mean) * scale;
// `std` is 1 / scale.
#ifndef RSHIFT_CALIBRATE_DATA_PREPROCESS_H_
#define RSHIFT_CALIBRATE_DATA_PREPROCESS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "preprocess/image.h"
#include "preprocess/recipe.h"

namespace rshift {

struct Preprocess {
  std::vector<InputPreprocess> inputs;
  std::string text;  // the file as it was read, for table and binary
};

// Throws kInvalidInput with where:line for unknown keys and bad values.
Preprocess ReadPreprocess(const std::string& text, const std::string& where);

// Throws kInvalidInput naming the file when it is no picture, damaged, or larger than limits.h
// says.
Image DecodeImage(const std::string& path, InputPreprocess::Color color);
Image DecodeImage(std::span<const uint8_t> file, InputPreprocess::Color color,
                  const std::string& where);
// Resize, crop, normalize into `shape` (ONNX order, batch 1); throws kInvalidInput when the channel
// count or size does not fit (`where` names the sample).
std::vector<float> Apply(const InputPreprocess& preprocess, const Image& image, const Shape& shape,
                         const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_PREPROCESS_H_
