// Recipes in a program's metadata: what is written reads back, and nothing else is read.
#include "preprocess/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "calibrate/data/preprocess.h"
#include "pipeline/program_interface.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

std::map<size_t, InputPreprocess> Read(const std::string& text) {
  return ReadRecorded(text, "net.rshift");
}

std::string ErrorOfReading(const std::string& text) {
  return ErrorOf(ErrorCode::kCorrupt, [&] { Read(text); });
}

constexpr const char* kLetterbox =
    "1 color=BGR layout=NHWC resize=letterbox:416x320 fill=114,0,255 align=top-left crop=400x300 "
    "mean=103.53,116.28,123.675 scale=0.017,0.0175,1e-20";

TEST(Recorded, ReadsBackAsItWasWritten) {
  const InputPreprocess recipe =
      ReadPreprocess(
          "inputs:\n  - {name: x, color: BGR, layout: NHWC, resize: {height: 416, width: 320, "
          "mode: letterbox, fill: [114, 0, 255], align: top-left}, crop: {height: 400, width: "
          "300}, mean: [103.53, 116.28, 123.675], scale: [0.017, 0.0175, 1e-20]}\n",
          "p")
          .inputs[0];
  EXPECT_EQ(WriteRecorded({{1, recipe}}), kLetterbox);
  const InputPreprocess read = Read(kLetterbox).at(1);
  EXPECT_EQ(read.color, recipe.color);
  EXPECT_EQ(read.layout, recipe.layout);
  EXPECT_EQ(read.resize, recipe.resize);
  EXPECT_EQ(read.resize_height, 416);
  EXPECT_EQ(read.resize_width, 320);
  EXPECT_EQ(read.fill, recipe.fill);
  EXPECT_EQ(read.align, recipe.align);
  EXPECT_EQ(read.crop_height, 400);
  EXPECT_EQ(read.crop_width, 300);
  EXPECT_EQ(read.mean, recipe.mean);
  EXPECT_EQ(read.scale, recipe.scale);
}

TEST(Recorded, SeveralInputsAndTheShortestForm) {
  const std::string text = "0 color=GRAY layout=NCHW mean=0 scale=1\n" + std::string(kLetterbox) +
                           "\n7 color=RGB layout=NCHW resize=short_side:256x256 "
                           "crop=224x224 mean=0 scale=1";
  EXPECT_EQ(Read(text).size(), 3u);
  EXPECT_EQ(WriteRecorded(Read(text)), text);
  EXPECT_TRUE(Read("").empty());
}

TEST(Recorded, WhatIsNotItsFormIsRefused) {
  for (const char* text :
       {"x", "0", "0 color=CMYK layout=NCHW mean=0 scale=1", "0 color=RGB mean=0 scale=1",
        "0 color=RGB layout=NCHW mean=0 scale=1 ", "0 color=RGB layout=NCHW mean=0,1 scale=1",
        "0 color=GRAY layout=NCHW mean=0,1,2 scale=1", "0 color=RGB layout=NCHW mean=nan scale=1",
        "0 color=RGB layout=NCHW mean=0 scale=inf",
        "0 color=RGB layout=NCHW resize=stretch:0x4 mean=0 scale=1",
        "0 color=RGB layout=NCHW resize=stretch:99999x4 mean=0 scale=1",
        "0 color=RGB layout=NCHW resize=short_side:5x4 mean=0 scale=1",
        "0 color=RGB layout=NCHW resize=letterbox:5x4 mean=0 scale=1",
        "0 color=RGB layout=NCHW resize=stretch:5x4 fill=0 align=center mean=0 scale=1",
        "0 color=RGB layout=NCHW crop=-5x4 mean=0 scale=1",
        "0 color=RGB layout=NCHW mean=0 scale=1\n0 color=RGB layout=NCHW mean=0 scale=1"}) {
    EXPECT_THAT(ErrorOfReading(text), HasSubstr("net.rshift: metadata 'pixels' is damaged at"))
        << text;
  }
  std::mt19937 random(20);
  for (int trial = 0; trial < 20000; ++trial) {  // no mutation does worse than be refused
    std::string text = kLetterbox;
    for (int i = 0; i < 2; ++i) text[random() % text.size()] = static_cast<char>(random() % 128);
    if (trial % 3 == 0) text.resize(random() % text.size());
    ErrorOfReading(text);
  }
}

TEST(Recorded, IsWhatTheProgramsOwnInputTakes) {
  Graph graph;
  for (const char* name : {"a", "b"}) {
    Value value;
    value.name = name;
    graph.inputs.push_back(graph.AddValue(value));
  }
  std::map<std::string, std::string> meta = {
      {"preprocess", "inputs:\n  - {name: b, color: RGB, mean: [1, 2, 3], std: 2}\n"}};
  AddRecordedPixels(graph, &meta);
  EXPECT_EQ(meta["pixels"], "1 color=RGB layout=NCHW mean=1,2,3 scale=0.5");
  meta["pixel_inputs"] = "b";  // its mean and scale are in the program
  meta["input_type"] = "s8";
  AddRecordedPixels(graph, &meta);
  EXPECT_EQ(meta["pixels"], "1 color=RGB layout=NCHW mean=128 scale=1");
  meta = {{"preprocess", ""}};
  AddRecordedPixels(graph, &meta);
  EXPECT_FALSE(meta.contains("pixels"));
}

}  // namespace
}  // namespace rshift
