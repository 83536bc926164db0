// Preprocessing files (schema: the README of configs/preprocess): value = (pixel - mean) * scale;
// `std` is 1 / scale.
#ifndef RSHIFT_CALIBRATE_DATA_PREPROCESS_H_
#define RSHIFT_CALIBRATE_DATA_PREPROCESS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"

namespace rshift {

inline constexpr int kMaxPreprocessSide = 16384;  // pixels of a resize or a crop

struct InputPreprocess {
  std::string name;  // "": of the only input of the model
  enum class Color { kRgb, kBgr, kGray } color = Color::kRgb;
  enum class PixelLayout { kNchw, kNhwc } layout = PixelLayout::kNchw;
  enum class ResizeMode { kNone, kStretch, kShortSide, kLetterbox } resize = ResizeMode::kNone;
  int resize_height = 0, resize_width = 0;
  // What letterbox has around the picture: one, or one per channel in the order of `color`.
  std::vector<uint8_t> fill = {0};
  enum class Align { kCenter, kTopLeft } align = Align::kCenter;  // of the picture in a letterbox
  int crop_height = 0, crop_width = 0;                            // 0: no crop
  std::vector<float> mean, scale;  // one, or one per channel in the order of `color`
};

// As preprocessing files and messages call them; "" for no resize.
constexpr const char* Name(InputPreprocess::Color color) {
  switch (color) {
    case InputPreprocess::Color::kRgb:
      return "RGB";
    case InputPreprocess::Color::kBgr:
      return "BGR";
    case InputPreprocess::Color::kGray:
      return "GRAY";
  }
  return "?";
}
constexpr const char* Name(InputPreprocess::PixelLayout layout) {
  return layout == InputPreprocess::PixelLayout::kNchw ? "NCHW" : "NHWC";
}
constexpr const char* Name(InputPreprocess::ResizeMode mode) {
  switch (mode) {
    case InputPreprocess::ResizeMode::kNone:
      return "";
    case InputPreprocess::ResizeMode::kStretch:
      return "stretch";
    case InputPreprocess::ResizeMode::kShortSide:
      return "short_side";
    case InputPreprocess::ResizeMode::kLetterbox:
      return "letterbox";
  }
  return "?";
}

constexpr const char* Name(InputPreprocess::Align align) {
  return align == InputPreprocess::Align::kCenter ? "center" : "top-left";
}

struct Preprocess {
  std::vector<InputPreprocess> inputs;
  std::string text;  // the file as it was read, for table and binary
};

// Throws kInvalidInput with where:line for unknown keys and bad values.
Preprocess ReadPreprocess(const std::string& text, const std::string& where);

// An 8-bit image, HWC, channels already in the order of `color`.
struct Image {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
};
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
