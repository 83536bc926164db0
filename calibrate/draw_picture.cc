#include "calibrate/draw_picture.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/picture_codecs.h"

namespace rshift {
namespace {

constexpr int kPixelsForOneLine = 300;  // of the shorter side: a line of one pixel for each
constexpr double kPixelsForFullText = 900;

// Far apart for classes that follow each other: hues by the golden ratio.
cv::Scalar ColorOf(int64_t label) {
  constexpr double kGolden = 0.6180339887498949;
  const double hue = 6 * std::fmod(static_cast<double>(label) * kGolden, 1.0);
  const auto channel = [hue](double at) {
    const double distance = std::fabs(std::remainder(hue - at, 6.0));
    return 255 * std::clamp(2 - distance, 0.0, 1.0);
  };
  return {channel(4), channel(2), channel(0)};
}

cv::Mat PixelsOf(Image& image) {
  RSHIFT_REQUIRE(image.channels == 3, ErrorCode::kInternal, "drawing on ", image.channels,
                 " channels");
  return cv::Mat(image.height, image.width, CV_8UC3, image.pixels.data());
}

int Pixel(double at, int size) {
  return static_cast<int>(std::lround(std::clamp(at, 0.0, static_cast<double>(size - 1))));
}

// Above the box, or inside it at the upper edge of the picture.
void DrawText(cv::Mat& picture, const DrawnBox& box, const cv::Scalar& color, double scale) {
  const int thickness = scale > 1 ? 2 : 1;
  int below = 0;
  const cv::Size size =
      cv::getTextSize(box.text, cv::FONT_HERSHEY_SIMPLEX, scale, thickness, &below);
  const int x =
      std::clamp(Pixel(box.left, picture.cols), 0, std::max(0, picture.cols - size.width - 1));
  const int height = size.height + below;
  const int top = std::max(0, Pixel(box.top, picture.rows) - height);
  cv::rectangle(picture, cv::Rect(x, top, size.width, height), color, cv::FILLED);
  const double light = color[0] * 0.1 + color[1] * 0.6 + color[2] * 0.3;
  const cv::Scalar ink = light > 127 ? cv::Scalar(0, 0, 0) : cv::Scalar(255, 255, 255);
  cv::putText(picture, box.text, cv::Point(x, top + size.height), cv::FONT_HERSHEY_SIMPLEX, scale,
              ink, thickness, cv::LINE_AA);
}

}  // namespace

void DrawBoxes(Image& picture, const std::vector<DrawnBox>& boxes) {
  cv::Mat pixels = PixelsOf(picture);
  const int side = std::min(picture.height, picture.width);
  const int line = std::max(1, side / kPixelsForOneLine);
  const double scale = std::max(0.4, side / kPixelsForFullText);
  for (auto box = boxes.rbegin(); box != boxes.rend(); ++box) {
    const cv::Scalar color = ColorOf(box->label);
    cv::rectangle(pixels,
                  cv::Point(Pixel(box->left, picture.width), Pixel(box->top, picture.height)),
                  cv::Point(Pixel(box->right, picture.width), Pixel(box->bottom, picture.height)),
                  color, line);
    if (!box->text.empty()) DrawText(pixels, *box, color, scale);
  }
}

void BlendClasses(Image& picture, const ClassMap& map) {
  for (int y = 0; y < picture.height; ++y) {
    const double row = map.top + (y + 0.5) * map.place_height / picture.height;
    if (row < 0 || row >= map.height) continue;
    for (int x = 0; x < picture.width; ++x) {
      const double column = map.left + (x + 0.5) * map.place_width / picture.width;
      if (column < 0 || column >= map.width) continue;
      const auto at =
          static_cast<size_t>(row) * static_cast<size_t>(map.width) + static_cast<size_t>(column);
      const int64_t label = map.classes[at];
      if (label == 0) continue;
      const cv::Scalar color = ColorOf(label);
      uint8_t* pixel =
          picture.pixels.data() +
          (static_cast<size_t>(y) * static_cast<size_t>(picture.width) + static_cast<size_t>(x)) *
              3;
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<uint8_t>((pixel[c] + static_cast<int>(color[c])) / 2);
    }
  }
}

void WriteImage(const std::string& path, const Image& picture) {
  std::vector<uint8_t> bytes;
  Image copy = picture;
  EncodePicture(".png", PixelsOf(copy), bytes);
  WriteFileAtomic(path, std::span<const uint8_t>(bytes));
}

}  // namespace rshift
