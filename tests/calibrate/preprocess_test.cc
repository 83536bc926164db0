#include "calibrate/data/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "calibrate/data/presets.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

InputPreprocess Recipe(const std::string& fields) {
  return ReadPreprocess("inputs:\n  - {name: x, " + fields + "}\n", "p").inputs[0];
}

std::string ErrorIn(const std::string& text) {
  return ErrorOf([&] { ReadPreprocess(text, "p.yaml"); });
}

TEST(ReadPreprocessTest, EveryReadyFileParses) {
  const char* source = std::getenv("RSHIFT_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/configs/preprocess")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = ReadTextFile(entry.path());
    const Preprocess preprocess = ReadPreprocess(text, entry.path());
    EXPECT_EQ(preprocess.inputs.size(), 1u) << entry.path();
    EXPECT_EQ(preprocess.text, text);
    ++files;
  }
  EXPECT_GE(files, 10);
}

TEST(ReadPreprocessTest, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    gamma: 2\n"),
              HasSubstr("p.yaml:4"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: CMYK\n"), HasSubstr("RGB | BGR | GRAY"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    mean: [1, 2]\n"),
              HasSubstr("2 numbers"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    mean: [1, 2, .nan]\n"),
              HasSubstr("p.yaml:4"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    resize: {height: 8, width: 9, "
                      "mode: short_side}\n"),
              HasSubstr("short_side"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    resize: {height: 0, width: 9, "
                      "mode: stretch}\n"),
              HasSubstr("p.yaml:4"));
  EXPECT_THAT(ErrorIn("inputs:\n  - name: x\n    color: RGB\n    color: BGR\n"),
              HasSubstr("twice"));
  EXPECT_THAT(ErrorIn("inputs:\n  - {name: x, color: RGB}\n  - {name: x, color: RGB}\n"),
              HasSubstr("twice"));
  EXPECT_THAT(ErrorIn("inputs: []\n"), HasSubstr("inputs"));
  EXPECT_THAT(ErrorIn("inputs: [\n"), HasSubstr("p.yaml:"));
  EXPECT_NE(ErrorIn(""), kNoError);
  EXPECT_NE(ErrorIn("- 1\n"), kNoError);
}

TEST(ReadPreprocessTest, StdIsOneOverScaleAndANameMayBeLeftOut) {
  const InputPreprocess input = Recipe("color: RGB, std: [2, 4, 0.5]");
  EXPECT_THAT(input.scale, ElementsAre(0.5f, 0.25f, 2.0f));
  EXPECT_EQ(ReadPreprocess("inputs:\n  - {color: RGB, std: 2}\n", "p").inputs[0].name, "");
  EXPECT_THAT(ErrorIn("inputs:\n  - color: RGB\n    std: 2\n    scale: 3\n"),
              HasSubstr("both 'std' and 'scale'"));
  EXPECT_THAT(ErrorIn("inputs:\n  - color: RGB\n    std: 0\n"), HasSubstr("more than 0"));
  EXPECT_THAT(ErrorIn("inputs:\n  - color: RGB\n  - {name: x, color: RGB}\n"),
              HasSubstr("inputs[0] has no name"));
}

TEST(PresetTest, FitsTheModelsInput) {
  const InputPreprocess torch = MakePreset("torch-imagenet", {"x", {1, 3, 224, 224}});
  EXPECT_EQ(torch.resize, InputPreprocess::ResizeMode::kShortSide);
  EXPECT_EQ(torch.resize_height, 256);
  EXPECT_EQ(torch.crop_width, 224);
  EXPECT_EQ(torch.color, InputPreprocess::Color::kRgb);
  EXPECT_THAT(torch.mean, ElementsAre(123.675f, 116.28f, 103.53f));
  EXPECT_THAT(torch.scale, ElementsAre(1 / 58.395f, 1 / 57.12f, 1 / 57.375f));
  const InputPreprocess caffe = MakePreset("caffe-imagenet", {"x", {1, 299, 299, 3}});
  EXPECT_EQ(caffe.layout, InputPreprocess::PixelLayout::kNhwc);
  EXPECT_EQ(caffe.color, InputPreprocess::Color::kBgr);
  EXPECT_EQ(caffe.resize_height, 342);
  const InputPreprocess raw = MakePreset("raw", {"x", {1, 1, 20, 30}});
  EXPECT_EQ(raw.color, InputPreprocess::Color::kGray);
  EXPECT_EQ(raw.resize, InputPreprocess::ResizeMode::kStretch);
  EXPECT_EQ(raw.resize_width, 30);
  EXPECT_THAT(ErrorOf([] {
                MakePreset("torch-imagenet", {"x", {1, 1, 20, 20}});
              }),
              HasSubstr("one channel"));
  EXPECT_THAT(ErrorOf([] { MakePreset("raw", {"x", {1, 40}}); }), HasSubstr("1x40"));
  EXPECT_THAT(ErrorOf([] {
                MakePreset("tf", {"x", {1, 3, 4, 4}});
              }),
              HasSubstr("torch-imagenet | tf-imagenet | caffe-imagenet | raw"));
}

TEST(PresetTest, WhatIsWrittenReadsBackTheSame) {
  for (const char* name : {"torch-imagenet", "tf-imagenet", "caffe-imagenet", "raw"}) {
    InputPreprocess preset = MakePreset(name, {"odd: \"name\"", {1, 64, 64, 3}});
    preset.resize = InputPreprocess::ResizeMode::kLetterbox;
    EXPECT_THAT(WritePreprocess({preset}), Not(AnyOf(HasSubstr("fill"), HasSubstr("align"))));
    preset.fill = {1, 0, 255};
    preset.align = InputPreprocess::Align::kTopLeft;
    const std::string text = WritePreprocess({preset});
    const InputPreprocess read = ReadPreprocess(text, "p").inputs[0];
    EXPECT_EQ(read.name, preset.name);
    EXPECT_EQ(read.mean, preset.mean);
    EXPECT_EQ(read.scale, preset.scale);
    EXPECT_EQ(read.color, preset.color);
    EXPECT_EQ(read.layout, preset.layout);
    EXPECT_EQ(read.resize, preset.resize);
    EXPECT_EQ(read.fill, preset.fill);
    EXPECT_EQ(read.align, preset.align);
    EXPECT_EQ(read.crop_height, preset.crop_height);
    EXPECT_EQ(WritePreprocess({read}), text);
  }
}

TEST(ApplyTest, MeanAndScalePerChannelInBothLayouts) {
  const Image image{1, 2, 3, {10, 20, 30, 40, 50, 60}};
  EXPECT_THAT(
      Apply(Recipe("color: RGB, mean: [10, 0, 10], scale: [1, 0.5, 2]"), image, {1, 3, 1, 2}, "s"),
      ElementsAre(0, 30, 10, 25, 40, 100));
  EXPECT_THAT(
      Apply(Recipe("color: RGB, layout: NHWC, mean: 10, scale: [2]"), image, {1, 1, 2, 3}, "s"),
      ElementsAre(0, 20, 40, 60, 80, 100));
}

TEST(ApplyTest, StretchIsBilinearWithHalfPixelCentres) {
  // 2 -> 4: output pixel i lies at (i + 0.5) / 2 - 0.5 = -0.25 (edge), 0.25, 0.75, 1.25 (edge).
  const Image image{1, 2, 1, {0, 100}};
  EXPECT_THAT(Apply(Recipe("color: GRAY, resize: {height: 1, width: 4, mode: stretch}"), image,
                    {1, 1, 1, 4}, "s"),
              ElementsAre(0, 25, 75, 100));
}

TEST(ApplyTest, ShortSideThenCentreCrop) {
  // 2 x 5 keeps its size; the crop of 2 x 2 begins at column (5 - 2) / 2 = 1.
  const Image image{2, 5, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  EXPECT_THAT(Apply(Recipe("color: GRAY, resize: {height: 2, width: 2, mode: short_side}, crop: "
                           "{height: 2, width: 2}"),
                    image, {1, 1, 2, 2}, "s"),
              ElementsAre(1, 2, 6, 7));
}

TEST(ApplyTest, LetterboxCentresOnBlack) {
  const Image image{1, 2, 1, {50, 50}};
  EXPECT_THAT(Apply(Recipe("color: GRAY, resize: {height: 4, width: 4, mode: letterbox}"), image,
                    {1, 1, 4, 4}, "s"),
              ElementsAre(0, 0, 0, 0, 50, 50, 50, 50, 50, 50, 50, 50, 0, 0, 0, 0));
}

TEST(ApplyTest, LetterboxFillsEachChannelAndAligns) {
  const Image image{1, 2, 3, {50, 51, 52, 50, 51, 52}};
  const std::string letterbox = "color: RGB, layout: NHWC, resize: {height: 2, width: 2, mode: ";
  EXPECT_THAT(Apply(Recipe(letterbox + "letterbox, fill: [1, 2, 3], align: top-left}"), image,
                    {1, 2, 2, 3}, "s"),
              ElementsAre(50, 51, 52, 50, 51, 52, 1, 2, 3, 1, 2, 3));
  EXPECT_THAT(Apply(Recipe(letterbox + "letterbox, fill: 9}"), image, {1, 2, 2, 3}, "s"),
              ElementsAre(50, 51, 52, 50, 51, 52, 9, 9, 9, 9, 9, 9));
}

TEST(ApplyTest, WhatDoesNotFitIsNamed) {
  const Image gray{2, 2, 1, {1, 2, 3, 4}};
  const auto error = [&](const std::string& fields, const Shape& shape) {
    return ErrorOf([&] { Apply(Recipe(fields), gray, shape, "cat.png"); });
  };
  EXPECT_THAT(error("color: RGB", {1, 3, 2, 2}), HasSubstr("cat.png"));
  EXPECT_THAT(error("color: GRAY", {1, 3, 2, 2}), HasSubstr("3 channels"));
  EXPECT_THAT(error("color: GRAY", {1, 1, 4, 4}), HasSubstr("4x4"));
  EXPECT_THAT(error("color: GRAY", {2, 1, 2, 2}), HasSubstr("batch 1"));
  EXPECT_THAT(error("color: GRAY, crop: {height: 3, width: 1}", {1, 1, 3, 1}), HasSubstr("3x1"));
}

TEST(DecodeImageTest, ChannelOrder) {
  const TemporaryFolder folder;
  cv::imwrite(folder / "c.png",
              cv::Mat(1, 1, CV_8UC3, cv::Scalar(1, 2, 3)));  // blue 1, green 2, red 3
  EXPECT_THAT(DecodeImage(folder / "c.png", InputPreprocess::Color::kBgr).pixels,
              ElementsAre(1, 2, 3));
  EXPECT_THAT(DecodeImage(folder / "c.png", InputPreprocess::Color::kRgb).pixels,
              ElementsAre(3, 2, 1));
  EXPECT_THAT(DecodeImage(folder / "c.png", InputPreprocess::Color::kGray).pixels, ElementsAre(2));
  WriteText(folder / "bad.png", "not an image");
  for (const char* name : {"bad.png", "absent.png"}) {
    EXPECT_THAT(ErrorOf([&] { DecodeImage(folder / name, InputPreprocess::Color::kRgb); }),
                HasSubstr(name));
  }
}

}  // namespace
}  // namespace rshift
