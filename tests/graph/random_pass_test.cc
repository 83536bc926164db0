// Property test: random small graphs give the same outputs before and after each pass and the whole
// list.
#include "graph/dump.h"
#include "graph/passes/passes.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

#ifdef RSHIFT_SANITIZED
constexpr int kGraphs = 60;
#else
constexpr int kGraphs = 300;
#endif

// Grows a graph by picking one of the moves below at random, with sizes that are never equal by
// design.
class Grower {
 public:
  explicit Grower(uint32_t seed) : net_(seed), random_(seed) {
    images_.push_back(net_.Input("x", {Pick(1, 2), Pick(1, 6), Pick(4, 7), Pick(3, 8)}));
  }

  Graph Grow(int moves) {
    for (int i = 0; i < moves; ++i) Move();
    std::vector<ValueId> outputs = {images_.back()};
    if (!others_.empty()) outputs.push_back(others_.back());
    if (Pick(0, 2) == 0) outputs.push_back(Any(images_));
    if (!others_.empty() && Pick(0, 2) == 0) outputs.push_back(Any(others_));
    return net_.Done(outputs);
  }

 private:
  int64_t Pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
  }
  // Mostly the newest values, so that chains grow.
  ValueId Any(const std::vector<ValueId>& from) {
    const int64_t last = static_cast<int64_t>(from.size()) - 1;
    return from[Pick(std::max<int64_t>(0, last - 2), last)];
  }
  Shape S(ValueId id) const { return net_.ShapeOf(id); }

  void Move() {
    const ValueId x = Any(images_);
    switch (Pick(0, 18)) {
      case 0:
      case 1:
      case 2:
        return AddConv(x);
      case 3:
        return AddPool(x);
      case 4:
        return images_.push_back(AddPointwise(x));
      case 5:
        return AddConstant(x);
      case 6:
        return AddBinary(x);
      case 7:
        return AddConcat(x);
      case 8:
        return AddPad(x);
      case 9:
        return AddSlice(x);
      case 10:
        return AddTranspose(x);
      case 11:
        return AddReduce(x);
      case 12:
        return AddReshape(x);
      case 13:
        return AddShuffle(x);
      case 14:
        return images_.push_back(net_.BatchNormOf(x));
      case 15:
        return AddHalves(x);
      case 16:
        return AddResampling(x);
      case 17:
        return AddGather(x);
      default:
        return AddOther();
    }
  }

  void AddConv(ValueId x) {
    const Shape s = S(x);
    Window w{.kernel_h = Pick(1, std::min<int64_t>(3, s[2])),
             .kernel_w = Pick(1, std::min<int64_t>(3, s[3])),
             .stride_h = Pick(1, 2),
             .pad_top = Pick(0, 1),
             .pad_right = Pick(0, 2)};
    const int64_t groups = s[1] % 2 == 0 && Pick(0, 1) == 0 ? 2 : 1;
    images_.push_back(net_.ConvOf(x, groups * Pick(1, 4), w, groups, Pick(0, 1) == 0));
  }

  void AddPool(ValueId x) {
    const Shape s = S(x);
    const Window w{.kernel_h = std::min<int64_t>(2, s[2]),
                   .kernel_w = std::min<int64_t>(3, s[3]),
                   .stride_w = Pick(1, 2),
                   .pad_left = s[3] >= 3 ? Pick(0, 1) : 0};
    if (Pick(0, 1) == 0) return images_.push_back(net_.PoolOf(x, MaxPool{w}, w));
    images_.push_back(net_.PoolOf(x, AveragePool{{w, Pick(0, 1) == 0}}, w));
  }

  ValueId AddPointwise(ValueId x) {
    switch (Pick(0, 4)) {
      case 0:
        return net_.Relu(x);
      case 1:
        return net_.Like(Clip{{-0.5f, 1.5f}}, {x});
      case 2:
        return net_.Like(Unary{UnaryOp::kSigmoid}, {x});
      case 3:
        return net_.Like(LeakyRelu{0.1f}, {x});
      default:
        return net_.Like(Identity{}, {x});
    }
  }

  void AddConstant(ValueId x) {
    const Shape s = S(x);
    const std::vector<Shape> shapes = {{s[1], 1, 1}, {1, s[1], 1, 1}, {}, {s[3]}, {s[2], 1}, s,
                                       {1, 1, 1, 1}};
    const ValueId c =
        net_.Random(shapes[Pick(0, static_cast<int64_t>(shapes.size()) - 1)], 0.5f, 1.5f);
    const std::vector<BinaryOp> ops = {BinaryOp::kAdd, BinaryOp::kMul, BinaryOp::kSub,
                                       BinaryOp::kDiv, BinaryOp::kMax};
    const BinaryOp op = ops[Pick(0, 4)];
    const bool first = op != BinaryOp::kDiv && Pick(0, 1) == 0;
    images_.push_back(first ? net_.Bin(op, c, x) : net_.Bin(op, x, c));
    if (Pick(0, 3) == 0) images_.push_back(net_.Like(PRelu{}, {x, net_.Random({s[1], 1, 1})}));
  }

  // With another image of the same shape, else with its own mean over H and W (a squeeze-excite
  // gate).
  void AddBinary(ValueId x) {
    for (ValueId y : images_) {
      if (y != x && S(y) == S(x)) return images_.push_back(net_.Bin(BinaryOp::kAdd, x, y));
    }
    const Shape s = S(x);
    const ValueId gate = net_.Add(Reduce{ReduceOp::kMean, {2, 3}}, {x}, {s[0], s[1], 1, 1});
    images_.push_back(net_.Bin(BinaryOp::kMul, AddPointwise(gate), x));
  }

  void AddConcat(ValueId x) {
    const Shape s = S(x);
    const int64_t axis = Pick(1, 3);
    std::vector<ValueId> parts = {x};
    for (ValueId y : images_) {
      Shape other = S(y);
      other[axis] = s[axis];
      if (y != x && other == s && parts.size() < 3) parts.push_back(y);
    }
    Shape constant = s;
    constant[axis] = 2;
    parts.push_back(net_.Random(constant));
    Shape out = s;
    out[axis] = 0;
    for (ValueId part : parts) out[axis] += S(part)[axis];
    if (NumElements(out) < 4000) images_.push_back(net_.Add(Concat{axis}, parts, out));
  }

  void AddPad(ValueId x) {
    Pad pad{
        PadMode::kConstant, {0, 0, Pick(0, 1), Pick(0, 2)}, {0, 0, Pick(0, 2), Pick(0, 1)}, 0.0f};
    if (Pick(0, 2) == 0) pad.before[1] = 1;
    if (Pick(0, 2) == 0) pad.value = 0.5f;
    if (Pick(0, 3) == 0) pad.mode = PadMode::kEdge;
    Shape out = S(x);
    for (size_t d = 0; d < 4; ++d) out[d] += pad.before[d] + pad.after[d];
    images_.push_back(net_.Add(pad, {x}, out));
  }

  void AddSlice(ValueId x) {
    Shape out = S(x);
    Slice slice{{0, 0, 0, 0}, {1, 1, 1, 1}};
    const int64_t d = Pick(1, 3);
    if (out[d] < 3) return;
    if (Pick(0, 1) == 0) {
      slice.starts[d] = 1;
      out[d] -= 1;
    } else {
      slice.starts[d] = out[d] - 1;
      slice.steps[d] = -2;
      out[d] = (out[d] + 1) / 2;
    }
    images_.push_back(net_.Add(slice, {x}, out));
  }

  void AddTranspose(ValueId x) {
    const std::vector<std::vector<int64_t>> perms = {
        {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {0, 2, 1, 3}};
    images_.push_back(net_.TransposeOf(x, perms[Pick(0, 3)]));
  }

  void AddReduce(ValueId x) {
    const std::vector<std::vector<int64_t>> choices = {{2, 3}, {1}, {2}, {3}, {1, 3}, {1, 2, 3}};
    const std::vector<int64_t> axes = choices[Pick(0, 5)];
    Shape kept = S(x), dropped;
    for (int64_t axis : axes) kept[axis] = 1;
    for (int64_t d = 0; d < 4; ++d) {
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) dropped.push_back(kept[d]);
    }
    if (Pick(0, 1) == 0)
      return images_.push_back(net_.Add(Reduce{ReduceOp::kMean, axes}, {x}, kept));
    others_.push_back(net_.Add(Reduce{ReduceOp::kMax, axes}, {x}, dropped));
  }

  void AddReshape(ValueId x) {
    const Shape s = S(x);
    switch (Pick(0, 3)) {
      case 0:
        return others_.push_back(net_.ReshapeTo(x, {s[0], s[1] * s[2] * s[3]}));
      case 1:
        return others_.push_back(net_.ReshapeTo(x, {s[0], s[1], s[2] * s[3]}));
      case 2:
        return images_.push_back(net_.ReshapeTo(x, {s[0], s[2], s[1], s[3]}));
      default:
        return others_.push_back(
            net_.ReshapeTo(net_.TransposeOf(x, {0, 2, 3, 1}), {s[0], s[2] * s[3], s[1]}));
    }
  }

  void AddShuffle(ValueId x) {
    for (int64_t groups : {2, 3}) {
      if (S(x)[1] % groups == 0) return images_.push_back(net_.Shuffle(x, groups));
    }
  }

  // The two halves of the channels, interleaved or not, as ShuffleNet v2 exports write them.
  void AddHalves(ValueId x) {
    const Shape s = S(x);
    if (s[0] != 1 || s[1] % 2 != 0) return;
    const int64_t half = s[1] / 2;
    const int64_t pixels = s[2] * s[3];
    ValueId y = x;
    if (Pick(0, 1) == 0) y = net_.TransposeOf(net_.ReshapeTo(y, {half, 2, pixels}), {1, 0, 2});
    y = net_.ReshapeTo(y, {2, 1, half, s[2], s[3]});
    for (int64_t i : {0, -1}) {
      const ValueId part = net_.Add(Gather{0}, {y, net_.Integers({}, {i})}, {1, half, s[2], s[3]});
      images_.push_back(part);
    }
  }

  void AddResampling(ValueId x) {
    const Shape s = S(x);
    if (NumElements(s) > 600) return;
    if (s[1] % 4 == 0 && Pick(0, 1) == 0) {
      const DepthToSpace op{2, Pick(0, 1) == 0};
      return images_.push_back(net_.Add(op, {x}, {s[0], s[1] / 4, s[2] * 2, s[3] * 2}));
    }
    if (Pick(0, 1) == 0) {
      const ConvTranspose up{
          {.kernel_h = 2, .kernel_w = 1, .stride_h = 2, .pad_top = 1}, 1, 0, 0, {}};
      const std::vector<ValueId> inputs = {x, net_.Random({s[1], 3, 2, 1})};
      return images_.push_back(net_.Add(up, inputs, {s[0], 3, s[2] * 2 - 1, s[3]}));
    }
    const Resize resize{{.coordinate = CoordinateMode::kAsymmetric, .nearest = NearestMode::kFloor},
                        {1, 1, 2, 3}};
    images_.push_back(net_.Add(resize, {x}, {s[0], s[1], s[2] * 2, s[3] * 3}));
  }

  void AddGather(ValueId x) {
    const int64_t axis = Pick(1, 3);
    Shape out = S(x);
    if (Pick(0, 1) == 0) {
      out[axis] = 2;
      return images_.push_back(net_.Add(Gather{axis}, {x, net_.Integers({2}, {-1, 0})}, out));
    }
    out.erase(out.begin() + axis);
    others_.push_back(net_.Add(Gather{axis}, {x, net_.Integers({}, {0})}, out));
  }

  // Something with a value that is no image any more.
  void AddOther() {
    if (others_.empty()) return AddReshape(images_.back());
    const ValueId x = Any(others_);
    const Shape s = S(x);
    if (s.size() < 2) return;
    switch (Pick(0, 3)) {
      case 0:
        return others_.push_back(net_.Dense(x, Pick(2, 5)));
      case 1:
        return others_.push_back(AddPointwise(x));
      case 2:
        others_.push_back(net_.Like(Softmax{static_cast<int64_t>(s.size()) - 1}, {x}));
        if (Pick(0, 1) == 1) others_.push_back(net_.Like(Unary{UnaryOp::kLog}, {others_.back()}));
        return;
      default:
        if (s.size() != 3) return others_.push_back(net_.BatchNormOf(x));
        return others_.push_back(net_.TransposeOf(x, {0, 2, 1}));
    }
  }

  Net net_;
  std::mt19937 random_;
  std::vector<ValueId> images_, others_;  // rank 4; anything else
};

void ExpectSameForRandomGraphs(Graph (*pass)(Graph), uint32_t first_seed, bool observed) {
  for (uint32_t seed = first_seed; seed < first_seed + kGraphs; ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    const Graph before = Grower(seed).Grow(14);
    Graph after;
    ASSERT_NO_THROW(after = pass(before)) << DumpGraph(before);
    ExpectSameResults(before, after, observed);
    if (::testing::Test::HasFailure())
      FAIL() << DumpGraph(before) << "\nbecame\n" << DumpGraph(after);
  }
}

TEST(RandomGraphs, RemoveIdentity) { ExpectSameForRandomGraphs(RemoveIdentity, 1000, true); }
TEST(RandomGraphs, RecognizePatterns) { ExpectSameForRandomGraphs(RecognizePatterns, 2000, true); }
TEST(RandomGraphs, FoldBatchNorm) { ExpectSameForRandomGraphs(FoldBatchNorm, 3000, true); }
TEST(RandomGraphs, FoldPad) { ExpectSameForRandomGraphs(FoldPad, 5000, true); }
TEST(RandomGraphs, FuseActivation) { ExpectSameForRandomGraphs(FuseActivation, 6000, true); }
TEST(RandomGraphs, RemoveRedundantTransposes) {
  ExpectSameForRandomGraphs(RemoveRedundantTransposes, 7000, true);
}
TEST(RandomGraphs, ToNhwc) {
  ExpectSameForRandomGraphs([](Graph g) { return ToNhwc(FoldBatchNorm(std::move(g))); }, 8000,
                            true);
}
TEST(RandomGraphs, FoldAffine) { ExpectSameForRandomGraphs(FoldAffine, 4000, true); }
TEST(RandomGraphs, RunPasses) { ExpectSameForRandomGraphs(RunPasses, 9000, true); }

TEST(RandomGraphs, RunPassesGivesTheSameGraphAgain) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const Graph graph = Grower(seed).Grow(14);
    EXPECT_EQ(DumpGraph(RunPasses(graph)), DumpGraph(RunPasses(graph))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rshift
