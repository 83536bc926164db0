#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "base/error.h"
#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "quantize/numerics/post_ops.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

constexpr QuantParams kQuant{0.5f, 3};
constexpr Window kWindow{3, 2, 2, 1, 1, 2, 1, 0, 1, 1};

std::vector<int8_t> Counting(int64_t count) {
  std::vector<int8_t> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<int8_t>(i % 251 - 125);
  return values;
}

QConv MakeQConv(int64_t groups, int64_t oc) {
  QConv conv;
  conv.window = kWindow;
  conv.groups = groups;
  for (int32_t i = 0; i < oc; ++i)
    conv.channels.push_back({10 * i - 5, (1 << 30) + i, 30 + i % 20});
  conv.clamp = {-7, 99};
  return conv;
}

// x [1, 8, 8, ic] -> y [1, 4, 7, oc]
TestGraph QConvGraph(const QConv& conv, int64_t ic, int64_t oc) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedNhwc({1, 8, 8, ic}, kQuant));
  const Shape weight_shape = {oc, ic / conv.groups, 3, 2};
  const ValueId w = test.S8("w", weight_shape, Counting(NumElements(weight_shape)));
  test.Output(test.Node("y", QuantizedNhwc({1, 4, 7, oc}, {0.25f, -1}), conv, {x, w}));
  return test;
}

TEST(LowerQConv, PacksWeightsAndRecords) {
  const ProgramImage image = CompileChecked(QConvGraph(MakeQConv(1, 5), 3, 5));
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kConv});
  const Command& conv = image.commands[0];
  EXPECT_EQ(ConstantOf<int8_t>(image, conv, Field::kWeights),
            PackConvolution({1, 5, 3, 3, 2, 2}, Counting(5 * 3 * 6)));
  const auto records = ConstantOf<ChannelRequant>(image, conv, Field::kRequant);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[3].bias, 25);
  EXPECT_EQ(records[3].multiplier, (1 << 30) + 3);
  EXPECT_EQ(records[3].rshift, 33);
  EXPECT_EQ(conv.Tensor(Field::kZeroW), -1);
  EXPECT_EQ(conv.Get(Field::kGroups), 1);
  EXPECT_EQ(conv.Get(Field::kClampLoQ), -7);
  EXPECT_EQ(conv.Get(Field::kClampHiQ), 99);
}

TEST(LowerQConv, CarriesEveryFieldOfTheWindow) {
  const Command conv = CompileChecked(QConvGraph(MakeQConv(1, 5), 3, 5)).commands[0];
  EXPECT_EQ(conv.Get(Field::kKernelH), 3);
  EXPECT_EQ(conv.Get(Field::kKernelW), 2);
  EXPECT_EQ(conv.Get(Field::kStrideH), 2);
  EXPECT_EQ(conv.Get(Field::kStrideW), 1);
  EXPECT_EQ(conv.Get(Field::kDilationH), 1);
  EXPECT_EQ(conv.Get(Field::kDilationW), 2);
  EXPECT_EQ(conv.Get(Field::kPadTop), 1);
  EXPECT_EQ(conv.Get(Field::kPadLeft), 0);
  EXPECT_EQ(conv.Get(Field::kPadBottom), 1);
  EXPECT_EQ(conv.Get(Field::kPadRight), 1);
}

TEST(LowerQConv, TensorsKeepTheirQuantization) {
  const ProgramImage image = CompileChecked(QConvGraph(MakeQConv(1, 5), 3, 5));
  const TensorRecord& y = RecordOf(image, "y");
  EXPECT_TRUE(y.quantized);
  EXPECT_EQ(y.scale, 0.25f);
  EXPECT_EQ(y.zero_point, -1);
  EXPECT_EQ(y.layout, Layout::kNhwc);
}

TEST(LowerQConv, GroupsArePackedOneAfterTheOther) {
  const ProgramImage image = CompileChecked(QConvGraph(MakeQConv(2, 6), 4, 6));
  const Command& conv = image.commands[0];
  EXPECT_EQ(conv.opcode, Opcode::kConv);
  EXPECT_EQ(conv.Get(Field::kGroups), 2);
  EXPECT_EQ(ConstantOf<int8_t>(image, conv, Field::kWeights),
            PackConvWeights({2, 3, 2, 6}, Counting(6 * 2 * 6)));
}

TEST(LowerQConv, OneFilterPerChannelIsDepthwise) {
  const ProgramImage image = CompileChecked(QConvGraph(MakeQConv(4, 4), 4, 4));
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kDepthwise});
  EXPECT_EQ(ConstantOf<int8_t>(image, image.commands[0], Field::kWeights),
            PackDepthwiseWeights(4, 6, Counting(4 * 6)));
}

TEST(LowerQConv, TwoFiltersPerChannelAndASingleChannelAreNotDepthwise) {
  EXPECT_EQ(CompileChecked(QConvGraph(MakeQConv(4, 8), 4, 8)).commands[0].opcode, Opcode::kConv);
  EXPECT_EQ(CompileChecked(QConvGraph(MakeQConv(1, 1), 1, 1)).commands[0].opcode, Opcode::kConv);
}

TEST(LowerQConv, CarriesWeightZeroPointsThatMatter) {
  QConv conv = MakeQConv(1, 2);
  conv.zero_w = {0, 0};
  EXPECT_EQ(CompileChecked(QConvGraph(conv, 3, 2)).commands[0].Tensor(Field::kZeroW), -1);
  conv.zero_w = {0, 5};
  const ProgramImage image = CompileChecked(QConvGraph(conv, 3, 2));
  EXPECT_EQ(ConstantOf<int32_t>(image, image.commands[0], Field::kZeroW), conv.zero_w);
  conv.zero_w = {5};
  EXPECT_THAT(CompileError(QConvGraph(conv, 3, 2), ErrorCode::kInternal),
              HasSubstr("1 weight zero points, expected 2"));
}

TEST(LowerQConv, CarriesRoundingAndPostOperationsWithTheirAddend) {
  QConv conv = MakeQConv(1, 5);
  conv.rounding = Rounding::kFloatZeroEven;
  for (ChannelRequant& channel : conv.channels) {
    channel.multiplier = std::bit_cast<int32_t>(0.125f);
    channel.rshift = std::bit_cast<int32_t>(-3.5f);
  }
  conv.post_ops = {{PostOpKind::kSum, 0, 0, 0.5f}, {PostOpKind::kElu, 2, 0, 1}};
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedNhwc({1, 8, 8, 3}, kQuant));
  const ValueId old = test.Input("old", QuantizedNhwc({1, 4, 7, 5}, {0.25f, -1}));
  const ValueId w = test.S8("w", {5, 3, 3, 2}, Counting(5 * 3 * 6));
  test.Output(test.Node("y", QuantizedNhwc({1, 4, 7, 5}, {0.25f, -1}), conv, {x, w, old}));
  const ProgramImage image = CompileChecked(test);
  const Command& command = image.commands[0];
  EXPECT_EQ(command.Get(Field::kRounding), static_cast<int64_t>(Rounding::kFloatZeroEven));
  EXPECT_EQ(ConstantOf<float>(image, command, Field::kList),
            (std::vector<float>{0, 0, 0, 0.5f, 6, 2, 0, 1}));
  EXPECT_EQ(RecordOf(image, command, Field::kSrc2).name, "old");
  const auto records = ConstantOf<ChannelRequant>(image, command, Field::kRequant);
  EXPECT_EQ(std::bit_cast<float>(records[4].rshift), -3.5f);
  EXPECT_EQ(command.GetFloat(Field::kScaleF), 0.0f);
}

// The file's numbers of post-operations are the graph's and the runtime's.
static_assert(kPostOpKindCount == kPostOpKindCount);
#define RSHIFT_SAME(name) \
  static_assert(static_cast<int32_t>(PostOpKind::name) == static_cast<int32_t>(PostOpKind::name))
RSHIFT_SAME(kSum);
RSHIFT_SAME(kRelu);
RSHIFT_SAME(kTanh);
RSHIFT_SAME(kLinear);
RSHIFT_SAME(kClip);
RSHIFT_SAME(kLogistic);
RSHIFT_SAME(kElu);
RSHIFT_SAME(kAbs);
RSHIFT_SAME(kSqrt);
RSHIFT_SAME(kSquare);
#undef RSHIFT_SAME

TEST(LowerQConv, CarriesTheAscendTail) {
  QConv conv = MakeQConv(4, 4);
  conv.rounding = Rounding::kHalfFloat;
  conv.half = {.relu = true,
               .sqrt_dequant = false,
               .sqrt_quant = true,
               .quant_scale = 3.5f,
               .quant_offset = -7,
               .mode = RealRounding::kCeil};
  const Command command = CompileChecked(QConvGraph(conv, 4, 4)).commands[0];
  EXPECT_EQ(command.opcode, Opcode::kDepthwise);
  EXPECT_EQ(command.Get(Field::kRounding), static_cast<int64_t>(Rounding::kHalfFloat));
  EXPECT_EQ(command.Get(Field::kFlags), 5);
  EXPECT_EQ(command.Get(Field::kMode), static_cast<int64_t>(RealRounding::kCeil));
  EXPECT_EQ(command.GetFloat(Field::kScaleF), 3.5f);
  EXPECT_EQ(command.GetFloat(Field::kOffsetF), -7.0f);
  EXPECT_EQ(command.Tensor(Field::kSrc2), -1);
}

TEST(LowerQConv, RefusesNegativePadsAndPlainLayout) {
  QConv conv = MakeQConv(1, 2);
  conv.window.pad_left = -1;
  EXPECT_THAT(CompileError(QConvGraph(conv, 3, 2), ErrorCode::kUnsupported),
              HasSubstr("pad_left is -1"));
  TestGraph plain = QConvGraph(MakeQConv(1, 2), 3, 2);
  plain.graph.value(plain.graph.inputs[0]).layout = Layout::kPlain;
  EXPECT_THAT(CompileError(plain, ErrorCode::kUnsupported), HasSubstr("not in NHWC layout"));
}

TEST(LowerQConv, RefusesAWrongNumberOfChannels) {
  CompileError(QConvGraph(MakeQConv(1, 4), 3, 5), ErrorCode::kInternal);
}

TEST(LowerConv, KeepsFloatWeightsInOnnxOrder) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 4, 4, 2}));
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  const ValueId w = test.Floats("w", {3, 2, 1, 1}, weights);
  const ValueId b = test.Floats("b", {3}, {7, 8, 9});
  test.Output(test.Node("y", Nhwc({1, 4, 4, 3}),
                        Conv{.window = {}, .groups = 1, .clamp = {0.0f, 6.0f}}, {x, w, b}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kConvF32});
  const Command& conv = image.commands[0];
  EXPECT_EQ(ConstantOf<float>(image, conv, Field::kWeights), weights);
  EXPECT_EQ(RecordOf(image, conv, Field::kWeights).shape, (Shape{3, 2, 1, 1}));
  EXPECT_EQ(ConstantOf<float>(image, conv, Field::kSrc3), (std::vector<float>{7, 8, 9}));
  EXPECT_EQ(conv.GetFloat(Field::kClampLoF), 0.0f);
  EXPECT_EQ(conv.GetFloat(Field::kClampHiF), 6.0f);
}

TEST(LowerConvTranspose, WeightsMayBeComputedAndBiasAbsent) {
  TestGraph test;
  const ValueId x = test.Input("x", Nhwc({1, 4, 4, 2}));
  const ValueId w = test.Input("w", F32({2, 3, 2, 2}));
  ConvTranspose op;
  op.window = {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  test.Output(test.Node("y", Nhwc({1, 8, 8, 3}), op, {x, w, ValueId()}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kConvTransposeF32});
  EXPECT_EQ(image.commands[0].Tensor(Field::kSrc3), -1);
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kWeights).name, "w");
  EXPECT_EQ(image.commands[0].Get(Field::kStrideW), 2);
}

}  // namespace
}  // namespace rshift
