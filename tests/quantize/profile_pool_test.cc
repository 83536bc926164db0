// AveragePool and Mean of the profiles: sums of every size, against formulas written another way.
#include <gtest/gtest.h>

#include <random>

#include "tests/quantize/integer_ops.h"
#include "tests/quantize/little_graph.h"
#include "tests/quantize/profile_tools.h"

namespace rshift::test {
namespace {

struct Case {
  IntType x, y;
};
const Case kCases[] = {{S8(0.05f, 3), S8(0.031f, -17)},
                       {S8(0.25f, -128), S8(0.125f, 5)},
                       {U8(0.0235f, 0), U8(0.0471f, 128)},
                       {U8(0.02f, 200), U8(0.013f, 4)}};

PoolLayer Mean(const Case& c, int64_t height, int64_t width) {
  PoolLayer layer;
  layer.window.kernel_h = layer.height = height;
  layer.window.kernel_w = layer.width = width;
  layer.whole = layer.mean = true;
  layer.x = c.x;
  layer.y = c.y;
  return layer;
}

ByteType Plain(const IntType& type) {
  return {type.quant.scale, type.quant.zero_point, type.dtype == DType::kS8};
}

// `formula`: of the sum of n bytes, without saturation.
template <typename Formula>
void CompareMeans(ProfileId id, const Formula& formula) {
  std::mt19937 random(3);
  for (const Case& c : kCases) {
    for (const auto& [height, width] : {std::pair{1, 1}, {2, 3}, {7, 7}, {8, 8}, {13, 17}}) {
      const int64_t n = height * width;
      const PoolForm form = Rules(id).MakePool(Mean(c, height, width));
      ASSERT_EQ(form.type, c.y);
      std::uniform_int_distribution<int64_t> any(n * c.x.qmin(), n * c.x.qmax());
      for (int i = 0; i < 4000; ++i) {
        const int64_t sum = any(random);
        const int32_t y = PoolResult(form.op, static_cast<double>(sum), n, Plain(c.x), Plain(c.y));
        ASSERT_EQ(y, Saturate(formula(c, sum, n), c.y)) << Name(id) << " " << sum << " of " << n;
      }
    }
  }
}

TEST(MeanTest, LiteRtsReferenceDividesTheMultiplier) {
  CompareMeans(ProfileId::kTfLiteRef, [](const Case& c, int64_t sum, int64_t n) {
    Pair m = PairOf(static_cast<double>(c.x.quant.scale) / static_cast<double>(c.y.quant.scale));
    int shift = static_cast<int>(std::floor(std::log2(static_cast<double>(n))));
    shift = std::min(shift, std::min(32, 31 + m.shift));
    m = {(m.q * (int64_t{1} << shift)) / n, m.shift - shift};
    return TwoSteps(sum - n * c.x.quant.zero_point, m) + c.y.quant.zero_point;
  });
}

TEST(MeanTest, LiteRtsOptimisedKernelHasARoundedBias) {
  CompareMeans(ProfileId::kTfLiteRuy, [](const Case& c, int64_t sum, int64_t n) {
    const float unit = static_cast<float>(n) * c.y.quant.scale;
    const float zero = static_cast<float>(c.x.quant.zero_point) * c.x.quant.scale;
    const int64_t bias = c.y.quant.zero_point - std::lround(zero / c.y.quant.scale);
    return TwoStepsUp(sum, PairOf(c.x.quant.scale / unit)) + bias;
  });
}

TEST(MeanTest, XnnpackAddsItsBiasBeforeTheRounding) {
  CompareMeans(ProfileId::kTfLiteXnnpack, [](const Case& c, int64_t sum, int64_t n) {
    const float ratio = c.x.quant.scale / c.y.quant.scale;
    const float m = ratio * (1.0f / static_cast<float>(n));
    const float zero = static_cast<float>(n * c.x.quant.zero_point) * m;
    const float bias = static_cast<float>(c.y.quant.zero_point) - zero;
    const float product = static_cast<float>(sum) * m;
    return std::llrint(product + bias);
  });
}

TEST(GlobalPoolTest, OnnxRuntimeHasTheCountInItsScale) {
  std::mt19937 random(3);
  for (const Case& c : kCases) {
    PoolLayer layer = Mean(c, 7, 5);
    layer.mean = false;
    layer.global = true;
    const PoolForm form = Rules(ProfileId::kOnnxRuntime).MakePool(layer);
    const float unit = c.y.quant.scale * 35.0f, scale = c.x.quant.scale / unit;
    std::uniform_int_distribution<int64_t> any(35 * c.x.qmin(), 35 * c.x.qmax());
    for (int i = 0; i < 4000; ++i) {
      const int64_t sum = any(random);
      const float f = static_cast<float>(sum - 35 * c.x.quant.zero_point) * scale;
      ASSERT_EQ(PoolResult(form.op, static_cast<double>(sum), 35, Plain(c.x), Plain(c.y)),
                Saturate(std::llrint(f) + c.y.quant.zero_point, c.y));
    }
  }
}

TEST(AveragePoolTest, LiteRtRoundsHalfAwayInTheInputsType) {
  for (ProfileId id : kLiteRt) {
    PoolLayer layer;
    layer.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    layer.x = S8(0.1f, 4);
    layer.y = S8(0.2f, 4);
    const PoolForm form = Rules(id).MakePool(layer);
    EXPECT_EQ(form.type, layer.x);  // a rescaling to y follows
    for (int64_t n : {4, 6, 9}) {
      for (int64_t sum = -128 * n; sum <= 127 * n; ++sum) {
        const int64_t half = sum > 0 ? sum + n / 2 : sum - n / 2;
        ASSERT_EQ(PoolResult(form.op, static_cast<double>(sum), n, Plain(layer.x), Plain(layer.y)),
                  half / n);
      }
    }
  }
}

TEST(AveragePoolTest, AWholeImageIsAMeanWhereTheTypesDiffer) {
  PoolLayer layer = Mean(kCases[0], 4, 4);
  layer.mean = false;
  layer.global = true;
  EXPECT_EQ(Rules(ProfileId::kTfLiteRef).MakePool(layer).op.arithmetic,
            PoolArithmetic::kRequantize);
  layer.y = layer.x;
  EXPECT_EQ(Rules(ProfileId::kTfLiteRef).MakePool(layer).op.arithmetic, PoolArithmetic::kInteger);
}

TEST(AveragePoolTest, NumbersThatAnArithmeticDoesNotReadStayZero) {
  constexpr ProfileId kProfiles[] = {ProfileId::kTpu,           ProfileId::kTfLite,
                                     ProfileId::kTfLiteRef,     ProfileId::kTfLiteRuy,
                                     ProfileId::kTfLiteXnnpack, ProfileId::kOnnxRuntime,
                                     ProfileId::kCaffe2,        ProfileId::kOneDnn};
  for (ProfileId id : kProfiles) {
    for (const bool global : {false, true}) {
      PoolLayer layer = Mean(kCases[0], 4, 4);
      layer.mean = false;
      layer.global = layer.whole = global;
      const isa::AveragePool pool = Rules(id).MakePool(layer).op;
      const PoolParameters& reads = kPoolParameters[static_cast<size_t>(pool.arithmetic)];
      EXPECT_EQ(pool.scale != 0, reads.scale) << Name(id) << " " << global;
      EXPECT_TRUE(reads.offset || pool.offset == 0) << Name(id) << " " << global;
      EXPECT_EQ(pool.words.multiplier != 0, reads.words) << Name(id) << " " << global;
      EXPECT_TRUE(reads.words || pool.rounding == Rounding::kHalfUp) << Name(id) << " " << global;
    }
  }
}

TEST(AveragePoolTest, PadsThatCountHaveNoFormInTfLite) {
  LittleGraph little;
  const Window window{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  const ValueId x = little.Input("x", {1, 4, 4, 3});
  little.Output(little.Add("y", AveragePool{{window, true}}, {x}, {1, 4, 4, 3}));
  QuantizeOptions options = Mode(QuantMode::kAsymmetric);
  options.profile.id = ProfileId::kTfLiteRef;
  const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), options);
  ASSERT_EQ(result.report.float_nodes.size(), 1u);
  EXPECT_EQ(result.report.float_nodes[0].reason,
            "this profile has no integer form of it, or none that counts pads");
}

// y, the integers, of an image given as [1, 4, 5, 3] or as [1, 3, 4, 5].
std::vector<double> MeanOf(ProfileId id, bool planar) {
  Graph graph;
  const Shape shape = planar ? Shape{1, 3, 4, 5} : Shape{1, 4, 5, 3};
  const Layout layout = planar ? Layout::kPlain : Layout::kNhwc;
  const ValueId x = graph.AddValue({"x", DType::kF32, shape, layout, {}, nullptr});
  const ValueId y = graph.AddValue({"y", DType::kF32, {1, 3}, Layout::kPlain, {}, nullptr});
  const int64_t height = planar ? 2 : 1;
  graph.AddNode({"mean", Reduce{ReduceOp::kMean, {height, height + 1}}, {x}, {y}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.output_names = {"y"};
  CalibrationTable table;
  const TensorRange range{-1, 1, 1, -1, 1, "minmax"};
  table.tensors = {{"x", range}, {"y", range}};
  QuantizeOptions options = Mode(QuantMode::kAsymmetric);
  options.profile.id = id;
  const QuantizeResult result = QuantizeGraph(graph, table, options);
  EXPECT_TRUE(result.report.float_nodes.empty()) << Name(id);
  Tensor image{shape, std::vector<double>(60)};
  for (int pixel = 0; pixel < 20; ++pixel) {
    for (int ch = 0; ch < 3; ++ch) {
      image.data[planar ? ch * 20 + pixel : pixel * 3 + ch] = std::sin(pixel * 3 + ch);
    }
  }
  return Execute(result.graph, {{"x", image}}).at("y").data;
}

TEST(MeanTest, PlanarAndChannelsLastImagesGiveTheSame) {
  for (int i = 0; i < kProfileCount; ++i) {
    const auto id = static_cast<ProfileId>(i);
    if (!Rules(id).HasMean()) continue;
    const std::vector<double> y = MeanOf(id, false);
    EXPECT_EQ(y, MeanOf(id, true)) << Name(id);
    // Differences of two channels, in steps of 2 / 255, each within one of the real mean.
    const auto mean = [](int ch) {
      double sum = 0;
      for (int pixel = 0; pixel < 20; ++pixel) sum += std::sin(pixel * 3 + ch);
      return sum / 20;
    };
    for (size_t ch : {1, 2}) {
      const double steps = (mean(static_cast<int>(ch)) - mean(0)) * 255 / 2;
      EXPECT_NEAR(y[ch] - y[0], steps, 2) << Name(id);
    }
  }
}

}  // namespace
}  // namespace rshift::test
