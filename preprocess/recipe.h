// How the pixels of a picture become an input: value = (pixel - mean) * scale behind resizing and
// crop; or the samples of a sound (audio_recipe.h). calibrate/data reads recipes from preprocessing
// files, recorded.h those of pictures from programs.
#ifndef RSHIFT_PREPROCESS_RECIPE_H_
#define RSHIFT_PREPROCESS_RECIPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/audio_recipe.h"

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
  // Of an input that takes sounds: what is said of pictures above does not count then, and mean and
  // scale are one, or one for each of a frame's features.
  std::optional<AudioRecipe> audio;
};

constexpr int Channels(InputPreprocess::Color color) {
  return color == InputPreprocess::Color::kGray ? 1 : 3;
}

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

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_RECIPE_H_
