// Pictures in files: JPEG by libjpeg, the rest by OpenCV.
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <streambuf>

#include "base/error.h"
#include "base/mapped_file.h"
#include "calibrate/data/image_size.h"
#include "calibrate/data/jpeg.h"
#include "calibrate/data/limits.h"
#include "calibrate/data/picture_codecs.h"
#include "calibrate/data/preprocess.h"
#include "calibrate/data/regular_file.h"

namespace rshift {
namespace {

// OpenCV writes what it dislikes about a file to std::cerr, in several lines and without a name
// that users know; our error says it in one. Lines of other threads pass.
class QuietableBuffer : public std::streambuf {
 public:
  explicit QuietableBuffer(std::streambuf* behind) : behind_(behind) {}
  static thread_local bool is_quiet;

 protected:
  int overflow(int c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    return is_quiet ? c : behind_->sputc(static_cast<char>(c));
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return is_quiet ? size : behind_->sputn(text, size);
  }
  int sync() override { return is_quiet ? 0 : behind_->pubsync(); }

 private:
  std::streambuf* behind_;
};
thread_local bool QuietableBuffer::is_quiet = false;

struct QuietScope {
  QuietScope() {
    // Never taken back: std::cerr outlives every object of ours.
    static const auto* const buffer = [] {
      auto* made = new QuietableBuffer(std::cerr.rdbuf());
      std::cerr.rdbuf(made);
      return made;
    }();
    QuietableBuffer::is_quiet = buffer != nullptr;
  }
  ~QuietScope() { QuietableBuffer::is_quiet = false; }
};

Image ToImage(const cv::Mat& mat) {
  Image image{mat.rows, mat.cols, mat.channels(), {}};
  const size_t row_bytes = static_cast<size_t>(mat.cols) * static_cast<size_t>(mat.channels());
  image.pixels.reserve(row_bytes * static_cast<size_t>(mat.rows));
  for (int y = 0; y < mat.rows; ++y) {
    image.pixels.insert(image.pixels.end(), mat.ptr<uint8_t>(y), mat.ptr<uint8_t>(y) + row_bytes);
  }
  return image;
}

Image DecodeByOpenCv(std::span<const uint8_t> file, InputPreprocess::Color color,
                     const std::string& where) {
  const bool gray = color == InputPreprocess::Color::kGray;
  cv::Mat mat;
  try {
    const QuietScope quiet;
    mat = DecodePicture(file, gray ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
    if (!mat.empty() && color == InputPreprocess::Color::kRgb)
      cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
  } catch (const cv::Exception&) {
    mat.release();
  }
  RSHIFT_REQUIRE(!mat.empty(), ErrorCode::kInvalidInput, where,
                 ": cannot be decoded: the picture is damaged or of a kind that OpenCV does not "
                 "read; get the file again, or remove it from the data set");
  return ToImage(mat);
}

// What Exif's orientations 2 to 8 ask for.
Image Turned(Image image, int orientation) {
  const cv::Mat stored(image.height, image.width, CV_8UC(image.channels), image.pixels.data());
  cv::Mat turned;
  if (orientation >= 5)
    cv::transpose(stored, turned);
  else
    turned = stored;
  constexpr int kBoth = -1, kUpsideDown = 0, kMirrored = 1, kNone = 2;
  constexpr int kFlips[] = {kNone, kNone,     kMirrored, kBoth,      kUpsideDown,
                            kNone, kMirrored, kBoth,     kUpsideDown};
  if (kFlips[orientation] != kNone) cv::flip(turned, turned, kFlips[orientation]);
  return ToImage(turned);
}

}  // namespace

Image DecodeImage(std::span<const uint8_t> file, InputPreprocess::Color color,
                  const std::string& where) {
  RSHIFT_REQUIRE(file.size() <= kMaxImageBytes, ErrorCode::kInvalidInput, where, ": has ",
                 file.size(), " bytes, pictures have at most ", kMaxImageBytes, "; scale it down");
  if (IsJpeg(file)) {
    std::optional<JpegPicture> picture = DecodeJpeg(file, color, where);
    if (!picture) return DecodeByOpenCv(file, color, where);
    if (picture->orientation == 1) return std::move(picture->image);
    return Turned(std::move(picture->image), picture->orientation);
  }
  const std::optional<ImageSize> pixels = FindImageSize(file);
  RSHIFT_REQUIRE(pixels.has_value(), ErrorCode::kInvalidInput, where,
                 ": is no picture by its first bytes, or they are damaged; expected JPEG, PNG, "
                 "BMP, WebP, TIFF or PNM: get the file again, or remove it from the data set");
  RequireImageSize(*pixels, where);
  return DecodeByOpenCv(file, color, where);
}

Image DecodeImage(const std::string& path, InputPreprocess::Color color) {
  const uint64_t size = RegularFileSize(path);
  RSHIFT_REQUIRE(size <= kMaxImageBytes, ErrorCode::kInvalidInput, path, ": has ", size,
                 " bytes, pictures have at most ", kMaxImageBytes, "; scale it down");
  return DecodeImage(MappedFile::Map(path).bytes(), color, path);
}

}  // namespace rshift
