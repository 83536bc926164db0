#include "pipeline/weight_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/dump.h"
#include "graph/passes/passes.h"
#include "pipeline/check_samples.h"
#include "pipeline/deploy.h"
#include "pipeline/layer_weights.h"
#include "pipeline/paired_choice.h"
#include "pipeline/program_pair.h"
#include "pipeline/usage.h"
#include "pipeline/weight_solver.h"
#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "tests/base/error_of.h"
#include "tests/graph/onnx_builder.h"
#include "tests/pipeline/little_model.h"
#include "tests/pipeline/two_products.h"

namespace rshift::test {
namespace {

using ::rshift::testing::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr WeightMethods kGptqAlone{.rounding = WeightRounding::kGptq};
constexpr WeightMethods kAutomatic{.rounding = WeightRounding::kAuto};
constexpr WeightMethods kBoth{WeightRounding::kGptq, WeightClipping::kMse};

// --- clipping ---

// A weight whose input is always 0 does not count: of three weights of 1, c^2 R + 3 (1 - c)^2 is
// least at 3 / (3 + R), R = 3 / (12 * 127^2).
TEST(BestClipTest, AWorkedExample) {
  const std::vector<float> weights = {-10, 1, -1, 1};
  const std::vector<double> squares = {0, 1, 1, 1};
  const double rounding = 3.0 / (12 * 127 * 127);
  EXPECT_NEAR(BestClip(weights, squares, 127), 3 / (3 + rounding), 1e-12);
}

TEST(BestClipTest, NothingToClipFor) {
  EXPECT_EQ(BestClip(std::vector<float>{2, -3}, std::vector<double>{0, 0}, 127), 3);
  EXPECT_EQ(BestClip(std::vector<float>{0, 0}, std::vector<double>{1, 1}, 127), 0);
}

TEST(BestClipTest, NoOtherMagnitudeIsBetter) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<float> weights(20);
    std::vector<double> squares(20);
    double all = 0;
    for (float& w : weights) w = static_cast<float>(normal(random));
    for (double& m : squares) all += m = std::fabs(normal(random));
    weights[0] *= 8;
    for (const int steps : {1, 7, 127}) {
      const auto error = [&](double c) {
        double sum = c * c * all / (12.0 * steps * steps);
        for (size_t i = 0; i < weights.size(); ++i) {
          const double over = std::fabs(static_cast<double>(weights[i])) - c;
          if (over > 0) sum += over * over * squares[i];
        }
        return sum;
      };
      const double found = error(BestClip(weights, squares, steps));
      for (double c = 0; c < 12; c += 0.01) ASSERT_LE(found, error(c) * (1 + 1e-9)) << "c " << c;
    }
  }
}

// --- rounding ---

// Two inputs that are always equal: the sum of both weights counts, 0.4 + 0.4, which 0 + 1 meets
// better than 0 + 0.
TEST(RoundTogetherTest, AWorkedExample) {
  const SecondMoments equal{2, {1, 1, 1, 1}};
  EXPECT_THAT(SquaredErrors(equal, std::vector<double>{0.4, 0.4, 0.4, -0.6}),
              ElementsAre(::testing::DoubleNear(0.64, 1e-12), ::testing::DoubleNear(0.04, 1e-12)));
  EXPECT_THAT(RoundTogether(equal, 0.01, std::vector<double>{0.4, 0.4}), ElementsAre(1, 0));
}

TEST(RoundTogetherTest, InputsThatDoNotVaryTogetherAreRoundedAlone) {
  const SecondMoments alone{3, {4, 0, 0, 0, 1, 0, 0, 0, 9}};
  EXPECT_THAT(RoundTogether(alone, 0.01, std::vector<double>{0.4, 2.6, -300, 1.5, -0.6, 0}),
              ElementsAre(0, 3, -127, 2, -1, 0));
  const SecondMoments nothing{2, {0, 0, 0, 0}};
  EXPECT_THAT(RoundTogether(nothing, 0.01, std::vector<double>{0.4, 2.6}), ElementsAre(0, 3));
}

// Of 4 bits all are in [-7, 7], and what clamping takes is made up for by the others, too.
TEST(RoundTogetherTest, NoIntegerIsBeyondTheMost) {
  const SecondMoments equal{2, {1, 1, 1, 1}};
  EXPECT_THAT(RoundTogether(equal, 0.01, std::vector<double>{0.4, 9}, 7), ElementsAre(2, 7));
  EXPECT_THAT(RoundTogether(equal, 0.01, std::vector<double>{9, -2}, 7), ElementsAre(7, -2));
}

SecondMoments RandomMoments(size_t n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  SecondMoments moments{static_cast<int64_t>(n), std::vector<double>(n * n)};
  for (size_t sample = 0; sample < 3 * n; ++sample) {
    std::vector<double> x(n);
    const double common = normal(random);
    for (double& v : x) v = common + 0.3 * normal(random);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) moments.values[a * n + b] += x[a] * x[b];
    }
  }
  return moments;
}

// Of all 2^n ways to round up or down the best is known: rounding together comes near it.
TEST(RoundTogetherTest, ComesNearTheBestOfAllRoundings) {
  constexpr size_t kInputs = 8;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-20, 20);
  double nearest = 0, together = 0, best = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const SecondMoments moments = RandomMoments(kInputs, random);
    std::vector<double> weights(kInputs);
    for (double& w : weights) w = uniform(random);
    const auto error = [&](auto integer) {
      std::vector<double> d(kInputs);
      for (size_t i = 0; i < kInputs; ++i) d[i] = weights[i] - integer(i);
      return SquaredErrors(moments, d)[0];
    };
    const std::vector<int8_t> found = RoundTogether(moments, 0.01, weights);
    const double alone = error([&](size_t i) { return std::nearbyint(weights[i]); });
    const double here = error([&](size_t i) { return static_cast<double>(found[i]); });
    double least = alone;
    for (unsigned ups = 0; ups < 1U << kInputs; ++ups) {
      least = std::min(least,
                       error([&](size_t i) { return std::floor(weights[i]) + ((ups >> i) & 1U); }));
    }
    nearest += alone;
    together += std::min(here, alone);  // as ChooseLayer takes it
    best += least;
  }
  EXPECT_LT(together, 0.4 * nearest);
  EXPECT_LT(together, 3 * best);
}

// --- second moments of what a layer reads ---

struct Case {
  bool matmul;
  int channels, groups, kernel, stride, dilation, pad;
};

std::vector<float> Integers(size_t count, int most, std::mt19937& random) {
  std::uniform_int_distribution<int> uniform(-most, most);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(uniform(random));
  return numbers;
}

Graph LayerOf(const Case& c, const std::vector<float>& weights, int outputs) {
  ModelBuilder model;
  if (c.matmul) {
    model.Input("x", {1, 63, c.channels}).Floats("w", {c.channels, outputs}, weights);
    model.Node("MatMul", {"x", "w"}, {"y"});
  } else {
    model.Input("x", {1, c.channels, 21, 17});
    model.Floats("w", {outputs, c.channels / c.groups, c.kernel, c.kernel}, weights);
    model.Node("Conv", {"x", "w"}, {"y"},
               {{"group", c.groups},
                {"strides", {c.stride, c.stride}},
                {"dilations", {c.dilation, c.dilation}},
                {"pads", {c.pad, c.pad, c.pad, c.pad}}});
  }
  model.Output("y");
  return GraphOf(model);
}

// Squares of a layer's outputs, of integers small enough for exact floats, are what the moments of
// its inputs say of its weights.
void ExpectSquares(const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  const int outputs = 2 * c.channels;
  const size_t row = static_cast<size_t>(c.channels / c.groups * c.kernel * c.kernel);
  const std::vector<float> weights = Integers(row * static_cast<size_t>(outputs), 3, random);
  const Graph graph = LayerOf(c, weights, outputs);
  const Program program = CompileObservable(graph, "float program");
  Session session(program, {.threads = 1});
  const size_t size = session.Input(0).size() / sizeof(float);
  const std::vector<float> x = Integers(size, 9, random);
  std::memcpy(session.Input(0).data(), x.data(), size * sizeof(float));
  session.Run();
  const auto* y = reinterpret_cast<const float*>(session.Output(0).data());
  std::optional<WindowRows> rows;
  for (const Node& node : graph.nodes()) {
    if (!rows) rows = WindowRowsOf(graph, node);
  }
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->inputs(), static_cast<int64_t>(row));
  // What the layer reads is NHWC; the program's input and output are as in ONNX. Zero point -7.
  const size_t places = size / static_cast<size_t>(c.channels);
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t at = c.matmul ? i : i % places * static_cast<size_t>(c.channels) + i / places;
    bytes[at] = static_cast<std::byte>(static_cast<int>(x[i]) - 7);
  }
  const InputGram gram = GramOf(*rows, DType::kS8, -7, bytes);
  for (const int64_t step : {3, 40, 1000}) {  // every row once
    InputGram parts;
    for (int64_t first = 0; first < step; ++first)
      parts.Add(GramOf(*rows, DType::kS8, -7, bytes, {first, step}));
    EXPECT_EQ(parts.rows, gram.rows);
    EXPECT_EQ(parts.products, gram.products);
  }
  const size_t positions = session.Output(0).size() / sizeof(float) / static_cast<size_t>(outputs);
  ASSERT_EQ(gram.rows, static_cast<int64_t>(positions));
  for (size_t o = 0; o < static_cast<size_t>(outputs); ++o) {
    double wanted = 0, found = 0;
    for (size_t p = 0; p < positions; ++p) {
      const double v = y[c.matmul ? p * static_cast<size_t>(outputs) + o : o * positions + p];
      wanted += v * v;
    }
    const size_t group = o * static_cast<size_t>(c.groups) / static_cast<size_t>(outputs);
    const int64_t* products = &gram.products[group * row * row];
    const auto weight = [&](size_t k) {
      return static_cast<double>(
          weights[c.matmul ? k * static_cast<size_t>(outputs) + o : o * row + k]);
    };
    for (size_t a = 0; a < row; ++a) {
      for (size_t b = a; b < row; ++b)
        found +=
            (a == b ? 1 : 2) * weight(a) * weight(b) * static_cast<double>(products[a * row + b]);
    }
    ASSERT_EQ(found, wanted) << "output " << o;
  }
}

TEST(InputGramTest, SquaresOfOutputsAreThoseOfTheProgram) {
  unsigned seed = 40;
  const std::vector<Case> cases = {
      {true, 5, 1, 1, 1, 1, 0},  {false, 4, 1, 1, 1, 1, 0}, {false, 4, 1, 3, 1, 1, 1},
      {false, 4, 1, 3, 2, 1, 0}, {false, 4, 2, 3, 1, 2, 2}, {false, 6, 6, 3, 1, 1, 1},
      {false, 6, 6, 3, 2, 1, 1}, {false, 6, 6, 5, 3, 1, 2}, {false, 4, 1, 2, 2, 1, 0}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << "case of seed " << ++seed);
    ExpectSquares(c, seed);
  }
}

// --- whole networks ---

constexpr int kRows = 16, kColumns = 24;

Graph Net(float tail = 12) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  const auto weights = [&] {
    std::vector<float> drawn(kColumns * kColumns);
    for (float& w : drawn) w = normal(random);
    if (tail > 0) drawn[0] = tail;  // for the first column
    return drawn;
  };
  const std::vector<float> a = weights(), b = weights();
  return TwoProducts(kRows, kColumns, a, b);
}

CalibrationTable Table() { return TwoProductsTable(4, 60, 900); }

// Columns that vary together about a mean, as channels of networks do.
SampleList Data(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Sample> samples;
  for (int s = 0; s < count; ++s) {
    Sample sample{"sample " + std::to_string(s), {std::vector<float>(kRows * kColumns)}};
    for (int row = 0; row < kRows; ++row) {
      const float common = 1 + normal(random);
      for (int c = 0; c < kColumns; ++c)
        sample.inputs[0][static_cast<size_t>(row * kColumns + c)] = common + 0.2f * normal(random);
    }
    samples.push_back(std::move(sample));
  }
  return SampleList(std::move(samples));
}

QuantizeOptions Of4Bits() {
  QuantizeOptions options;
  options.config.types["MatMul"].weight_bits = 4;
  return options;
}

// Nothing is clipped.
CalibrationTable Wide() { return TwoProductsTable(8, 180, 2700); }

// Most of the outputs' error is of the weights, with 4 bits.
CalibrationTable Narrow() { return TwoProductsTable(6, 80, 400); }

TEST(WeightChoiceTest, SumsAndOutputsGetBetter) {
  const Graph graph = Net();
  const SampleList samples = Data(12, 1);
  const WeightChoice choice = ChooseWeights(graph, Table(), {}, samples, kGptqAlone, 1);
  EXPECT_TRUE(choice.report.kept);
  EXPECT_EQ(choice.report.candidates, 2);
  EXPECT_EQ(choice.report.layers, 2);
  EXPECT_EQ(choice.weights.size(), 2u);
  EXPECT_EQ(choice.report.channels, 0);
  EXPECT_GT(choice.report.gain_db, 6);
  EXPECT_GT(choice.report.after_db, choice.report.before_db);
  const WeightChoice both = ChooseWeights(graph, Table(), {}, samples, kBoth, 1);
  EXPECT_GE(both.report.gain_db, choice.report.gain_db);
  EXPECT_GT(both.report.channels, 0);
}

TEST(WeightChoiceTest, TheDefaultIsGptqWhereItBringsADecibel) {
  const Graph even = Net(0);
  const SampleList samples = Data(12, 1);
  const QuantizeOptions small = Of4Bits();
  const WeightChoice asked = ChooseWeights(even, Narrow(), small, samples, kGptqAlone, 1);
  const WeightChoice kept = ChooseWeights(even, Narrow(), small, samples, kAutomatic, 1);
  EXPECT_TRUE(kept.report.kept);
  EXPECT_EQ(kept.report.costly, 0);
  EXPECT_EQ(kept.report.weights, asked.report.weights);
  EXPECT_LT(kept.report.after_db, asked.report.after_db);  // on samples that did not make them
  EXPECT_GE(kept.report.after_db, kept.report.before_db + kAutoGainDb);
  ASSERT_EQ(kept.weights.size(), 2u);
  for (const auto& [node, chosen] : asked.weights)
    EXPECT_EQ(kept.weights.at(node).integers, chosen.integers);

  // With 8 bits and a long tail most of the outputs' error is of the activations.
  const Graph graph = Net();
  const WeightChoiceReport little =
      ChooseWeights(graph, Table(), {}, samples, kGptqAlone, 1).report;
  EXPECT_TRUE(little.kept);
  EXPECT_LT(little.after_db - little.before_db, kAutoGainDb);
  const WeightChoice none = ChooseWeights(graph, Table(), {}, samples, kAutomatic, 1);
  EXPECT_FALSE(none.report.kept);
  EXPECT_TRUE(none.weights.empty());
}

// Inputs that are large in every second sample and have nothing to do with those of the others:
// what one half of the samples makes of the weights is of no use to the other.
TEST(WeightChoiceTest, TheDefaultIsJudgedByOtherSamples) {
  const Graph graph = Net();
  const SampleList all = Data(2, 4);
  std::vector<Sample> samples;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int s = 0; s < 12; ++s) {
    Sample sample = all.Read(0);
    sample.name = "sample " + std::to_string(s);
    for (size_t i = 0; i < sample.inputs[0].size(); ++i) {
      const bool first = i % kColumns < kColumns / 2;
      sample.inputs[0][i] = first == (s % 2 == 0) ? normal(random) : 0;
    }
    samples.push_back(std::move(sample));
  }
  const SampleList halves(std::move(samples));
  const WeightChoiceReport asked = ChooseWeights(graph, Table(), {}, halves, kGptqAlone, 1).report;
  const WeightChoiceReport judged = ChooseWeights(graph, Table(), {}, halves, kAutomatic, 1).report;
  EXPECT_LT(judged.after_db, asked.after_db);
}

TEST(WeightChoiceTest, TheDefaultNeedsTwoSamples) {
  const WeightChoice one = ChooseWeights(Net(), Table(), {}, Data(1, 1), kAutomatic, 1);
  EXPECT_FALSE(one.report.kept);
  EXPECT_EQ(one.report.why_none, "one sample cannot judge what it makes itself");
  EXPECT_EQ(ChooseWeights(Net(0), Narrow(), Of4Bits(), Data(2, 1), kAutomatic, 1).report.why_none,
            "");
}

TEST(WeightChoiceTest, LayersThatWouldTakeLongStayAsTheyAre) {
  constexpr int kMany = 4600, kOutputs = 1400;
  std::mt19937 random(6);
  ModelBuilder model;
  model.Input("x", {1, kRows, kColumns});
  model.Floats("a", {kColumns, kMany}, Integers(kColumns * kMany, 100, random));
  model.Floats("b", {kMany, kOutputs}, Integers(kMany * kOutputs, 100, random));
  model.Node("MatMul", {"x", "a"}, {"p"}).Node("Relu", {"p"}, {"r"});
  model.Node("MatMul", {"r", "b"}, {"y"}).Output("y");
  const Graph graph = GraphOf(model);
  const CalibrationTable table = TwoProductsTable(4, 3000, 3e7f);
  const WeightChoice choice = ChooseWeights(graph, table, {}, Data(4, 1), kAutomatic, 1);
  EXPECT_EQ(choice.report.candidates, 2);
  EXPECT_EQ(choice.report.costly, 1);
  EXPECT_EQ(choice.report.layers, 1);
}

TEST(WeightChoiceTest, WeightsOf4BitsStayInTheirBounds) {
  const Graph graph = Net();
  QuantizeOptions options = Of4Bits();
  const SampleList samples = Data(12, 1);
  const CalibrationTable table = Wide();
  for (const WeightMethods methods : {kGptqAlone, kBoth}) {
    const WeightChoice choice = ChooseWeights(graph, table, options, samples, methods, 1);
    EXPECT_TRUE(choice.report.kept);
    EXPECT_GT(choice.report.gain_db, 6);
    EXPECT_GT(choice.report.after_db, choice.report.before_db);
    EXPECT_EQ(choice.report.channels > 0, methods.clipping == WeightClipping::kMse);
    ASSERT_EQ(choice.weights.size(), 2u);
    for (const auto& [node, chosen] : choice.weights) {
      EXPECT_EQ(chosen.bits, 4);
      for (const int8_t q : chosen.integers) ASSERT_TRUE(q >= -7 && q <= 7) << int{q};
    }
    options.scaled_weights = true;
    const Graph integer = QuantizeGraph(SetWeights(graph, choice.weights), table, options).graph;
    options.scaled_weights = false;
    EXPECT_TRUE(Compile(integer, {}).constants_of_4_bits);
  }
}

TEST(WeightChoiceTest, ThreadsChangeNoBit) {
  const Graph graph = Net(0);
  const SampleList samples = Data(11, 2);
  for (const WeightMethods methods : {kGptqAlone, kBoth, kAutomatic}) {
    const NodeWeights one = ChooseWeights(graph, Narrow(), Of4Bits(), samples, methods, 1).weights;
    ASSERT_EQ(one.size(), 2u);
    for (const int threads : {2, 7}) {
      const NodeWeights more =
          ChooseWeights(graph, Narrow(), Of4Bits(), samples, methods, threads).weights;
      for (const auto& [node, chosen] : one) {
        EXPECT_EQ(chosen.scales, more.at(node).scales);
        EXPECT_EQ(chosen.integers, more.at(node).integers);
      }
    }
  }
}

// Integers that are given as they are leave everything as it was: requantization, biases, proofs.
TEST(WeightChoiceTest, TheNearestIntegersGivenAreTheNearestIntegers) {
  const Graph graph = Net();
  for (const QuantMode mode : {QuantMode::kSymmetric, QuantMode::kAsymmetric}) {
    for (const bool per_channel : {true, false}) {
      QuantizeOptions options;
      options.mode = mode;
      options.target.per_channel_weights = per_channel;
      const Graph wanted = QuantizeGraph(graph, Table(), options).graph;
      NodeWeights nearest;
      for (const WeightLayer& layer : FindWeightLayers(graph, wanted, options))
        nearest[layer.node] = layer.nearest;
      ASSERT_EQ(nearest.size(), 2u);
      options.scaled_weights = true;
      const Graph found = QuantizeGraph(SetWeights(graph, nearest), Table(), options).graph;
      EXPECT_EQ(DumpGraph(found), DumpGraph(wanted));
      EXPECT_EQ(WriteContainer(Compile(found, {})), WriteContainer(Compile(wanted, {})));
    }
  }
}

TEST(WeightChoiceTest, WhatIsGivenFromOutsideIsLeftAlone) {
  Graph graph = Net();
  const Graph quantized = QuantizeGraph(graph, Table(), {}).graph;
  const std::vector<WeightLayer> layers = FindWeightLayers(graph, quantized, {});
  ASSERT_EQ(layers.size(), 2u);
  graph = SetWeights(graph, {{layers[0].node, layers[0].nearest}});
  const std::vector<WeightLayer> left = FindWeightLayers(graph, quantized, {});
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].node, layers[1].node);
}

TEST(WeightChoiceTest, DeployRefusesWhatMakesNoSense) {
  DeployOptions options{.model = {"little.onnx", LittleModel()}};
  options.weights = kGptqAlone;
  options.mode = DeployMode::kF32;
  const auto usage_error = [&] { return ErrorOf<UsageError>([&] { Deploy(options); }); };
  EXPECT_EQ(usage_error(), "--weight-rounding has no meaning with --mode f32: leave it out");
  options.weights = {.rounding = WeightRounding::kNearest};
  EXPECT_EQ(usage_error(), "--weight-rounding has no meaning with --mode f32: leave it out");
  options.weights = {WeightRounding::kAuto, WeightClipping::kMse};
  EXPECT_EQ(usage_error(), "--weight-clipping has no meaning with --mode f32: leave it out");
  options.mode = DeployMode::kSymmetric;
  CalibrationTable table;
  table.method = "by hand";
  table.tensors = {{"x", {-1, 1, 1, -1, 1, "max"}}, {"y", {0, 4, 4, 0, 4, "max"}}};
  options.table.value = table;
  EXPECT_THAT(ErrorOf([&] { Deploy(options); }), HasSubstr("or leave --weight-clipping out"));
  options.profile = ProfileId::kAscend;
  EXPECT_THAT(ErrorOf([&] { Deploy(options); }), HasSubstr("are not for --profile ascend"));
  EXPECT_THROW(ParseWeightRounding("up"), Error);
  EXPECT_THROW(ParseWeightClipping("kl"), Error);
}

}  // namespace
}  // namespace rshift::test
