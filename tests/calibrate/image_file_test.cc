// Pictures in files: the pixels are OpenCV's; damaged and enormous ones are refused in one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <random>

#include "base/atomic_file.h"
#include "calibrate/data/image_size.h"
#include "calibrate/data/preprocess.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using Color = InputPreprocess::Color;

cv::Mat RandomPicture(int height, int width, int channels) {
  std::mt19937 random(20240601);
  cv::Mat picture(height, width, CV_8UC(channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width * channels; ++x)
      picture.ptr<uint8_t>(y)[x] = static_cast<uint8_t>(8 * (x + y) + random() % 32);
  }
  return picture;
}

std::vector<uint8_t> PixelsByOpenCv(const std::string& path, Color color) {
  cv::Mat mat = cv::imread(path, color == Color::kGray ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  if (color == Color::kRgb) cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
  return {mat.datastart, mat.dataend};
}

// A JPEG file with an Exif block that holds nothing but an orientation.
std::vector<uint8_t> WithOrientation(std::vector<uint8_t> jpeg, uint8_t orientation, bool big) {
  const std::vector<uint8_t> tiff =
      big ? std::vector<uint8_t>{'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 0x12, 0,
                                 3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,    0}
          : std::vector<uint8_t>{'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 0x12, 1, 3,
                                 0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,    0, 0};
  std::vector<uint8_t> block = {0xff, 0xe1, 0, static_cast<uint8_t>(tiff.size() + 8), 'E', 'x', 'i',
                                'f',  0,    0};
  block.insert(block.end(), tiff.begin(), tiff.end());
  jpeg.insert(jpeg.begin() + 2, block.begin(), block.end());
  return jpeg;
}

std::vector<uint8_t> Encoded(const char* extension, const cv::Mat& picture) {
  std::vector<uint8_t> bytes;
  cv::imencode(extension, picture, bytes);
  return bytes;
}

// The error, and that nothing else is printed.
std::string OnlyErrorOf(const std::string& path) {
  testing::internal::CaptureStderr();
  const std::string error = ErrorOf([&] { DecodeImage(path, Color::kRgb); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  return error;
}

TEST(DecodeImageTest, PixelsAreThoseOfOpenCv) {
  const TemporaryFolder folder;
  for (const char* extension : {".jpg", ".png", ".bmp", ".webp", ".tiff", ".ppm", ".pgm"}) {
    for (const int channels : {1, 3}) {
      if (extension[2] != 'j' && std::strcmp(extension, channels == 1 ? ".ppm" : ".pgm") == 0)
        continue;
      const std::string path = folder / ("x" + std::string(extension));
      WriteBytes(path, Encoded(extension, RandomPicture(23, 41, channels)));
      for (const Color color : {Color::kRgb, Color::kBgr, Color::kGray}) {
        const Image image = DecodeImage(path, color);
        EXPECT_EQ(image.height, 23);
        EXPECT_EQ(image.width, 41);
        EXPECT_EQ(image.pixels, PixelsByOpenCv(path, color)) << path << " " << channels;
      }
      const auto size = FindImageSize(ReadFile(path));
      if (std::strcmp(extension, ".jpg") == 0) continue;
      ASSERT_TRUE(size.has_value()) << path;
      EXPECT_EQ(size->height, 23) << path;
      EXPECT_EQ(size->width, 41) << path;
    }
  }
}

TEST(DecodeImageTest, JpegIsTurnedAsItsExifSays) {
  const TemporaryFolder folder;
  const std::vector<uint8_t> jpeg = Encoded(".jpg", RandomPicture(16, 40, 3));
  for (uint8_t orientation = 0; orientation <= 9; ++orientation) {
    for (const bool big : {false, true}) {
      WriteBytes(folder / "x.jpg", WithOrientation(jpeg, orientation, big));
      const Image image = DecodeImage(folder / "x.jpg", Color::kRgb);
      EXPECT_EQ(image.height, orientation >= 5 && orientation <= 8 ? 40 : 16);
      EXPECT_EQ(image.pixels, PixelsByOpenCv(folder / "x.jpg", Color::kRgb)) << int{orientation};
    }
  }
}

TEST(DecodeImageTest, DamagedPicturesAreErrorsThatNameTheFile) {
  const TemporaryFolder folder;
  for (const char* extension : {".jpg", ".png", ".bmp", ".tiff", ".webp", ".ppm"}) {
    std::vector<uint8_t> bytes = Encoded(extension, RandomPicture(60, 80, 3));
    bytes.resize(bytes.size() / 2);
    const std::string path = folder / ("cut" + std::string(extension));
    WriteBytes(path, bytes);
    EXPECT_THAT(ErrorOf([&] { DecodeImage(path, Color::kRgb); }), HasSubstr(path)) << extension;
  }
  EXPECT_THAT(OnlyErrorOf(folder / "cut.jpg"),
              HasSubstr("the picture is damaged (Premature end of JPEG file)"));
  std::vector<uint8_t> bmp = Encoded(".bmp", RandomPicture(4, 4, 3));
  bmp[28] = 77;  // bits per pixel
  WriteBytes(folder / "odd.bmp", bmp);
  EXPECT_THAT(OnlyErrorOf(folder / "odd.bmp"), HasSubstr("odd.bmp: cannot be decoded"));
  WriteText(folder / "text.png", "this is a text");
  EXPECT_THAT(OnlyErrorOf(folder / "text.png"), HasSubstr("no picture by its first bytes"));
}

TEST(DecodeImageTest, EnormousPicturesAreRefusedByTheirHeaders) {
  const TemporaryFolder folder;
  std::vector<uint8_t> png = Encoded(".png", RandomPicture(4, 4, 3));
  std::vector<uint8_t> bmp = Encoded(".bmp", RandomPicture(4, 4, 3));
  std::vector<uint8_t> jpeg = Encoded(".jpg", RandomPicture(4, 4, 3));
  for (const size_t at : {18, 22}) png[at] = 0x75;  // 0x7504 = 29,956 pixels
  for (const size_t at : {19, 23}) bmp[at] = 0x75;
  const std::vector<uint8_t> start_of_frame = {0xff, 0xc0};
  auto frame = std::search(jpeg.begin(), jpeg.end(), start_of_frame.begin(), start_of_frame.end());
  ASSERT_NE(frame, jpeg.end());
  frame[5] = frame[7] = 0x75;
  WriteBytes(folder / "large.png", png);
  WriteBytes(folder / "large.bmp", bmp);
  WriteBytes(folder / "large.jpg", jpeg);
  WriteText(folder / "large.ppm", "P6 # 30,000 a side\n30000 30000 255\n");
  for (const char* name : {"large.png", "large.bmp", "large.jpg", "large.ppm"}) {
    EXPECT_THAT(OnlyErrorOf(folder / name), HasSubstr("expected at most 104857600 in all")) << name;
  }
}

// Cut and changed bytes: an error or a picture, never a crash or a hang.
TEST(DecodeImageTest, SurvivesMutation) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (const char* extension : {".jpg", ".png", ".bmp", ".tiff", ".webp", ".ppm"}) {
    const std::vector<uint8_t> whole = Encoded(extension, RandomPicture(9, 11, 3));
    const std::string path = folder / ("x" + std::string(extension));
    for (int i = 0; i < 60; ++i) {
      std::vector<uint8_t> bytes = whole;
      for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      if (i % 4 == 0) bytes.resize(random() % bytes.size());
      WriteBytes(path, bytes);
      ErrorOf([&] { DecodeImage(path, Color::kRgb); });
    }
  }
}

}  // namespace
}  // namespace rshift
