// From pixels to the values of an input: resizing by OpenCV (INTER_LINEAR), crop, mean and scale.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/error.h"
#include "calibrate/data/image_size.h"
#include "calibrate/data/placement.h"
#include "calibrate/data/preprocess.h"

namespace rshift {
namespace {

cv::Mat ToMat(const Image& image) {
  return cv::Mat(image.height, image.width, CV_8UC(image.channels),
                 const_cast<uint8_t*>(image.pixels.data()));
}

cv::Mat ResizeTo(const cv::Mat& image, int height, int width, const std::string& where) {
  if (image.rows == height && image.cols == width) return image;
  RequireImageSize({width, height}, where + ", resized");
  cv::Mat out;
  cv::resize(image, out, cv::Size(width, height), 0, 0, cv::INTER_LINEAR);
  return out;
}

cv::Mat ResizePicture(const InputPreprocess& p, const cv::Mat& image, const std::string& where) {
  const Placement place = PlaceResized(p, image.rows, image.cols, where);
  cv::Mat resized = ResizeTo(image, place.height, place.width, where);
  if (p.resize != InputPreprocess::ResizeMode::kLetterbox) return resized;
  const auto fill = [&](size_t channel) { return p.fill[p.fill.size() == 1 ? 0 : channel]; };
  cv::Mat out(p.resize_height, p.resize_width, image.type(), cv::Scalar(fill(0), fill(1), fill(2)));
  resized.copyTo(out(cv::Rect(place.left, place.top, place.width, place.height)));
  return out;
}

cv::Mat Crop(const InputPreprocess& p, const cv::Mat& image, const std::string& where) {
  if (p.crop_height == 0) return image;
  RSHIFT_REQUIRE(p.crop_height <= image.rows && p.crop_width <= image.cols,
                 ErrorCode::kInvalidInput, where, ": is ", image.rows, "x", image.cols,
                 " pixels (height x width) after resizing, the crop needs ", p.crop_height, "x",
                 p.crop_width, "; resize to a larger size");
  return image(cv::Rect((image.cols - p.crop_width) / 2, (image.rows - p.crop_height) / 2,
                        p.crop_width, p.crop_height));
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

std::vector<float> Normalize(const InputPreprocess& p, const cv::Mat& image, const Target& target) {
  const int64_t channels = target.channels, pixels = target.height * target.width;
  std::vector<float> out(static_cast<size_t>(channels * pixels));
  for (int64_t y = 0; y < target.height; ++y) {
    const uint8_t* row = image.ptr<uint8_t>(static_cast<int>(y));
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

std::vector<float> Apply(const InputPreprocess& preprocess, const Image& image, const Shape& shape,
                         const std::string& where) {
  const int channels = preprocess.color == InputPreprocess::Color::kGray ? 1 : 3;
  RSHIFT_REQUIRE(image.channels == channels, ErrorCode::kInvalidInput, where, ": the image has ",
                 image.channels, image.channels == 1 ? " channel" : " channels",
                 ", 'color' in the preprocessing of input '", preprocess.name, "' has ", channels,
                 "; use the preprocessing file of this model");
  const Target target = ReadTarget(preprocess, shape, where);
  RSHIFT_REQUIRE(target.channels == channels, ErrorCode::kInvalidInput, where, ": input '",
                 preprocess.name, "' (", ToString(shape), ") takes ", target.channels,
                 " channels, the preprocessing makes ", channels, "; check 'color' and 'layout'");
  RSHIFT_REQUIRE(
      image.height > 0 && image.width > 0 &&
          image.pixels.size() == static_cast<size_t>(image.height) * image.width * image.channels,
      ErrorCode::kInvalidInput, where, ": the image is empty");
  try {
    const cv::Mat pixels = Crop(preprocess, ResizePicture(preprocess, ToMat(image), where), where);
    RSHIFT_REQUIRE(pixels.rows == target.height && pixels.cols == target.width,
                   ErrorCode::kInvalidInput, where, ": is ", pixels.rows, "x", pixels.cols,
                   " pixels (height x width) after preprocessing, input '", preprocess.name,
                   "' takes ", target.height, "x", target.width, "; correct 'resize' or 'crop'");
    return Normalize(preprocess, pixels, target);
  } catch (const cv::Exception& error) {
    // OpenCV's own text has several lines and speaks of its insides.
    Fail(ErrorCode::kUnsupported, where, ": a picture of ", image.width, "x", image.height,
         " pixels cannot be resized (OpenCV error ", error.code, "): is there enough memory?");
  }
}

}  // namespace rshift
