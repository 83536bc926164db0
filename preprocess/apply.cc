#include "preprocess/apply.h"

#include <algorithm>

#include "base/error.h"
#include "preprocess/placement.h"

namespace rshift {
namespace {

// A view, and the memory that it is of where it is not the caller's.
struct Pixels {
  PixelView view;
  Image memory = {};
};

Pixels Resized(const PixelView& image, int height, int width, const std::string& where,
               Resizer resize) {
  if (image.height == height && image.width == width) return {image};
  RequireImageSize({width, height}, where + ", resized");
  Pixels out;
  out.memory = resize(image, height, width, where);
  out.view = ViewOf(out.memory);
  return out;
}

// The picture at its place, `fill` around it.
Pixels InLetterbox(const InputPreprocess& p, const PixelView& picture, const Placement& place) {
  Pixels out;
  const size_t pixels = static_cast<size_t>(p.resize_height) * p.resize_width;
  const auto channels = static_cast<size_t>(picture.channels);
  out.memory = {p.resize_height, p.resize_width, picture.channels, {}};
  out.memory.pixels.resize(pixels * channels);
  for (size_t c = 0; c < channels; ++c) {
    const uint8_t fill = p.fill[p.fill.size() == 1 ? 0 : c];
    for (size_t i = c; i < out.memory.pixels.size(); i += channels) out.memory.pixels[i] = fill;
  }
  const size_t row_bytes = static_cast<size_t>(p.resize_width) * channels;
  for (int y = 0; y < picture.height; ++y) {
    std::copy_n(picture.Row(y), picture.width * picture.channels,
                out.memory.pixels.data() + static_cast<size_t>(place.top + y) * row_bytes +
                    static_cast<size_t>(place.left) * channels);
  }
  out.view = ViewOf(out.memory);
  return out;
}

struct Target {
  int64_t height = 0, width = 0, channels = 0;
  bool nhwc = false;
};

Target ReadTarget(const InputPreprocess& p, const Shape& shape, const std::string& where) {
  RSHIFT_REQUIRE(
      shape.size() == 4 && shape[0] == 1, ErrorCode::kInvalidInput, where, ": input '", p.name,
      "' has the shape ", ToString(shape),
      ", images need 1xCxHxW or 1xHxWxC with batch 1; bind the batch with --input-shape");
  if (p.layout == InputPreprocess::PixelLayout::kNhwc) return {shape[1], shape[2], shape[3], true};
  return {shape[2], shape[3], shape[1], false};
}

// What is wrong with the recipe for this picture is said before anything is resized.
void RequireFit(const InputPreprocess& p, const Placement& place, const Target& target,
                const std::string& where) {
  const bool boxed = p.resize == InputPreprocess::ResizeMode::kLetterbox;
  int height = boxed ? p.resize_height : place.height;
  int width = boxed ? p.resize_width : place.width;
  if (p.crop_height > 0) {
    RSHIFT_REQUIRE(p.crop_height <= height && p.crop_width <= width, ErrorCode::kInvalidInput,
                   where, ": is ", height, "x", width,
                   " pixels (height x width) after resizing, the crop needs ", p.crop_height, "x",
                   p.crop_width, "; resize to a larger size");
    height = p.crop_height;
    width = p.crop_width;
  }
  RSHIFT_REQUIRE(height == target.height && width == target.width, ErrorCode::kInvalidInput, where,
                 ": is ", height, "x", width,
                 " pixels (height x width) after preprocessing, input '", p.name, "' takes ",
                 target.height, "x", target.width, "; correct 'resize' or 'crop'");
}

PixelView Cropped(const InputPreprocess& p, PixelView image) {
  if (p.crop_height == 0) return image;
  image.pixels = image.Row((image.height - p.crop_height) / 2) +
                 static_cast<ptrdiff_t>((image.width - p.crop_width) / 2) * image.channels;
  image.height = p.crop_height;
  image.width = p.crop_width;
  return image;
}

std::vector<float> Normalize(const InputPreprocess& p, const PixelView& image,
                             const Target& target) {
  const int64_t channels = target.channels, pixels = target.height * target.width;
  std::vector<float> out(static_cast<size_t>(channels * pixels));
  for (int64_t y = 0; y < target.height; ++y) {
    const uint8_t* row = image.Row(static_cast<int>(y));
    for (int64_t c = 0; c < channels; ++c) {
      const float mean = p.mean[p.mean.size() == 1 ? 0 : static_cast<size_t>(c)];
      const float scale = p.scale[p.scale.size() == 1 ? 0 : static_cast<size_t>(c)];
      const uint8_t* from = row + c;
      float* to = out.data() +
                  (target.nhwc ? y * target.width * channels + c : c * pixels + y * target.width);
      const int64_t step = target.nhwc ? channels : 1;
      for (int64_t x = 0; x < target.width; ++x, from += channels, to += step) {
        *to = (static_cast<float>(*from) - mean) * scale;
      }
    }
  }
  return out;
}

}  // namespace

void RequireImageSize(const ImageSize& size, const std::string& where) {
  RSHIFT_REQUIRE(size.width <= kMaxImagePixels && size.height <= kMaxImagePixels &&
                     size.width * size.height <= kMaxImagePixels,
                 ErrorCode::kInvalidInput, where, ": the picture has ", size.width, "x",
                 size.height, " pixels (width x height), expected at most ", kMaxImagePixels,
                 " in all; scale it down");
}

std::vector<float> ApplyRecipe(const InputPreprocess& recipe, const Image& image,
                               const Shape& shape, const std::string& where, Resizer resize) {
  const int channels = Channels(recipe.color);
  RSHIFT_REQUIRE(image.channels == channels, ErrorCode::kInvalidInput, where, ": the image has ",
                 image.channels, image.channels == 1 ? " channel" : " channels",
                 ", 'color' in the preprocessing of input '", recipe.name, "' has ", channels,
                 "; use the preprocessing file of this model");
  const Target target = ReadTarget(recipe, shape, where);
  RSHIFT_REQUIRE(target.channels == channels, ErrorCode::kInvalidInput, where, ": input '",
                 recipe.name, "' (", ToString(shape), ") takes ", target.channels,
                 " channels, the preprocessing makes ", channels, "; check 'color' and 'layout'");
  RSHIFT_REQUIRE(
      image.height > 0 && image.width > 0 &&
          image.pixels.size() == static_cast<size_t>(image.height) * image.width * image.channels,
      ErrorCode::kInvalidInput, where, ": the image is empty");
  const Placement place = PlaceResized(recipe, image.height, image.width, where);
  RequireFit(recipe, place, target, where);
  Pixels pixels = Resized(ViewOf(image), place.height, place.width, where, resize);
  if (recipe.resize == InputPreprocess::ResizeMode::kLetterbox)
    pixels = InLetterbox(recipe, pixels.view, place);
  return Normalize(recipe, Cropped(recipe, pixels.view), target);
}

}  // namespace rshift
