// Our resizing and colours against OpenCV's, byte for byte, and whole recipes against the tools'.
#include "preprocess/resize.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string>
#include <vector>

#include "calibrate/data/preprocess.h"
#include "preprocess/apply.h"
#include "preprocess/pixels.h"
#include "tests/preprocess/random_picture.h"

namespace rshift {
namespace {

constexpr uint32_t kSeed = 20;

cv::Mat MatOf(const Image& image) {
  return cv::Mat(image.height, image.width, CV_8UC(image.channels),
                 const_cast<uint8_t*>(image.pixels.data()));
}

std::vector<uint8_t> BytesOf(const cv::Mat& mat) {
  return {mat.data, mat.data + mat.total() * mat.elemSize()};
}

void ExpectAsOpenCv(const Image& image, int height, int width) {
  SCOPED_TRACE(testing::Message() << image.height << "x" << image.width << "x" << image.channels
                                  << " -> " << height << "x" << width);
  cv::Mat expected;
  cv::resize(MatOf(image), expected, cv::Size(width, height), 0, 0, cv::INTER_LINEAR);
  ASSERT_EQ(ResizeBilinear(ViewOf(image), height, width).pixels, BytesOf(expected));
}

TEST(ResizeBilinear, RandomSizesAreOpenCvsBytes) {
  std::mt19937 random(kSeed);
  for (int trial = 0; trial < 1500; ++trial) {
    const int most = trial % 3 == 0 ? 6 : trial % 3 == 1 ? 40 : 200;
    const auto side = [&] { return 1 + static_cast<int>(random() % static_cast<uint32_t>(most)); };
    const Image image = RandomPicture(random, side(), side(), trial % 2 == 0 ? 3 : 1);
    ASSERT_NO_FATAL_FAILURE(ExpectAsOpenCv(image, side(), side()));
  }
}

TEST(ResizeBilinear, HalvesAndOtherWholeFactorsAreOpenCvsBytes) {
  std::mt19937 random(kSeed);
  for (int height = 1; height <= 9; ++height) {
    for (int width = 1; width <= 9; ++width) {
      for (const int channels : {1, 3}) {
        const Image image = RandomPicture(random, 2 * height, 2 * width, channels);
        ASSERT_NO_FATAL_FAILURE(ExpectAsOpenCv(image, height, width));  // the mean of four
        ASSERT_NO_FATAL_FAILURE(ExpectAsOpenCv(image, 2 * height, width));
        ASSERT_NO_FATAL_FAILURE(ExpectAsOpenCv(image, height, 2 * width));
        ASSERT_NO_FATAL_FAILURE(ExpectAsOpenCv(image, 6 * height, 4 * width));
      }
    }
  }
}

TEST(ResizeBilinear, APartOfAPictureReadsNothingBesideIt) {
  std::mt19937 random(kSeed);
  const Image whole = RandomPicture(random, 20, 30, 3);
  const cv::Mat part = MatOf(whole)(cv::Rect(4, 5, 17, 11));
  const PixelView view{part.data, 11, 17, 3, static_cast<ptrdiff_t>(part.step)};
  cv::Mat expected;
  cv::resize(part.clone(), expected, cv::Size(9, 25), 0, 0, cv::INTER_LINEAR);
  EXPECT_EQ(ResizeBilinear(view, 25, 9).pixels, BytesOf(expected));
}

TEST(ToColor, IsOpenCvsForEveryOrder) {
  using Color = InputPreprocess::Color;
  struct Case {
    PixelOrder order;
    Color color;
    int code;  // -1: as it is
  };
  std::mt19937 random(kSeed);
  for (const Case& c : std::vector<Case>{{PixelOrder::kGray, Color::kGray, -1},
                                         {PixelOrder::kGray, Color::kRgb, cv::COLOR_GRAY2RGB},
                                         {PixelOrder::kGray, Color::kBgr, cv::COLOR_GRAY2BGR},
                                         {PixelOrder::kRgb, Color::kRgb, -1},
                                         {PixelOrder::kRgb, Color::kBgr, cv::COLOR_RGB2BGR},
                                         {PixelOrder::kRgb, Color::kGray, cv::COLOR_RGB2GRAY},
                                         {PixelOrder::kBgr, Color::kRgb, cv::COLOR_BGR2RGB},
                                         {PixelOrder::kBgr, Color::kBgr, -1},
                                         {PixelOrder::kBgr, Color::kGray, cv::COLOR_BGR2GRAY},
                                         {PixelOrder::kRgba, Color::kRgb, cv::COLOR_RGBA2RGB},
                                         {PixelOrder::kRgba, Color::kBgr, cv::COLOR_RGBA2BGR},
                                         {PixelOrder::kRgba, Color::kGray, cv::COLOR_RGBA2GRAY},
                                         {PixelOrder::kBgra, Color::kRgb, cv::COLOR_BGRA2RGB},
                                         {PixelOrder::kBgra, Color::kBgr, cv::COLOR_BGRA2BGR},
                                         {PixelOrder::kBgra, Color::kGray, cv::COLOR_BGRA2GRAY}}) {
    const Image image = RandomPicture(random, 37, 53, PixelBytes(c.order));
    cv::Mat expected = MatOf(image).clone();
    if (c.code >= 0) cv::cvtColor(MatOf(image), expected, c.code);
    EXPECT_EQ(ToColor(ViewOf(image), c.order, c.color).pixels, BytesOf(expected))
        << static_cast<int>(c.order) << " -> " << Name(c.color);
  }
}

Image Own(const PixelView& image, int height, int width, const std::string&) {
  return ResizeBilinear(image, height, width);
}

TEST(ApplyRecipe, WholeRecipesGiveTheValuesOfTheTools) {
  std::mt19937 random(kSeed);
  const std::vector<std::string> geometries = {
      "resize: {height: 24, width: 31, mode: stretch}",
      "resize: {height: 40, width: 40, mode: short_side}, crop: {height: 24, width: 31}",
      "resize: {height: 24, width: 31, mode: letterbox, fill: 114}",
      "resize: {height: 30, width: 50, mode: letterbox, fill: 3, align: top-left}, "
      "crop: {height: 24, width: 31}"};
  for (int trial = 0; trial < 200; ++trial) {
    const std::string& geometry = geometries[static_cast<size_t>(trial) % geometries.size()];
    const bool is_gray = trial % 5 == 0, is_nhwc = trial % 3 == 0;
    const std::string fields = std::string("inputs:\n  - {color: ") + (is_gray ? "GRAY" : "RGB") +
                               ", layout: " + (is_nhwc ? "NHWC" : "NCHW") + ", " + geometry +
                               ", mean: 120.5, scale: 0.017}\n";
    const InputPreprocess recipe = ReadPreprocess(fields, "recipe").inputs[0];
    const auto side = [&] { return 1 + static_cast<int>(random() % 90); };
    const int64_t channels = is_gray ? 1 : 3;
    const Image image = RandomPicture(random, side(), side(), static_cast<int>(channels));
    const Shape shape = is_nhwc ? Shape{1, 24, 31, channels} : Shape{1, channels, 24, 31};
    ASSERT_EQ(ApplyRecipe(recipe, image, shape, "own", Own), Apply(recipe, image, shape, "tools"))
        << fields << image.height << "x" << image.width;
  }
}

}  // namespace
}  // namespace rshift
