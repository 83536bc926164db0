#include "pipeline/choose_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/passes/passes.h"
#include "pipeline/calibrate.h"
#include "pipeline/consumer_graph.h"
#include "tests/base/error_of.h"
#include "tests/graph/onnx_builder.h"
#include "tests/pipeline/little_model.h"

namespace rshift::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr unsigned kSeed = 23;
constexpr int kRows = 64, kColumns = 8;

std::vector<uint8_t> BytesOf(const rshift::testing::ModelBuilder& model) {
  const std::string bytes = model.Bytes();
  return {bytes.begin(), bytes.end()};
}

// x -> MatMul -> Relu -> MatMul -> y. `row`: the only column of x that the first product reads, or
// all but one for a negative one: -1 - column.
std::vector<uint8_t> Net(int row) {
  std::vector<float> first(kColumns * kColumns), second(kColumns * kColumns);
  for (size_t i = 0; i < first.size(); ++i) {
    const int r = static_cast<int>(i) / kColumns;
    const bool read = row >= 0 ? r == row : r != -1 - row;
    first[i] = read ? std::sin(static_cast<float>(i + 1)) : 0.0f;
    second[i] = std::cos(static_cast<float>(3 * i));
  }
  rshift::testing::ModelBuilder model;
  model.Input("x", {kRows, kColumns}).Floats("a", {kColumns, kColumns}, first);
  model.Floats("b", {kColumns, kColumns}, second);
  model.Node("MatMul", {"x", "a"}, {"p"}).Node("Relu", {"p"}, {"r"});
  model.Node("MatMul", {"r", "b"}, {"y"}).Output("y");
  return BytesOf(model);
}

// Normal numbers; one of column 0 in each sample is 60 times larger.
std::vector<Sample> Data(int count) {
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<Sample> samples;
  for (int s = 0; s < count; ++s) {
    Sample sample{"sample " + std::to_string(s), {std::vector<float>(kRows * kColumns)}};
    for (float& x : sample.inputs[0]) x = normal(random);
    sample.inputs[0][kColumns * static_cast<size_t>(s % kRows)] = 60;
    samples.push_back(std::move(sample));
  }
  return samples;
}

CalibrateOptions Options(std::vector<uint8_t> model, int samples) {
  CalibrateOptions options{.model = {"net.onnx", std::move(model)}};
  options.data = Data(samples);
  options.equalize = "off";
  options.automatic = true;
  options.method.percentile = 99;
  return options;
}

TEST(ChooseRangesTest, ClipsWhatNobodyReads) {
  const CalibrationTable table = Calibrate(Options(Net(-1), 20)).table;
  const TensorRange& x = *table.Find("x");
  EXPECT_EQ(table.method, "auto");
  EXPECT_LT(x.threshold, 10);
  EXPECT_LT(x.high, 10);
  EXPECT_THAT(x.reason, HasSubstr("MatMul"));
  EXPECT_GT(x.symmetric->clipped, 0);
}

TEST(ChooseRangesTest, KeepsWhatTheConsumerLivesOn) {
  const TensorRange x = *Calibrate(Options(Net(0), 20)).table.Find("x");
  EXPECT_GT(x.threshold, 59);
  EXPECT_GT(x.high, 59);
}

TEST(ChooseRangesTest, OutputsAreNeverClipped) {
  for (const int row : {-1, 0}) {
    const TensorRange y = *Calibrate(Options(Net(row), 20)).table.Find("y");
    EXPECT_EQ(y.threshold, std::max(-y.min, y.max));
    EXPECT_EQ(y.low, y.min);
    EXPECT_EQ(y.high, y.max);
    EXPECT_EQ(y.reason, "never clipped: an output of the model");
  }
}

TEST(ChooseRangesTest, ThreadsAndTheOrderOfTheSamplesMakeNoDifference) {
  CalibrateOptions options = Options(Net(3), 40);
  options.threads = 1;
  const std::string one = WriteTable(Calibrate(options).table);
  options.threads = 4;
  EXPECT_EQ(WriteTable(Calibrate(options).table), one);
  std::reverse(options.data.begin(), options.data.end());
  EXPECT_EQ(WriteTable(Calibrate(options).table), one);
}

TEST(ChooseRangesTest, EveryRangeIsThatOfAMethod) {
  CalibrateOptions options = Options(Net(2), 20);
  const CalibrationTable chosen = Calibrate(options).table;
  options.automatic = false;
  options.every_method = true;
  const std::vector<CalibrationTable> tables = Calibrate(options).tables;
  ASSERT_EQ(tables.size(), AllMethods().size());
  for (const auto& [name, range] : chosen.tensors) {
    const auto offers = [&, &n = name](auto same) {
      return std::any_of(tables.begin(), tables.end(),
                         [&](const CalibrationTable& table) { return same(*table.Find(n)); });
    };
    EXPECT_TRUE(
        offers([&, &r = range](const TensorRange& t) { return t.threshold == r.threshold; }));
    EXPECT_TRUE(offers(
        [&, &r = range](const TensorRange& t) { return t.low == r.low && t.high == r.high; }));
  }
}

TEST(ChooseRangesTest, SamplesInMemoryCannotBeReadAgain) {
  CalibrateOptions options = Options(Net(0), 5);
  CalibrateOptions later{.model = options.model};
  later.statistics.push_back({"five.stats", Calibrate(options).statistics});
  later.automatic = true;
  EXPECT_THAT(ErrorOf([&] { Calibrate(later); }), HasSubstr("five.stats records none"));
}

TEST(ChooseRangesTest, AnInterruptionIsHeard) {
  CalibrateOptions options = Options(Net(0), 5);
  int asked = 0;
  CalibrateEvents events;
  events.interrupted = [&] { return ++asked > 8; };
  EXPECT_THROW(Calibrate(options, events), Error);
  EXPECT_GT(asked, 8);
}

Graph GraphOf(const rshift::testing::ModelBuilder& model) {
  const std::vector<uint8_t> bytes = BytesOf(model);
  return RunPasses(ImportOnnxBytes(bytes, "net.onnx", {}));
}

TEST(ConsumerGraphTest, FollowsWhatOnlyMovesToWhatComputes) {
  rshift::testing::ModelBuilder model;
  model.Input("x", {4, 6}).Floats("w", {4, 3}, std::vector<float>(12, 0.5f));
  model.Node("Relu", {"x"}, {"t"}).Node("Transpose", {"t"}, {"moved"});
  model.Node("MatMul", {"moved", "w"}, {"y"}).Node("Sigmoid", {"y"}, {"z"}).Output("z");
  const Graph graph = GraphOf(model);
  const ConsumerGraph found = ConsumersOf(graph, graph.FindValue("t"));
  found.graph.Check();
  EXPECT_THAT(found.readers, StartsWith("MatMul"));
  EXPECT_EQ(found.keep_all, "");
  ASSERT_EQ(found.graph.inputs.size(), 1u);
  EXPECT_EQ(found.graph.value(found.graph.inputs[0]).name, "t");
  EXPECT_THAT(found.graph.output_names, ::testing::ElementsAre("y"));
}

TEST(ConsumerGraphTest, OtherActivationsAreInputs) {
  rshift::testing::ModelBuilder model;
  model.Input("x", {4, 6}).Input("other", {4, 6});
  model.Node("Add", {"x", "other"}, {"sum"}).Node("Sigmoid", {"sum"}, {"z"}).Output("z");
  const Graph graph = GraphOf(model);
  const ConsumerGraph found = ConsumersOf(graph, graph.FindValue("other"));
  ASSERT_EQ(found.graph.inputs.size(), 2u);
  EXPECT_EQ(found.graph.value(found.graph.inputs[0]).name, "other");
  EXPECT_EQ(found.graph.value(found.graph.inputs[1]).name, "x");
}

TEST(ConsumerGraphTest, WhatMayNotBeClipped) {
  const auto keep_all = [](const char* op, bool moved) {
    rshift::testing::ModelBuilder model;
    model.Input("x", {4, 6}).Node("Relu", {"x"}, {"t"});
    if (moved) model.Node("Transpose", {"t"}, {"m"});
    model.Node(op, {moved ? "m" : "t"}, {"y"}).Output("y");
    const Graph graph = GraphOf(model);
    return ConsumersOf(graph, graph.FindValue("t")).keep_all;
  };
  for (const bool moved : {false, true}) {
    EXPECT_EQ(keep_all("Softmax", moved), "read by a Softmax");
    EXPECT_EQ(keep_all("ArgMax", moved), "read by ArgMax, which decides by it");
    EXPECT_EQ(keep_all("Transpose", moved), "an output of the model");
    EXPECT_EQ(keep_all("Tanh", moved), "");
  }
}

}  // namespace
}  // namespace rshift::test
