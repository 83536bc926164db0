#include "pipeline/bias_correction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <variant>

#include "codegen/compile.h"
#include "codegen/passes/passes.h"
#include "graph/passes/passes.h"
#include "pipeline/bias_layers.h"
#include "pipeline/channel_moments.h"
#include "pipeline/check_samples.h"
#include "pipeline/deploy.h"
#include "pipeline/paired_choice.h"
#include "pipeline/program_pair.h"
#include "pipeline/sample_runs.h"
#include "pipeline/usage.h"
#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "tests/graph/onnx_builder.h"
#include "tests/pipeline/little_model.h"
#include "tests/pipeline/two_products.h"

namespace rshift::test {
namespace {

using ::rshift::testing::ModelBuilder;
using ::testing::HasSubstr;

constexpr int kRows = 16, kColumns = 8;

// Every weight but the first of a column is 0.4 steps of the column's scale, which integers have
// not.
constexpr float kLost = 0.4f / 127;

std::vector<float> Weights(float other) {
  std::vector<float> weights(kColumns * kColumns, other);
  for (int c = 0; c < kColumns; ++c) weights[static_cast<size_t>(c)] = 1;
  return weights;
}

Graph Net(float other) { return TwoProducts(kRows, kColumns, Weights(other), Weights(other)); }

CalibrationTable Table() { return TwoProductsTable(2, 4, 4); }

// Numbers about `mean` for all columns; the first of each row is spread.
SampleList Data(float mean, int count) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 0.25f);
  std::vector<Sample> samples;
  for (int s = 0; s < count; ++s) {
    Sample sample{"sample " + std::to_string(s), {std::vector<float>(kRows * kColumns, mean)}};
    for (size_t i = 0; i < sample.inputs[0].size(); ++i)
      sample.inputs[0][i] += normal(random) * (i % kColumns == 0 ? 1.0f : 0.2f);
    samples.push_back(std::move(sample));
  }
  return SampleList(std::move(samples));
}

BiasCorrection Correct(const Graph& graph, const Dataset& samples, BiasCorrectionMode mode,
                       int threads = 1) {
  QuantizeOptions options;
  return CorrectBiases(graph, Table(), options, samples, mode, threads);
}

TEST(BiasCorrectionTest, AKnownMeanComesBack) {
  const Graph graph = Net(kLost);
  for (const auto mode : {BiasCorrectionMode::kFast, BiasCorrectionMode::kFull}) {
    const BiasCorrection found = Correct(graph, Data(1, 12), mode);
    const BiasCorrectionReport& report = found.report;
    EXPECT_TRUE(report.kept) << Name(mode);
    EXPECT_GT(report.after_db, report.before_db + 3) << Name(mode);
    EXPECT_EQ(report.layers, 2);
    EXPECT_EQ(report.candidates, 2);
    EXPECT_EQ(report.samples, 12);
    ASSERT_EQ(found.biases.size(), 2u);
    // The first product: seven columns of mean 1 with 0.4 steps each; x's own rounding beside it.
    const std::string first = graph.nodes()[0].name;
    for (const float bias : found.biases.at(first)) EXPECT_NEAR(bias, 7 * kLost, 0.35 * kLost);
  }
}

TEST(BiasCorrectionTest, FullSeesWhatEarlierLayersLeaveBehind) {
  // Where each layer by itself is exact but for the clipped input, the second one finds its input
  // right again only once the first is corrected.
  const Graph graph = Net(0);
  const SampleList samples = Data(2, 12);  // half of x lies beyond its range
  const BiasCorrection full = Correct(graph, samples, BiasCorrectionMode::kFull);
  EXPECT_EQ(full.report.passes, 1 + 2 + 1);  // before, two levels, after
  EXPECT_TRUE(full.report.kept);
  EXPECT_GT(full.biases.at(graph.nodes()[0].name)[0], 0.05f);
}

TEST(BiasCorrectionTest, NothingIsChangedWhereNothingIsGained) {
  const Graph graph = Net(0);
  const BiasCorrection found = Correct(graph, Data(0, 12), BiasCorrectionMode::kFast);
  EXPECT_FALSE(found.report.kept);
  EXPECT_TRUE(found.biases.empty());
}

TEST(BiasCorrectionTest, TheDefaultIsFastWhereItBringsADecibel) {
  const SampleList samples = Data(1, 12);
  const BiasCorrection large = Correct(Net(kLost), samples, BiasCorrectionMode::kFast);
  const BiasCorrection kept = Correct(Net(kLost), samples, BiasCorrectionMode::kAuto);
  EXPECT_TRUE(kept.report.kept);
  EXPECT_EQ(kept.biases, large.biases);

  const Graph little = Net(0.44f * kLost);
  const BiasCorrectionReport small = Correct(little, samples, BiasCorrectionMode::kFast).report;
  EXPECT_TRUE(small.kept);
  EXPECT_LT(small.after_db - small.before_db, kAutoGainDb);
  const BiasCorrection none = Correct(little, samples, BiasCorrectionMode::kAuto);
  EXPECT_FALSE(none.report.kept);
  EXPECT_TRUE(none.biases.empty());
}

TEST(BiasCorrectionTest, ThreadsChangeNoBit) {
  const Graph graph = Net(kLost);
  const SampleList samples = Data(0.7f, 11);
  for (const auto mode : {BiasCorrectionMode::kFast, BiasCorrectionMode::kFull}) {
    const NodeBiases one = Correct(graph, samples, mode, 1).biases;
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(one, Correct(graph, samples, mode, 2).biases);
    EXPECT_EQ(one, Correct(graph, samples, mode, 7).biases);
  }
}

TEST(BiasCorrectionTest, AChannelBeyondAllStepsIsLeftAlone) {
  const Graph graph = Net(kLost);
  CalibrationTable table = Table();
  for (auto& [name, range] : table.tensors) {
    if (name == "r") range = {0, 1e-5f, 1e-5f, 0, 1e-5f, "max"};
  }
  QuantizeOptions options;
  const BiasCorrection found =
      CorrectBiases(graph, table, options, Data(1, 4), BiasCorrectionMode::kFast, 1);
  EXPECT_LE(found.report.largest_quanta, 255);
}

// --- slopes ---

// u = 0 ... 9, y = slope * unit * u + 3 + noise.
std::vector<ChannelMoments> Line(double slope, double unit, double noise) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<ChannelMoments> samples(12);
  for (ChannelMoments& m : samples) {
    for (int u = 0; u < 10; ++u) {
      const double y = slope * unit * u + 3 + noise * normal(random);
      m.count += 1;
      m.y += y;
      m.u += u;
      m.yu += y * u;
      m.uu += u * u;
    }
  }
  return samples;
}

TEST(SlopeTest, WorkedExamples) {
  EXPECT_NEAR(SlopeOf(Line(0.9, 0.25, 0), 0.25), 0.9, 1e-9);
  EXPECT_NEAR(SlopeOf(Line(1.1, 4, 0), 4), 1.1, 1e-9);
  EXPECT_NEAR(SlopeOf(Line(1.1, 1, 0.1), 1), 1.1, 0.02);
  EXPECT_EQ(SlopeOf(Line(1.01, 1, 5), 1), 1);  // chance
  EXPECT_EQ(SlopeOf(Line(0.4, 1, 0), 1), 1);   // lost, not scaled
  EXPECT_EQ(SlopeOf(Line(2.5, 1, 0), 1), 1);
  EXPECT_EQ(SlopeOf(std::vector<ChannelMoments>(3), 1), 1);
}

// Columns that are all equal: the seven weights of 0.4 steps that integers have not make 1 + 7 *
// 0.4 / 127 of the one that they have.
SampleList EqualColumns(int count) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> uniform(-1.5f, 1.5f);
  std::vector<Sample> samples;
  for (int s = 0; s < count; ++s) {
    Sample sample{"sample " + std::to_string(s), {std::vector<float>(kRows * kColumns)}};
    for (int row = 0; row < kRows; ++row) {
      const float value = uniform(random);
      for (int c = 0; c < kColumns; ++c)
        sample.inputs[0][static_cast<size_t>(row * kColumns + c)] = value;
    }
    samples.push_back(std::move(sample));
  }
  return SampleList(std::move(samples));
}

TEST(BiasCorrectionTest, RegressionScalesChannels) {
  const Graph graph = Net(kLost);
  const SampleList samples = EqualColumns(12);
  const BiasCorrection found = Correct(graph, samples, BiasCorrectionMode::kRegression);
  EXPECT_TRUE(found.report.kept);
  EXPECT_EQ(found.report.slopes, 2 * kColumns);
  const BiasCorrection full = Correct(graph, samples, BiasCorrectionMode::kFull);
  EXPECT_TRUE(full.weights.empty());
  EXPECT_EQ(full.report.slopes, 0);
  EXPECT_GT(found.report.after_db, full.report.after_db + 3);
  ASSERT_EQ(found.weights.size(), 2u);
  const ChosenWeights& first = found.weights.at(graph.nodes()[0].name);
  for (const float scale : first.scales) EXPECT_NEAR(scale * 127, 1 + 7 * kLost, 0.2 * 7 * kLost);
  for (const int threads : {2, 7}) {
    const BiasCorrection more = Correct(graph, samples, BiasCorrectionMode::kRegression, threads);
    EXPECT_EQ(more.biases, found.biases);
    EXPECT_EQ(more.weights.at(graph.nodes()[0].name).scales, first.scales);
  }
}

// --- means by tap sums, against the programs' own outputs ---

std::vector<float> Random(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = uniform(random);
  return numbers;
}

const Node* ConvOf(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<Conv>(node.op) || std::holds_alternative<ConvTranspose>(node.op))
      return &node;
  }
  return nullptr;
}

struct Window2 {
  bool transposed;
  int groups, kernel, stride, dilation, pad;
};

void ExpectMeans(const Window2& w, unsigned seed) {
  std::mt19937 random(seed);
  const int channels = 4;
  ModelBuilder model;
  model.Input("x", {1, channels, 9, 7});
  const Shape shape = {channels, channels / w.groups, w.kernel, w.kernel};
  model.Floats("w", shape, Random(static_cast<size_t>(NumElements(shape)), random));
  model.Node(w.transposed ? "ConvTranspose" : "Conv", {"x", "w"}, {"y"},
             {{"group", w.groups},
              {"strides", {w.stride, w.stride}},
              {"dilations", {w.dilation, w.dilation}},
              {"pads", {w.pad, w.pad, w.pad, w.pad}}});
  model.Output("y");
  const Graph graph = GraphOf(model);
  CalibrationTable table;
  table.tensors = {{"x", {-1, 1, 1, -1, 1, "max"}}, {"y", {-12, 12, 12, -12, 12, "max"}}};
  QuantizeOptions options;
  options.mode = QuantMode::kAsymmetric;
  const Graph quantized = QuantizeGraph(graph, table, options).graph;
  const std::vector<BiasLayer> layers = FindBiasLayers(graph, quantized);
  ASSERT_EQ(layers.size(), 1u);
  const Program program = CompileObservable(graph, "float program");
  Session session(program, {.threads = 1});
  const std::vector<float> x = Random(channels * 9 * 7, random);
  std::memcpy(session.Input(0).data(), x.data(), x.size() * sizeof(float));
  session.Run();
  const auto* y = reinterpret_cast<const float*>(session.Output(0).data());
  // What the layer reads is NHWC; the program's input and output are as in ONNX.
  std::vector<float> nhwc(x.size());
  for (size_t i = 0; i < x.size(); ++i) nhwc[i % 63 * channels + i / 63] = x[i];
  std::vector<std::byte> bytes(nhwc.size());
  TensorRecord record;
  record.dtype = layers[0].dtype;
  record.quantized = true;
  record.scale = layers[0].quant.scale;
  record.zero_point = layers[0].quant.zero_point;
  StoreValues(record, nhwc, bytes);
  const std::vector<double> floats = FloatMeans(layers[0], nhwc.data());
  const std::vector<double> integers = IntegerMeans(layers[0], bytes);
  const std::optional<WindowRows> rows = WindowRowsOf(graph, *ConvOf(graph));
  ASSERT_EQ(rows.has_value(), !w.transposed);
  std::vector<ChannelMoments> moments(channels);
  if (rows) moments = MomentsOf(layers[0], *rows, nhwc, bytes);
  const size_t positions = session.Output(0).size() / sizeof(float) / channels;
  ASSERT_EQ(static_cast<int64_t>(positions), layers[0].taps.positions);
  for (size_t c = 0; c < channels; ++c) {
    double mean = 0;
    for (size_t p = 0; p < positions; ++p) mean += static_cast<double>(y[c * positions + p]);
    mean /= static_cast<double>(positions);
    EXPECT_NEAR(floats[c], mean, 1e-5) << "channel " << c;
    EXPECT_NEAR(integers[c], mean, 0.02) << "channel " << c;  // steps of x and w: below 1/100
    if (!rows) continue;
    const ChannelMoments& m = moments[c];
    const double unit = layers[0].quant.scale * static_cast<double>(layers[0].scales[c]);
    double squares = 0;
    for (size_t p = 0; p < positions; ++p) squares += std::pow(y[c * positions + p], 2);
    ASSERT_EQ(m.count, static_cast<double>(positions));
    EXPECT_NEAR(m.y / m.count, floats[c], 1e-6);
    EXPECT_NEAR(m.u * unit / m.count, integers[c], 1e-9);
    // Only where positions correspond are products what squares are.
    EXPECT_NEAR(m.yu * unit / squares, 1, 0.02);
    EXPECT_NEAR(m.uu * unit * unit / squares, 1, 0.04);
  }
}

TEST(BiasLayersTest, MeansAreThoseOfTheProgramsOutputs) {
  unsigned seed = 100;
  for (const bool transposed : {false, true}) {
    for (const int groups : {1, 2, 4}) {
      for (const int stride : {1, 2, 3}) {
        for (const int dilation : {1, 2}) {
          for (const int pad : {0, 1, 2}) {
            SCOPED_TRACE(::testing::Message()
                         << (transposed ? "ConvTranspose" : "Conv") << " groups " << groups
                         << " stride " << stride << " dilation " << dilation << " pad " << pad
                         << " seed " << ++seed);
            ExpectMeans({transposed, groups, 3, stride, dilation, pad}, seed);
          }
        }
      }
    }
  }
}

// x + conv(relu(x)) with 16 bits in the sum: the convolution reads bytes, of which the integer
// graph has a wider form, the program none.
TEST(BiasLayersTest, WhatIsWidenedForAProductIsReadAsBytes) {
  std::mt19937 random(7);
  ModelBuilder model;
  model.Input("x", {1, 4, 5, 5}).Floats("w", {4, 4, 3, 3}, Random(144, random));
  model.Node("Relu", {"x"}, {"r"});
  model.Node("Conv", {"r", "w"}, {"c"}, {{"pads", {1, 1, 1, 1}}});
  model.Node("Add", {"x", "c"}, {"y"}).Output("y");
  const Graph graph = GraphOf(model);
  CalibrationTable table;
  for (const char* name : {"x", "r", "c", "y"})
    table.tensors.push_back({name, {-6, 6, 6, -6, 6, "max"}});
  QuantizeOptions options;
  options.residual_bits = 16;
  const Graph quantized = QuantizeGraph(graph, table, options).graph;
  const std::vector<BiasLayer> layers = FindBiasLayers(graph, quantized);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_NE(layers[0].dtype, DType::kS16);
  const Program program =
      CompileObservable(RunTargetPasses(quantized, options.target), "integer program");
  EXPECT_EQ(TensorPlaces(program, {layers[0].integer_x}).size(), 1u);
}

TEST(BiasLayersTest, StepsThatShareTheirWeightsAreLeftAlone) {
  ModelBuilder model;
  model.Input("x", {1, kRows, kColumns}).Floats("a", {kColumns, kColumns}, Weights(kLost));
  model.Node("MatMul", {"x", "a"}, {"p"}).Node("Relu", {"p"}, {"r"});
  model.Node("MatMul", {"r", "a"}, {"y"}).Output("y");
  const Graph graph = GraphOf(model);
  const Graph quantized = QuantizeGraph(graph, Table(), {}).graph;
  EXPECT_TRUE(FindBiasLayers(graph, quantized).empty());
}

// --- what Deploy refuses ---

std::string UsageErrorOf(const DeployOptions& options) {
  try {
    Deploy(options);
  } catch (const UsageError& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("Error: ") + error.what();
  }
  return "no error";
}

TEST(BiasCorrectionTest, DeployRefusesWhatMakesNoSense) {
  DeployOptions options{.model = {"little.onnx", LittleModel()}};
  options.bias_correction = BiasCorrectionMode::kFast;
  options.mode = DeployMode::kF32;
  EXPECT_EQ(UsageErrorOf(options),
            "--bias-correction has no meaning with --mode f32: leave it out");
  options.mode = DeployMode::kSymmetric;
  CalibrationTable table;
  table.method = "by hand";
  table.tensors = {{"x", {-1, 1, 1, -1, 1, "max"}}, {"y", {0, 4, 4, 0, 4, "max"}}};
  options.table.value = table;
  EXPECT_EQ(UsageErrorOf(options),
            "Error: --bias-correction: there are no samples to measure on: the table records no "
            "samples (it is old, converted or written by hand); give some with --correction-data, "
            "or leave --bias-correction out");
  options.bias_correction = BiasCorrectionMode::kOff;
  options.weights.rounding = WeightRounding::kNearest;
  options.correction_data = {"x.npy"};
  EXPECT_THAT(UsageErrorOf(options),
              HasSubstr("--correction-data is for --auto, --bias-correction"));
}

}  // namespace
}  // namespace rshift::test
