#include "calibrate/input_picture.h"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/picture_codecs.h"

namespace rshift {
namespace {

using PixelLayout = InputPreprocess::PixelLayout;

constexpr int64_t kLeastSide = 8;  // of what is taken for a picture unasked

cv::Mat PictureOf(const std::vector<float>& values, const Shape& shape,
                  const InputPreprocess& recipe) {
  const bool nchw = recipe.layout == PixelLayout::kNchw;
  const int64_t channels = nchw ? shape[1] : shape[3], height = nchw ? shape[2] : shape[1],
                width = nchw ? shape[3] : shape[2];
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  const float scale = *largest > *least ? 255.0f / (*largest - *least) : 0.0f;
  cv::Mat picture(static_cast<int>(height), static_cast<int>(width), CV_8UC(channels == 1 ? 1 : 3));
  const int64_t shown = channels == 1 ? 1 : 3;
  for (int64_t pixel = 0; pixel < height * width; ++pixel) {
    for (int64_t c = 0; c < shown; ++c) {
      // OpenCV writes BGR.
      const int64_t from = recipe.color == InputPreprocess::Color::kRgb ? shown - 1 - c : c;
      const int64_t at = nchw ? from * height * width + pixel : pixel * channels + from;
      picture.data[pixel * shown + c] =
          static_cast<uint8_t>((values[static_cast<size_t>(at)] - *least) * scale + 0.5f);
    }
  }
  return picture;
}

}  // namespace

std::optional<InputPreprocess> PictureRecipe(const Shape& shape, const InputPreprocess* recipe) {
  if (shape.size() != 4 || shape[0] != 1 || NumElements(shape) == 0) return std::nullopt;
  const auto fits = [&](PixelLayout layout) {
    const int64_t channels = layout == PixelLayout::kNchw ? shape[1] : shape[3];
    return channels == 1 || channels == 3;
  };
  if (recipe != nullptr && recipe->audio) return std::nullopt;
  if (recipe != nullptr) return fits(recipe->layout) ? std::optional(*recipe) : std::nullopt;
  for (const PixelLayout layout : {PixelLayout::kNchw, PixelLayout::kNhwc}) {
    const size_t height = layout == PixelLayout::kNchw ? 2 : 1;
    if (!fits(layout) || shape[height] < kLeastSide || shape[height + 1] < kLeastSide) continue;
    InputPreprocess found;
    found.layout = layout;
    return found;
  }
  return std::nullopt;
}

void WritePicture(const std::string& path, const std::vector<float>& values, const Shape& shape,
                  const InputPreprocess& recipe) {
  RSHIFT_REQUIRE(shape.size() == 4 && !values.empty(), ErrorCode::kInvalidInput, path,
                 ": an input of the shape ", ToString(shape), " is no picture");
  std::vector<uint8_t> bytes;
  EncodePicture(".png", PictureOf(values, shape, recipe), bytes);
  WriteFileAtomic(path, std::span<const uint8_t>(bytes));
}

std::vector<uint8_t> Thumbnail(const std::vector<float>& values, const Shape& shape,
                               const InputPreprocess& recipe, int side) {
  cv::Mat picture = PictureOf(values, shape, recipe);
  const int longest = std::max(picture.rows, picture.cols);
  if (longest > side) {
    const auto shrunk = [&](int pixels) { return std::max(1, pixels * side / longest); };
    cv::Mat small;
    cv::resize(picture, small, cv::Size(shrunk(picture.cols), shrunk(picture.rows)), 0, 0,
               cv::INTER_AREA);
    picture = small;
  }
  std::vector<uint8_t> bytes;
  EncodePicture(".jpg", picture, bytes);
  return bytes;
}

}  // namespace rshift
