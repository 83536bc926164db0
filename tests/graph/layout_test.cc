// The layout pass: what becomes NHWC, what stays, how many transposes are left, and that the
// results and every value under its ONNX name stay the same.
#include <gmock/gmock.h>

#include "graph/dump.h"
#include "graph/passes/layout_order.h"
#include "graph/passes/passes.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

using ::testing::Contains;
using ::testing::Not;

Graph Checked(const Graph& before, int transposes) {
  Graph after = ToNhwc(before);
  EXPECT_EQ(CountTransposes(after), transposes) << DumpGraph(after);
  ExpectSameResults(before, after, /*observed=*/true);
  return after;
}

const Value& Named(const Graph& graph, const std::string& name) {
  return graph.value(graph.FindValue(name));
}

TEST(ElementOrder, NormalizesAwayWhatDoesNotMatter) {
  EXPECT_EQ(Normalize({2, 3, 4, 5}, {0, 1, 2, 3}), (ElementOrder{{120}, {0}}));
  EXPECT_EQ(Normalize({2, 3, 4, 5}, kNhwcPerm), (ElementOrder{{2, 3, 20}, {0, 2, 1}}));
  EXPECT_EQ(Normalize({1, 3, 4, 5}, kNhwcPerm), (ElementOrder{{3, 20}, {1, 0}}));
  EXPECT_TRUE(Normalize({2, 3, 1, 1}, kNhwcPerm).IsPlain());
  EXPECT_TRUE(Normalize({2, 1, 4, 5}, kNhwcPerm).IsPlain());
  EXPECT_TRUE(Normalize({2, 0, 4, 5}, kNhwcPerm).IsPlain());
  EXPECT_TRUE(Normalize({}, {}).IsPlain());
}

TEST(ElementOrder, FindsTheCommonSplit) {
  EXPECT_EQ(CommonDims({6, 20}, {2, 3, 4, 5}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(CommonDims({4, 6}, {6, 4}), std::nullopt);
  EXPECT_EQ(CommonDims({}, {1, 1}), (Shape{}));
}

TEST(ElementOrder, PermutesBytes) {
  const std::vector<uint8_t> bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(PermuteBytes(bytes, 1, {2, 3, 2}, {1, 0, 2}),
            (std::vector<uint8_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  EXPECT_EQ(PermuteBytes(bytes, 2, {2, 3}, {1, 0}),
            (std::vector<uint8_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  EXPECT_EQ(PermuteBytes(bytes, 1, {1, 12}, {1, 0}), bytes);
}

TEST(Layout, ConvReadsAndWritesNhwcAndOutputsLeaveInOnnxOrder) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId y = net.ConvOf(x, 4, {.kernel_h = 3, .kernel_w = 2}, 1, true, "y");
  const Graph after = Checked(net.Done({y}), 2);
  EXPECT_EQ(Ops(after), "Transpose Conv Transpose");
  EXPECT_EQ(Named(after, "y").layout, Layout::kNhwc);
  EXPECT_EQ(Named(after, "y").shape, (Shape{2, 3, 6, 4}));
  EXPECT_EQ(Named(after, "x__nhwc").layout, Layout::kNhwc);
  EXPECT_EQ(after.value(after.outputs[0]).name, "y__nchw");
  EXPECT_EQ(after.value(after.outputs[0]).layout, Layout::kPlain);
}

TEST(Layout, OneChannelAndOnePixelCostNothing) {
  Net net;
  const ValueId x = net.Input("x", {2, 1, 5, 7});
  const ValueId y = net.ConvOf(x, 4, {.kernel_h = 5, .kernel_w = 7}, 1, true, "y");
  const Graph after = Checked(net.Done({y}), 0);
  EXPECT_EQ(Ops(after), "Reshape Conv Reshape");
}

TEST(Layout, TransposeToNhwcBehindConvDisappears) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 5, 7});
  const ValueId head = net.TransposeOf(net.ConvOf(x, 8), {0, 2, 3, 1});
  const ValueId rows = net.ReshapeTo(head, {1, 70, 4}, "rows");
  const Graph after = Checked(net.Done({net.Like(Softmax{2}, {rows}, "scores")}), 1);
  EXPECT_EQ(Ops(after), "Transpose Conv Reshape Softmax");
}

TEST(Layout, NhwcInputOfTheUserDisappears) {
  Net net;
  const ValueId x = net.Input("x", {1, 5, 7, 3});
  const ValueId y = net.ConvOf(net.TransposeOf(x, {0, 3, 1, 2}, "t"), 8);
  const Graph after = Checked(net.Done({net.TransposeOf(y, {0, 2, 3, 1}, "out")}), 0);
  EXPECT_EQ(Ops(after), "Reshape Conv Reshape");
  EXPECT_EQ(Named(after, "t").layout, Layout::kNhwc);
  EXPECT_EQ(Named(after, "out").shape, (Shape{1, 5, 7, 8}));
}

// A model whose own tensors are NHWC: squeeze and excitation of one.
TEST(Layout, ProductsOfNhwcTensorsOfTheUserMoveNothing) {
  Net net;
  const ValueId x = net.Input("x", {1, 5, 7, 3});
  const ValueId y = net.ConvOf(net.TransposeOf(x, {0, 3, 1, 2}), 8);
  const ValueId mean = net.Add(Reduce{ReduceOp::kMean, {2, 3}}, {y}, {1, 8, 1, 1});
  const ValueId gate = net.TransposeOf(net.ConvOf(mean, 8), {0, 2, 3, 1});
  const ValueId scaled =
      net.Bin(BinaryOp::kMul, net.TransposeOf(y, {0, 2, 3, 1}), net.Relu(gate), "scaled");
  const ValueId z = net.ConvOf(net.TransposeOf(scaled, {0, 3, 1, 2}), 4);
  const Graph after = Checked(net.Done({net.TransposeOf(z, {0, 2, 3, 1}, "out")}), 0);
  EXPECT_EQ(Named(after, "scaled").shape, (Shape{1, 5, 7, 8}));
  EXPECT_EQ(Named(after, "scaled").layout, Layout::kPlain);
}

TEST(Layout, WeightsBehindFlattenArePermuted) {
  Net net;
  const ValueId x = net.Input("x", {2, 1, 5, 7});
  const ValueId y = net.Relu(net.ConvOf(x, 3));
  const ValueId flat = net.ReshapeTo(y, {2, 105}, "flat");
  const Graph after = Checked(net.Done({net.Dense(net.Relu(flat, "r"), 4, "out")}), 0);
  EXPECT_EQ(Ops(after), "Reshape Conv Clip Clip Reshape MatMul");
  // Their elements are not in ONNX order, so they do not bear the ONNX names.
  EXPECT_THAT(Names(after), Not(Contains("flat")));
  EXPECT_THAT(Names(after), Not(Contains("r")));
}

TEST(Layout, FlattenReadByOthersIsTransposedOnce) {
  Net net;
  const ValueId x = net.Input("x", {2, 1, 5, 7});
  const ValueId flat = net.ReshapeTo(net.ConvOf(x, 3), {2, 105}, "flat");
  const ValueId soft = net.Like(Softmax{1}, {flat}, "soft");
  const ValueId dense = net.Dense(flat, 4, "dense");
  Checked(net.Done({soft, dense, flat}), 1);
}

TEST(Layout, ChannelShuffleStaysInNhwc) {
  Net net;
  const ValueId x = net.Input("x", {1, 1, 5, 7});
  const ValueId y = net.Shuffle(net.ConvOf(x, 6), 2, "shuffled");
  const ValueId z = net.ConvOf(y, 4);
  const ValueId mean = net.Add(Reduce{ReduceOp::kMean, {2, 3}}, {z}, {1, 4}, "mean");
  const Graph after = Checked(net.Done({mean}), 1);
  EXPECT_EQ(Ops(after), "Reshape Conv Reshape Transpose Reshape Conv ReduceMean");
  EXPECT_EQ(Named(after, "shuffled").layout, Layout::kNhwc);
}

TEST(Layout, HalvesOfAShuffledTensorAreSlices) {
  // ShuffleNet v2: the halves are the even and the odd channels, or the first and the last.
  for (const bool interleaved : {true, false}) {
    Net net;
    const ValueId x = net.ConvOf(net.Input("x", {1, 1, 5, 7}), 6);
    const ValueId pairs = net.ReshapeTo(x, interleaved ? Shape{3, 2, 35} : Shape{2, 3, 35});
    const ValueId moved = interleaved ? net.TransposeOf(pairs, {1, 0, 2}) : pairs;
    const ValueId halves = net.ReshapeTo(moved, {2, 1, 3, 5, 7});
    const ValueId a = net.Add(Gather{0}, {halves, net.Integers({}, {0})}, {1, 3, 5, 7}, "a");
    const ValueId b = net.Add(Gather{0}, {halves, net.Integers({}, {-1})}, {1, 3, 5, 7}, "b");
    const ValueId y = net.Bin(BinaryOp::kSub, net.ConvOf(a, 3), b);
    const Graph after =
        Checked(net.Done({net.Add(Reduce{ReduceOp::kMax, {1, 2, 3}}, {y}, {1}, "max")}), 0);
    EXPECT_EQ(Ops(after), "Reshape Conv Slice Slice Conv Sub ReduceMax");
  }
}

TEST(Layout, BroadcastConstantsArePermuted) {
  Net net;
  const ValueId x = net.ConvOf(net.Input("x", {1, 1, 5, 7}), 6);
  ValueId y = net.Bin(BinaryOp::kMul, x, net.Random({6, 1, 1}));
  y = net.Bin(BinaryOp::kAdd, net.Random({7}), y);
  y = net.Bin(BinaryOp::kSub, y, net.Random({1, 6, 5, 1}));
  y = net.Bin(BinaryOp::kMul, y, net.Scalar(0.5f));
  y = net.Like(PRelu{}, {y, net.Random({6, 1, 1})});
  const ValueId mean = net.Add(Reduce{ReduceOp::kMax, {2, 3}}, {y}, {1, 6, 1, 1}, "max");
  const Graph after = Checked(net.Done({mean}), 0);
  EXPECT_EQ(Ops(after), "Reshape Conv Mul Add Sub Mul PRelu ReduceMax Reshape");
}

TEST(Layout, PReluWithASlopeForEachChannelIsNhwcOnItsOwn) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 4, 5});
  const Graph channel = Checked(net.Done({net.Like(PRelu{}, {x, net.Random({3, 1, 1})})}), 2);
  EXPECT_EQ(Ops(channel), "Transpose PRelu Transpose");
  Net sequence;
  const ValueId s = sequence.Input("x", {2, 3, 5});
  const Graph line =
      Checked(sequence.Done({sequence.Like(PRelu{}, {s, sequence.Random({3, 1})})}), 2);
  EXPECT_EQ(Ops(line), "Transpose Reshape PRelu Reshape Transpose");
  Net other;
  const ValueId z = other.Input("x", {2, 3, 4, 5});
  const Graph column = Checked(other.Done({other.Like(PRelu{}, {z, other.Random({5})})}), 0);
  EXPECT_EQ(Ops(column), "PRelu");
}

TEST(Layout, ReduceMayLeaveAnyOrderBehind) {
  for (const auto& [axes, shape, transposes] :
       std::vector<std::tuple<std::vector<int64_t>, Shape, int>>{{{2, 3}, {2, 6}, 0},
                                                                 {{1}, {2, 5, 7}, 0},
                                                                 {{2}, {2, 6, 7}, 1},
                                                                 {{0, 2}, {6, 7}, 1},
                                                                 {{1, 2}, {2, 7}, 0},
                                                                 {{0, 1, 2, 3}, {}, 0},
                                                                 {{3}, {2, 6, 5, 1}, 1}}) {
    Net net;
    const ValueId x = net.ConvOf(net.Input("x", {2, 1, 5, 7}), 6);
    Checked(net.Done({net.Add(Reduce{ReduceOp::kSum, axes}, {x}, shape, "sum")}), transposes);
  }
}

TEST(Layout, AxesFollow) {
  Net net;
  const ValueId x = net.ConvOf(net.Input("x", {2, 1, 5, 7}), 6);
  const ValueId cat =
      net.Add(Concat{1}, {x, net.ConvOf(x, 3), net.Random({2, 2, 5, 7})}, {2, 11, 5, 7});
  const ValueId cut = net.Add(Slice{{0, 10, 1, 0}, {1, -2, 1, 3}}, {cat}, {2, 4, 3, 3});
  Pad pad{PadMode::kEdge, {0, 1, 0, 2}, {0, 0, 3, -1}, 0.0f};
  const ValueId padded = net.Add(pad, {cut}, {2, 5, 6, 4});
  const ValueId soft = net.Like(Softmax{1}, {padded});
  const ValueId tiled = net.Add(Tile{{1, 2, 1, 3}}, {soft}, {2, 10, 6, 12});
  const ValueId picked = net.Add(Gather{1}, {tiled, net.Integers({3}, {4, -1, 0})}, {2, 3, 6, 12});
  const ValueId one = net.Add(Gather{3}, {picked, net.Integers({}, {-2})}, {2, 3, 6});
  const ValueId best = net.Add(ArgMax{1}, {picked}, {2, 6, 12}, "best", DType::kS64);
  const Graph after = Checked(net.Done({best, one, net.ConvOf(picked, 2)}), 2);
  EXPECT_EQ(Count(after, "Conv"), 3);
}

TEST(Layout, AttentionTransposesStayAsWritten) {
  Net net;
  const ValueId x = net.Input("x", {2, 5, 12});
  const ValueId heads =
      net.TransposeOf(net.ReshapeTo(net.Dense(x, 12), {2, 5, 3, 4}), {0, 2, 1, 3}, "q");
  const ValueId keys = net.TransposeOf(heads, {0, 1, 3, 2}, "k");
  const ValueId scaled = net.Bin(BinaryOp::kMul, heads, net.Scalar(0.5f));
  const ValueId scores = net.Add(MatMul{}, {scaled, keys}, {2, 3, 5, 5}, "scores");
  const Graph after = Checked(net.Done({scores}), 2);
  for (int i = 0; i < after.value_count(); ++i)
    EXPECT_EQ(after.value(ValueId(i)).layout, Layout::kPlain);
}

TEST(Layout, PatchEmbeddingNeedsNoTranspose) {
  Net net;
  const ValueId x = net.ConvOf(net.Input("x", {1, 1, 8, 12}), 6,
                               {.kernel_h = 4, .kernel_w = 4, .stride_h = 4, .stride_w = 4});
  const ValueId tokens = net.TransposeOf(net.ReshapeTo(x, {1, 6, 6}), {0, 2, 1}, "tokens");
  Checked(net.Done({net.Like(LayerNorm{2}, {tokens, net.Random({6}), net.Random({6})}, "out")}), 0);
}

// Hiera's order of tokens: three times, 2 x 2 neighbours go apart. One Transpose of the whole would
// have 9 dimensions.
TEST(Layout, TransposesOfMoreThan8DimensionsStaySeveral) {
  Net net;
  ValueId tokens = net.Input("x", {1, 16, 16, 3});
  for (int64_t count = 1, size = 16; count < 64; count *= 4, size /= 2) {
    const ValueId split = net.ReshapeTo(tokens, {count, size / 2, 2, size / 2, 2, 3});
    const ValueId moved = net.TransposeOf(split, {0, 2, 4, 1, 3, 5});
    tokens = net.ReshapeTo(moved, {count * 4, size / 2, size / 2, 3});
  }
  const ValueId rows = net.ReshapeTo(tokens, {1, 256, 3});
  const Graph after = Checked(
      net.Done({net.Like(LayerNorm{2}, {rows, net.Random({3}), net.Random({3})}, "out")}), 2);
  for (int i = 0; i < after.value_count(); ++i) EXPECT_LE(after.value(ValueId(i)).shape.size(), 8u);
}

// A model's own Transpose of 9 dimensions stays what it is: the writer of programs refuses it.
TEST(Layout, ATransposeOf9DimensionsStays) {
  Net net;
  const Shape shape(9, 2);
  const ValueId x = net.ReshapeTo(net.Input("x", {512}), shape);
  const ValueId y = net.TransposeOf(x, {8, 7, 6, 5, 4, 3, 2, 1, 0}, "y");
  Checked(net.Done({net.Like(Unary{UnaryOp::kTanh}, {net.ReshapeTo(y, {512})}, "out")}), 1);
}

TEST(Layout, InputThatIsOutputAndEmptyGraph) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId y = net.ConvOf(x, 2, {}, 1, true, "y");
  const Graph after = Checked(net.Done({x, y, y}), 2);
  EXPECT_EQ(after.outputs[0], after.inputs[0]);
  EXPECT_EQ(after.outputs[1], after.outputs[2]);
}

TEST(Layout, DepthToSpaceResizeAndNormsFollow) {
  Net net;
  const ValueId x = net.ConvOf(net.Input("x", {2, 1, 5, 7}), 8);
  ValueId y = net.Add(DepthToSpace{2, true}, {x}, {2, 2, 10, 14});
  y = net.Add(SpaceToDepth{2}, {net.Add(DepthToSpace{2, false}, {x}, {2, 2, 10, 14})},
              {2, 8, 5, 7});
  y = net.Like(Lrn{3, 0.1f, 0.75f, 1.0f, 1}, {y});
  y = net.Like(InstanceNorm{}, {y, net.Random({8}), net.Random({8})});
  const Resize resize{{.coordinate = CoordinateMode::kAsymmetric, .nearest = NearestMode::kFloor},
                      {1, 1, 2, 3}};
  y = net.Add(resize, {y}, {2, 8, 10, 21});
  ConvTranspose up{{.kernel_h = 2, .kernel_w = 3, .stride_h = 2, .stride_w = 1}, 2, 0, 0, {}};
  y = net.Add(up, {y, net.Random({8, 3, 2, 3}), net.Random({6})}, {2, 6, 20, 23}, "y");
  const Graph after = Checked(net.Done({y}), 1);
  EXPECT_EQ(Count(after, "Transpose"), 1);
}

TEST(RemoveRedundantTransposes, MergesAndCancels) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 5, 7});
  const ValueId same = net.TransposeOf(net.TransposeOf(x, {0, 2, 3, 1}), {0, 3, 1, 2}, "same");
  const ValueId once = net.TransposeOf(net.TransposeOf(x, {0, 2, 3, 1}), {0, 2, 1, 3}, "once");
  const ValueId flat = net.ReshapeTo(net.ReshapeTo(x, {30, 7}), {210}, "flat");
  const Graph before = net.Done({net.Relu(same, "a"), net.Relu(once, "b"), net.Relu(flat, "c")});
  const Graph after = RemoveRedundantTransposes(before);
  EXPECT_EQ(Ops(after), "Clip Transpose Clip Reshape Clip");
  ExpectSameResults(before, after, true);
}

TEST(CountTransposes, CountsOnlyThoseThatMoveData) {
  Net net;
  const ValueId x = net.Input("x", {1, 3, 1, 7});
  const Graph graph =
      net.Done({net.TransposeOf(x, {0, 2, 1, 3}), net.TransposeOf(x, {0, 2, 3, 1})});
  EXPECT_EQ(CountTransposes(graph), 1);
}

}  // namespace
}  // namespace rshift
