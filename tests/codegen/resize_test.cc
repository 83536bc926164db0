#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/lowering/lowering.h"
#include "isa/attributes.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

using Indices = std::vector<int64_t>;

Indices Nearest(CoordinateMode coordinate, NearestMode nearest, float scale, int64_t in,
                int64_t out) {
  Resize op;
  op.coordinate = coordinate;
  op.nearest = nearest;
  return lowering::NearestIndices(op, scale, in, out);
}

// The indices behind the ONNX specification's own examples of Resize.
TEST(NearestIndices, ExamplesOfTheOnnxSpecification) {
  // resize_upsample_scales_nearest: 2 -> 4 rows by 2, 2 -> 6 columns by 3, half_pixel,
  // round_prefer_floor
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor, 2.0f, 2, 4),
            (Indices{0, 0, 1, 1}));
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor, 3.0f, 2, 6),
            (Indices{0, 0, 0, 1, 1, 1}));
  // resize_downsample_scales_nearest: 2 -> 1 and 4 -> 2 by 0.6
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor, 0.6f, 2, 1),
            (Indices{0}));
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor, 0.6f, 4, 2),
            (Indices{0, 2}));
  // resize_upsample_sizes_nearest_ceil_half_pixel: 4 -> 8 by 2
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kCeil, 2.0f, 4, 8),
            (Indices{0, 1, 1, 2, 2, 3, 3, 3}));
  // resize_upsample_sizes_nearest_floor_align_corners: 4 -> 8
  EXPECT_EQ(Nearest(CoordinateMode::kAlignCorners, NearestMode::kFloor, 2.0f, 4, 8),
            (Indices{0, 0, 0, 1, 1, 2, 2, 3}));
  // resize_upsample_sizes_nearest_round_prefer_ceil_asymmetric: 4 -> 8
  EXPECT_EQ(Nearest(CoordinateMode::kAsymmetric, NearestMode::kRoundPreferCeil, 2.0f, 4, 8),
            (Indices{0, 1, 1, 2, 2, 3, 3, 3}));
}

TEST(NearestIndices, HalvesGoTheWayTheModeSays) {
  // asymmetric by 2: coordinates 0, 0.5, 1, 1.5
  EXPECT_EQ(Nearest(CoordinateMode::kAsymmetric, NearestMode::kRoundPreferFloor, 2.0f, 2, 4),
            (Indices{0, 0, 1, 1}));
  EXPECT_EQ(Nearest(CoordinateMode::kAsymmetric, NearestMode::kRoundPreferCeil, 2.0f, 2, 4),
            (Indices{0, 1, 1, 1}));
  EXPECT_EQ(Nearest(CoordinateMode::kAsymmetric, NearestMode::kFloor, 2.0f, 2, 4),
            (Indices{0, 0, 1, 1}));
  EXPECT_EQ(Nearest(CoordinateMode::kAsymmetric, NearestMode::kCeil, 2.0f, 2, 4),
            (Indices{0, 1, 1, 1}));
}

TEST(NearestIndices, OneOutputPixel) {
  // half_pixel: the middle, 1.5; pytorch_half_pixel and align_corners: the first
  EXPECT_EQ(Nearest(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor, 0.25f, 4, 1),
            (Indices{1}));
  EXPECT_EQ(Nearest(CoordinateMode::kPytorchHalfPixel, NearestMode::kRoundPreferFloor, 0.25f, 4, 1),
            (Indices{0}));
  EXPECT_EQ(Nearest(CoordinateMode::kAlignCorners, NearestMode::kRoundPreferFloor, 0.25f, 4, 1),
            (Indices{0}));
}

TEST(NearestIndices, HalfPixelSymmetricStaysCentred) {
  // 4 -> 3 by 0.8 (3.2 rounded down): half a pixel on both sides is left out.
  EXPECT_EQ(
      Nearest(CoordinateMode::kHalfPixelSymmetric, NearestMode::kRoundPreferFloor, 0.8f, 4, 3),
      (Indices{0, 1, 3}));
}

TEST(NearestIndices, AlwaysInsideTheInput) {
  for (int coordinate = 0; coordinate <= 4; ++coordinate) {
    for (int nearest = 0; nearest <= 3; ++nearest) {
      for (const float scale : {1e-30f, 0.3f, 0.9999f, 1.0f, 1.7f, 1000.0f, 1e30f}) {
        for (const int64_t in : {1, 3, 10}) {
          for (const int64_t index :
               Nearest(CoordinateMode{static_cast<uint8_t>(coordinate)},
                       NearestMode{static_cast<uint8_t>(nearest)}, scale, in, 7)) {
            ASSERT_GE(index, 0);
            ASSERT_LT(index, in);
          }
        }
      }
    }
  }
}

TEST(LowerResize, NearestIsAListOfIndicesForAnyType) {
  for (const Kind& kind : {Nhwc({1, 2, 3, 4}), QuantizedNhwc({1, 2, 3, 4}, {0.5f, 0})}) {
    TestGraph test;
    const ValueId x = test.Input("x", kind);
    Kind out = kind;
    out.shape = {1, 4, 3, 4};
    Resize op;
    op.coordinate = CoordinateMode::kAsymmetric;
    op.nearest = NearestMode::kFloor;
    op.scales = {1.0f, 2.0f, 1.0f, 1.0f};
    test.Output(test.Node("y", out, op, {x}));
    const ProgramImage image = CompileChecked(test);
    ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kResizeNearest});
    EXPECT_EQ(ListOf(image, image.commands[0], Field::kList),
              (Indices{0, /*rows*/ 0, 0, 1, 1, /*columns*/ 0, 1, 2, /*channels*/ 0, 1, 2, 3}));
  }
}

TEST(LowerResize, CubicCarriesItsParameters) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 2, 3, 4}));
  const Resize op{
      {ResizeMode::kCubic, CoordinateMode::kAlignCorners, NearestMode::kFloor, -0.5f, true},
      {1.0f, 2.0f, 2.0f, 1.0f}};
  test.Output(test.Node("y", Nhwc({1, 4, 6, 4}), op, {x}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kResizeF32});
  const Command& resize = image.commands[0];
  EXPECT_EQ(resize.Get(Field::kMode), 2);
  EXPECT_EQ(resize.Get(Field::kCoordinate), 2);
  EXPECT_EQ(resize.Get(Field::kNearest), 2);
  EXPECT_EQ(resize.GetFloat(Field::kAlphaF), -0.5f);
  EXPECT_EQ(resize.Get(Field::kFlags), 1);
  EXPECT_EQ(ConstantOf<float>(image, resize, Field::kList), op.scales);
}

TEST(LowerResize, RefusesScalesThatAreNotPositiveAndLinearIntegers) {
  TestGraph zero;
  Resize op;
  op.scales = {1.0f, 0.0f, 1.0f, 1.0f};
  zero.Output(zero.Node("y", Nhwc({1, 4, 3, 4}), op, {zero.Input("x", Nhwc({1, 2, 3, 4}))}));
  CompileError(zero, ErrorCode::kInvalidInput);
  TestGraph integer;
  op.scales = {1.0f, 2.0f, 1.0f, 1.0f};
  op.mode = ResizeMode::kLinear;
  const QuantParams quant{0.5f, 0};
  integer.Output(integer.Node("y", QuantizedNhwc({1, 4, 3, 4}, quant), op,
                              {integer.Input("x", QuantizedNhwc({1, 2, 3, 4}, quant))}));
  CompileError(integer, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace rshift
