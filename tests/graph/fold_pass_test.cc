// FoldBatchNorm, FoldAffine, FoldPad, FuseActivation, RemoveIdentity.
#include <gmock/gmock.h>

#include <limits>

#include "graph/dump.h"
#include "graph/passes/passes.h"
#include "tests/base/error_of.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr float kInf = std::numeric_limits<float>::infinity();

Graph Checked(Graph (*pass)(Graph), const Graph& before) {
  Graph after = pass(before);
  ExpectSameResults(before, after, /*observed=*/true);
  return after;
}

TEST(FoldBatchNorm, GoesIntoConvAndTakesTheLastName) {
  Net net;
  const ValueId x = net.Input("x", {2, 4, 5, 7});
  const ValueId y = net.ConvOf(x, 6, {.kernel_h = 3, .kernel_w = 3}, 2, false, "conv");
  const Graph after = Checked(FoldBatchNorm, net.Done({net.BatchNormOf(y, "bn")}));
  EXPECT_EQ(Ops(after), "Conv");
  EXPECT_THAT(Names(after), Contains("bn"));
  EXPECT_THAT(Names(after), Not(Contains("conv")));
}

TEST(FoldBatchNorm, WorkedExample) {
  Net net;  // one channel: y = 2x + 3; bn = (y - 1) / sqrt(3 + 1) * 4 + 5 = 4x + 9
  const ValueId x = net.Input("x", {1, 1, 1, 1});
  const ValueId y =
      net.Add(Conv{}, {x, net.Floats({1, 1, 1, 1}, {2}), net.Floats({1}, {3})}, {1, 1, 1, 1});
  const ValueId bn = net.Like(BatchNorm{1.0f}, {y, net.Floats({1}, {4}), net.Floats({1}, {5}),
                                                net.Floats({1}, {1}), net.Floats({1}, {3})});
  const Graph after = FoldBatchNorm(net.Done({bn}));
  ASSERT_EQ(Ops(after), "Conv");
  EXPECT_EQ(after.value(after.nodes()[0].inputs[1]).constant->As<float>()[0], 4.0f);
  EXPECT_EQ(after.value(after.nodes()[0].inputs[2]).constant->As<float>()[0], 9.0f);
}

TEST(FoldBatchNorm, GoesIntoConvTransposeWithGroupsAndMatMul) {
  Net net;
  const ValueId x = net.Input("x", {2, 4, 5, 7});
  const ConvTranspose up{{.kernel_h = 2, .kernel_w = 3, .stride_h = 2}, 2, 0, 0, {}};
  const ValueId y = net.Add(up, {x, net.Random({4, 3, 2, 3})}, {2, 6, 10, 9});
  const ValueId z = net.Dense(net.Input("z", {3, 5}), 4);
  const Graph after = Checked(FoldBatchNorm, net.Done({net.BatchNormOf(y), net.BatchNormOf(z)}));
  EXPECT_EQ(Ops(after), "ConvTranspose MatMul");
}

TEST(FoldBatchNorm, BecomesMulAddWhereNothingCanTakeIt) {
  Net net;
  const ValueId x = net.Input("x", {2, 4, 5, 7});
  const ValueId conv = net.ConvOf(x, 4);
  const ValueId tokens =
      net.Dense(net.Input("t", {2, 3, 5}), 6);  // BatchNorm's channels are the 3 rows
  const Graph after = Checked(
      FoldBatchNorm,
      net.Done({net.BatchNormOf(x, "a"), net.BatchNormOf(conv, "b"), net.Relu(conv, "c"),
                net.BatchNormOf(tokens, "d"), net.BatchNormOf(net.Input("v", {3, 4}), "e")}));
  EXPECT_EQ(Count(after, "BatchNormalization") + Count(after, "BatchNorm"), 0);
  EXPECT_EQ(Count(after, "Mul"), 4);
  EXPECT_EQ(Count(after, "Add"), 4);
  EXPECT_EQ(after.value(after.FindValue("a__scale")).shape, (Shape{4, 1, 1}));
  EXPECT_EQ(after.value(after.FindValue("e__scale")).shape, (Shape{4}));
}

TEST(FoldBatchNorm, SharedWeightsAreNotTouched) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const ValueId w = net.Random({3, 3, 1, 1});
  const ValueId a = net.Like(Conv{}, {x, w});
  const ValueId b = net.Like(Conv{}, {x, w}, "b");
  Checked(FoldBatchNorm, net.Done({net.BatchNormOf(a, "a"), b}));
}

TEST(FoldBatchNorm, RefusesComputedParametersByName) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const ValueId scale = net.Input("gamma", {3});
  const ValueId y =
      net.Like(BatchNorm{}, {x, scale, net.Random({3}), net.Random({3}), net.Random({3})});
  const Graph graph = net.Done({y});
  EXPECT_THAT(ErrorOf(ErrorCode::kUnsupported, [&] { FoldBatchNorm(graph); }),
              ::testing::HasSubstr("'gamma'"));
}

TEST(FoldAffine, ConvTakesMulAndAddOfEitherSide) {
  Net net;
  ValueId y = net.ConvOf(net.Input("x", {2, 3, 5, 7}), 4, {}, 1, false);
  y = net.Bin(BinaryOp::kMul, net.Random({4, 1, 1}), y);
  y = net.Bin(BinaryOp::kAdd, y, net.Random({1, 4, 1, 1}));
  y = net.Bin(BinaryOp::kSub, net.Random({4, 1, 1}), y);
  y = net.Bin(BinaryOp::kDiv, y, net.Scalar(3.0f));
  y = net.Bin(BinaryOp::kSub, y, net.Scalar(0.5f), "last");
  const Graph after = Checked(FoldAffine, net.Done({y}));
  EXPECT_EQ(Ops(after), "Conv");
  EXPECT_EQ(after.value(after.nodes()[0].outputs[0]).name, "last");
}

// A product of two activations has no bias: it is an integer one without.
TEST(FoldAffine, MatMulTakesARowWhereItsWeightsAreConstant) {
  Net net;
  const ValueId a = net.Add(MatMul{}, {net.Input("x", {2, 3, 5}), net.Random({5, 4})}, {2, 3, 4});
  const ValueId b = net.Add(MatMul{}, {net.Input("y", {2, 3}), net.Input("z", {3, 4})}, {2, 4});
  const ValueId c = net.Add(MatMul{}, {net.Input("u", {2, 3}), net.Input("v", {3, 4})}, {2, 4});
  const Graph after = Checked(
      FoldAffine,
      net.Done({net.Bin(BinaryOp::kMul, net.Bin(BinaryOp::kAdd, net.Random({4}), a), net.Scalar(2)),
                net.Bin(BinaryOp::kAdd, b, net.Random({4})),
                net.Bin(BinaryOp::kMul, c, net.Random({4}))}));
  EXPECT_EQ(Ops(after), "MatMul MatMul MatMul Add Mul");
}

TEST(FoldAffine, LeavesWhatIsNotPerChannel) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const ValueId a = net.Bin(BinaryOp::kAdd, net.ConvOf(x, 4), net.Random({7}));
  const ValueId b =
      net.Bin(BinaryOp::kAdd, net.ConvOf(x, 1), net.Random({4, 1, 1}));  // grows the shape
  const ValueId c = net.Bin(BinaryOp::kDiv, net.Scalar(1.0f), net.ConvOf(x, 4));
  const ValueId conv = net.ConvOf(x, 4);
  const ValueId d = net.Bin(BinaryOp::kAdd, conv, net.Random({4, 1, 1}));
  const Graph after = FoldAffine(net.Done({a, b, c, d, conv}));
  EXPECT_EQ(Count(after, "Add"), 3);
  EXPECT_EQ(Count(after, "Div"), 1);
}

TEST(FoldAffine, MergesChainsWithoutConv) {
  Net net;
  ValueId y = net.Relu(net.Input("x", {2, 3, 5, 7}));
  y = net.Bin(BinaryOp::kMul, y, net.Random({3, 1, 1}));
  y = net.Bin(BinaryOp::kAdd, y, net.Random({3, 1, 1}));
  y = net.Bin(BinaryOp::kMul, y, net.Random({3, 1, 1}));
  y = net.Bin(BinaryOp::kAdd, y, net.Random({3, 1, 1}), "last");
  const Graph before = net.Done({net.Relu(y)});
  const Graph after = FoldAffine(before);
  ExpectSameResults(before, after);
  EXPECT_EQ(Ops(after), "Clip Mul Add Clip");
  EXPECT_THAT(Names(after), Contains("last"));
}

TEST(FoldAffine, ChainStopsAtAValueThatOthersRead) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId a = net.Bin(BinaryOp::kAdd, x, net.Random({3, 1, 1}), "a");
  const ValueId b = net.Bin(BinaryOp::kMul, a, net.Random({3, 1, 1}), "b");
  const ValueId c = net.Bin(BinaryOp::kAdd, b, net.Random({3, 1, 1}), "c");
  const Graph after = Checked(FoldAffine, net.Done({c, a}));
  EXPECT_EQ(Ops(after), "Add Mul Add");
}

TEST(FoldAffine, ChainsAlongTheLastDimensionAreAProductAndASum) {
  Net net;
  const ValueId x = net.Input("x", {2, 5, 7, 3});
  const ValueId a = net.Bin(BinaryOp::kSub, x, net.Random({3}));
  const ValueId b = net.Bin(BinaryOp::kMul, net.Random({1, 1, 3}), a);
  const ValueId c = net.Bin(BinaryOp::kDiv, b, net.Random({3}, 0.5f, 2.0f), "c");
  const ValueId rows = net.Bin(BinaryOp::kSub, c, net.Random({7, 1}));  // no channels
  const Graph after = Checked(FoldAffine, net.Done({net.Relu(rows)}));
  EXPECT_EQ(Ops(after), "Mul Add Sub Clip");
}

TEST(FoldPad, ZerosAroundHAndWBecomeTheWindowsPads) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId p =
      net.Add(Pad{PadMode::kConstant, {0, 0, 1, 2}, {0, 0, 0, 1}, 0.0f}, {x}, {2, 3, 6, 10}, "p");
  const ValueId y = net.ConvOf(p, 4, {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_right = 2});
  const ValueId z =
      net.PoolOf(p, AveragePool{{{.kernel_h = 3, .kernel_w = 3}}}, {.kernel_h = 3, .kernel_w = 3});
  const Graph after = Checked(FoldPad, net.Done({y, z}));
  EXPECT_EQ(Ops(after), "Conv AveragePool");
  EXPECT_EQ(std::get<Conv>(after.nodes()[0].op).window.pad_top, 2);
  EXPECT_TRUE(std::get<AveragePool>(after.nodes()[1].op).count_include_pad);
}

TEST(FoldPad, LeavesOtherPads) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const auto pad = [&](Pad p, Shape shape) { return net.Add(p, {x}, std::move(shape)); };
  const ValueId one = pad({PadMode::kConstant, {0, 0, 1, 1}, {0, 0, 1, 1}, 1.0f}, {1, 3, 7, 9});
  const ValueId edge = pad({PadMode::kEdge, {0, 0, 1, 1}, {0, 0, 1, 1}, 0.0f}, {1, 3, 7, 9});
  const ValueId channels =
      pad({PadMode::kConstant, {0, 1, 0, 0}, {0, 0, 0, 0}, 0.0f}, {1, 4, 5, 7});
  const ValueId crop = pad({PadMode::kConstant, {0, 0, -1, 1}, {0, 0, 1, 1}, 0.0f}, {1, 3, 5, 9});
  const ValueId zero = pad({PadMode::kConstant, {0, 0, 1, 1}, {0, 0, 1, 1}, 0.0f}, {1, 3, 7, 9});
  const Window own{.kernel_h = 3, .kernel_w = 3, .pad_top = 1};
  const ValueId pool = net.PoolOf(zero, AveragePool{{own}}, own);
  const ValueId max =
      net.PoolOf(zero, MaxPool{{.kernel_h = 3, .kernel_w = 3}}, {.kernel_h = 3, .kernel_w = 3});
  const Graph after =
      Checked(FoldPad, net.Done({net.ConvOf(one, 2), net.ConvOf(edge, 2), net.ConvOf(channels, 2),
                                 net.ConvOf(crop, 2), pool, max}));
  EXPECT_EQ(Count(after, "Pad"), 5);
}

TEST(FoldPad, WhatIsLessThanAllNumbersAndZerosBehindAReluArePadsOfAMaximum) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const ValueId relu = net.Add(Clip{{0.0f, 6.0f}}, {x}, {1, 3, 5, 7});
  const auto pooled = [&](ValueId from, float value) {
    const Pad pad{PadMode::kConstant, {0, 0, 1, 0}, {0, 0, 1, 2}, value};
    const ValueId p = net.Add(pad, {from}, {1, 3, 7, 9});
    const Window window{.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2};
    return net.PoolOf(p, MaxPool{window}, window);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const float lowest = std::numeric_limits<float>::lowest();
  const Graph after =
      Checked(FoldPad, net.Done({pooled(x, -infinity), pooled(x, lowest), pooled(relu, 0)}));
  EXPECT_EQ(Ops(after), "Clip MaxPool MaxPool MaxPool");
  const Window window = std::get<MaxPool>(after.nodes()[3].op).window;
  EXPECT_EQ(window.pad_top, 1);
  EXPECT_EQ(window.pad_right, 2);
  Net other;
  const ValueId y = other.Input("y", {1, 3, 5, 7});
  const ValueId p =
      other.Add(Pad{PadMode::kConstant, {0, 0, 1, 0}, {0, 0, 1, 2}, -1e30F}, {y}, {1, 3, 7, 9});
  const Window own{.kernel_h = 3, .kernel_w = 3};
  EXPECT_EQ(Ops(FoldPad(other.Done({other.PoolOf(p, MaxPool{own}, own)}))), "Pad MaxPool");
}

TEST(FoldPad, LeavesPadsInWhichAWindowOfCeilModeWouldLie) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 6});
  const ValueId p =
      net.Add(Pad{PadMode::kConstant, {0, 0, 1, 1}, {0, 0, 1, 1}, 0.0f}, {x}, {1, 3, 7, 8});
  // Rows -1, 1, 3, 5 of x begin windows; the last one is behind its 5 rows.
  const Window own{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  const ValueId y = net.Add(AveragePool{{own}}, {p}, {1, 3, 4, 4});
  EXPECT_EQ(Ops(FoldPad(net.Done({y}))), "Pad AveragePool");
}

TEST(FuseActivation, ClipBecomesTheClampAndKeepsItsName) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId conv = net.Relu(net.ConvOf(x, 4), "relu");
  const ValueId sum = net.Like(Clip{{0.0f, 6.0f}}, {net.Bin(BinaryOp::kAdd, conv, conv)}, "relu6");
  const Graph after =
      Checked(FuseActivation, net.Done({net.Like(Clip{{-1.0f, 4.0f}}, {sum}, "clip")}));
  EXPECT_EQ(Ops(after), "Conv Add");
  EXPECT_EQ(std::get<Conv>(after.nodes()[0].op).clamp, (Clamp{0.0f, kInf}));
  EXPECT_EQ(std::get<Binary>(after.nodes()[1].op).clamp, (Clamp{0.0f, 4.0f}));
  EXPECT_THAT(Names(after), Contains("relu"));
  EXPECT_THAT(Names(after), Contains("clip"));
  EXPECT_THAT(Names(after), Not(Contains("relu6")));
}

TEST(FuseActivation, ThroughWhatMovesTheResult) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId rows = net.TransposeOf(net.ConvOf(x, 4, {}, 1, true, "conv"), {0, 2, 3, 1}, "rows");
  const ValueId flat = net.ReshapeTo(net.Relu(rows, "relu"), {2, 140});
  const Graph after = Checked(FuseActivation, net.Done({net.Dense(flat, 3)}));
  EXPECT_EQ(Ops(after), "Conv Transpose Reshape MatMul");
  EXPECT_EQ(std::get<Conv>(after.nodes()[0].op).clamp, (Clamp{0.0f, kInf}));
  EXPECT_THAT(Names(after), Contains("relu"));
  EXPECT_THAT(Names(after), Contains("relu__clamped"));
  EXPECT_THAT(Names(after), Not(Contains("conv")));  // whose numbers there are no longer
}

TEST(FuseActivation, NotThroughWhatOthersReadToo) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId conv = net.ConvOf(x, 4), rows = net.TransposeOf(conv, {0, 2, 3, 1});
  const ValueId other = net.ConvOf(x, 4), moved = net.TransposeOf(other, {0, 2, 3, 1});
  const Graph after =
      Checked(FuseActivation, net.Done({net.Relu(rows), rows, net.Relu(moved), other}));
  EXPECT_EQ(Count(after, "Clip"), 2);
}

TEST(FuseActivation, ClipsThatDoNotOverlap) {
  for (const auto& [first, second] : std::vector<std::pair<Clamp, Clamp>>{{{0, 6}, {7, 9}},
                                                                          {{0, 6}, {-3, -1}},
                                                                          {{-kInf, 1}, {0, kInf}},
                                                                          {{2, 1}, {0, 6}},
                                                                          {{0, 6}, {2, 1}}}) {
    Net net;
    const ValueId x = net.Input("x", {2, 30});
    const Graph after =
        Checked(FuseActivation, net.Done({net.Like(Clip{second}, {net.Like(Clip{first}, {x})})}));
    EXPECT_EQ(Ops(after), "Clip");
  }
}

TEST(FuseActivation, OutputsSharedValuesAndOtherOperatorsBlockIt) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId output = net.ConvOf(x, 4);
  const ValueId shared = net.ConvOf(x, 4);
  const ValueId product = net.Bin(BinaryOp::kMul, x, x);
  const Graph after =
      Checked(FuseActivation, net.Done({output, net.Relu(output), net.Relu(shared),
                                        net.Like(LeakyRelu{}, {shared}), net.Relu(product)}));
  EXPECT_EQ(Count(after, "Clip"), 3);
}

TEST(RemoveIdentity, DropsWhatDoesNothing) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 4});
  ValueId y = net.Like(Identity{}, {net.Relu(x, "relu")});
  y = net.Like(Cast{DType::kF32}, {y});
  y = net.Like(Transpose{{0, 1, 2}}, {y});
  y = net.Like(Reshape{}, {y});
  y = net.Like(Slice{{0, 0, 0}, {1, 1, 1}}, {y});
  y = net.Like(Pad{PadMode::kConstant, {0, 0, 0}, {0, 0, 0}, 0.0f}, {y});
  y = net.Like(Tile{{1, 1, 1}}, {y});
  y = net.Like(Concat{1}, {y});
  y = net.Like(Expand{}, {y}, "out");
  const Graph after = Checked(RemoveIdentity, net.Done({y}));
  EXPECT_EQ(Ops(after), "Clip");
  EXPECT_EQ(after.value(after.outputs[0]).name, "relu");
  EXPECT_EQ(after.output_names, std::vector<std::string>{"out"});
}

TEST(RemoveIdentity, KeepsWhatDoesSomething) {
  Net net;
  const ValueId x = net.Input("x", {2, 2, 2});
  const ValueId cast = net.Add(Cast{DType::kS64}, {x}, {2, 2, 2}, "cast", DType::kS64);
  const ValueId flipped = net.Like(Slice{{1, 0, 0}, {-1, 1, 1}}, {x});
  const ValueId turned = net.TransposeOf(x, {1, 0, 2});
  const ValueId moved = net.Like(Pad{PadMode::kConstant, {1, 0, 0}, {-1, 0, 0}, 0.0f}, {x});
  const Graph after = RemoveIdentity(net.Done({cast, flipped, turned, moved}));
  EXPECT_EQ(Ops(after), "Cast Slice Transpose Pad");
}

}  // namespace
}  // namespace rshift
