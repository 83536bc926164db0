// From pixels to the values of an input, with OpenCV's resizing: preprocess/resize.cc gives the
// same bytes in two to three times the time.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/error.h"
#include "calibrate/data/preprocess.h"
#include "preprocess/apply.h"

namespace rshift {
namespace {

Image ResizeByOpenCv(const PixelView& image, int height, int width, const std::string& where) {
  Image out{height, width, image.channels, {}};
  out.pixels.resize(static_cast<size_t>(height) * width * image.channels);
  try {
    const cv::Mat from(image.height, image.width, CV_8UC(image.channels),
                       const_cast<uint8_t*>(image.pixels), static_cast<size_t>(image.row_bytes));
    cv::Mat to(height, width, from.type(), out.pixels.data());
    cv::resize(from, to, cv::Size(width, height), 0, 0, cv::INTER_LINEAR);
    RSHIFT_REQUIRE(to.data == out.pixels.data(), ErrorCode::kInternal, where,
                   ": OpenCV wrote the resized picture elsewhere");
  } catch (const cv::Exception& error) {
    // OpenCV's own text has several lines and speaks of its insides.
    Fail(ErrorCode::kUnsupported, where, ": a picture of ", image.width, "x", image.height,
         " pixels cannot be resized (OpenCV error ", error.code, "): is there enough memory?");
  }
  return out;
}

}  // namespace

std::vector<float> Apply(const InputPreprocess& preprocess, const Image& image, const Shape& shape,
                         const std::string& where) {
  return ApplyRecipe(preprocess, image, shape, where, ResizeByOpenCv);
}

}  // namespace rshift
