#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OneNode;
using testing::OutputOf;

Resize ResizeOf(const Graph& g) { return std::get<Resize>(g.nodes().at(0).op); }

TEST(ImportResize, UpsampleAndOpset10AreAsymmetric) {
  const Graph seven =
      OneNode(7, {1, 2, 3, 4}, "Upsample", {"x"}, {{"scales", std::vector<float>{1, 1, 2, 1.5f}}})
          .Import();
  EXPECT_EQ(OutputOf(seven).shape, (Shape{1, 2, 6, 6}));
  EXPECT_EQ(ResizeOf(seven).coordinate, CoordinateMode::kAsymmetric);
  EXPECT_EQ(ResizeOf(seven).nearest, NearestMode::kFloor);
  auto nine = OneNode(9, {1, 2, 3, 4}, "Upsample", {"x", "s"}, {{"mode", "linear"}});
  nine.Floats("s", {4}, {1, 1, 2, 2});
  EXPECT_EQ(ResizeOf(nine.Import()).mode, ResizeMode::kLinear);
  auto down = OneNode(10, {1, 2, 4, 4}, "Resize", {"x", "s"});
  down.Floats("s", {4}, {1, 1, 0.6f, 0.6f});
  const Graph g = down.Import();
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(ResizeOf(g).nearest, NearestMode::kCeil);
}

TEST(ImportResize, ScalesOrSizes) {
  auto scales = OneNode(13, {1, 2, 3, 4}, "Resize", {"x", "", "s"},
                        {{"mode", "cubic"}, {"coordinate_transformation_mode", "align_corners"}});
  scales.Floats("s", {4}, {1, 1, 2, 2});
  const Graph g = scales.Import();
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 2, 6, 8}));
  EXPECT_EQ(ResizeOf(g).mode, ResizeMode::kCubic);
  EXPECT_EQ(ResizeOf(g).coordinate, CoordinateMode::kAlignCorners);
  auto sizes = OneNode(13, {1, 2, 3, 4}, "Resize", {"x", "", "", "z"});
  sizes.Ints("z", {4}, {1, 2, 7, 2});
  const Graph s = sizes.Import();
  EXPECT_EQ(OutputOf(s).shape, (Shape{1, 2, 7, 2}));
  EXPECT_THAT(ResizeOf(s).scales, ElementsAre(1.0f, 1.0f, 7.0f / 3.0f, 0.5f));
  EXPECT_EQ(ResizeOf(s).coordinate, CoordinateMode::kHalfPixel);
  EXPECT_EQ(ResizeOf(s).nearest, NearestMode::kRoundPreferFloor);
}

TEST(ImportResize, AxesAndAspectRatio) {
  auto b = OneNode(18, {1, 2, 4, 8}, "Resize", {"x", "", "", "z"},
                   {{"axes", {2, 3}}, {"keep_aspect_ratio_policy", "not_larger"}});
  b.Ints("z", {2}, {8, 8});
  EXPECT_EQ(OutputOf(b.Import()).shape, (Shape{1, 2, 4, 8}));
  auto larger = OneNode(18, {1, 2, 4, 8}, "Resize", {"x", "", "", "z"},
                        {{"axes", {2, 3}}, {"keep_aspect_ratio_policy", "not_smaller"}});
  larger.Ints("z", {2}, {8, 8});
  EXPECT_EQ(OutputOf(larger.Import()).shape, (Shape{1, 2, 8, 16}));
}

TEST(ImportResize, RefusesWhatItCannotDo) {
  const auto error = [](const std::vector<testing::Attribute>& attributes,
                        std::vector<float> scales) {
    auto b = OneNode(18, {1, 2, 4, 8}, "Resize", {"x", "", "s"}, attributes);
    b.Floats("s", {4}, scales);
    return b.ImportError();
  };
  EXPECT_THAT(error({{"coordinate_transformation_mode", "tf_crop_and_resize"}}, {1, 1, 2, 2}),
              HasSubstr("tf_crop_and_resize needs a roi"));
  EXPECT_THAT(error({{"coordinate_transformation_mode", "corners"}}, {1, 1, 2, 2}),
              HasSubstr("'corners' is not supported"));
  EXPECT_THAT(error({}, {1, 1, 0.1f, 0.1f}), HasSubstr("expected 1 or more"));
  EXPECT_THAT(error({}, {1, 1, -2, 2}), HasSubstr("a scale is -2"));
}

}  // namespace
}  // namespace rshift
