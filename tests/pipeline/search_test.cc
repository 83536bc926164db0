#include "pipeline/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "pipeline/output_quality.h"
#include "pipeline/search/noise.h"
#include "pipeline/search/state.h"
#include "pipeline/search/trials.h"
#include "runtime/onednn/float_library.h"
#include "tests/base/error_of.h"
#include "tests/pipeline/sample_list.h"

namespace rshift::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- the budget ---

TEST(SearchBudgetTest, EachPart) {
  const SearchBudget budget = ParseBudget(
      {"cosine=0.99", "top1=98.5", "boxes=0.9", "float-layers=0", "time=40evaluations"});
  EXPECT_EQ(budget.cosine, 0.99);
  EXPECT_EQ(budget.top1, 98.5);
  EXPECT_EQ(budget.boxes, 0.9);
  EXPECT_EQ(budget.float_layers, 0);
  EXPECT_EQ(budget.evaluations, 40);
  EXPECT_TRUE(budget.has_aim());
  EXPECT_FALSE(ParseBudget({"float-layers=3"}).has_aim());
}

TEST(SearchBudgetTest, WhatIsNone) {
  for (const char* text : {"", "cosine", "cosine=", "cosine=1.5", "cosine=0", "cosine=nan",
                           "top1=101", "boxes=95", "float-layers=-1", "float-layers=1.5", "time=40",
                           "time=0evaluations", "time=evaluations", "sqnr=20", "cosine=0.9 "}) {
    EXPECT_THROW(ParseBudget({text}), Error) << text;
  }
  EXPECT_THROW(ParseBudget({"cosine=0.9", "cosine=0.8"}), Error);
}

// --- the state ---

class SearchStateTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = ::testing::TempDir() + "search_state_test.json";
};

TEST_F(SearchStateTest, GivesBackEveryBit) {
  SampleScore score{.decibels = 1.0 / 3,
                    .rows = 2,
                    .agree = 1,
                    .labelled = 2,
                    .right = 1,
                    .float_right = 2,
                    .found = {0.1, 1e300},
                    .wanted = {5e-324, 2},
                    .products = {-0.7, 3},
                    .boxes = {7, 6, 5}};
  const Measured measured{{score, score}, 1e6 / 7, 1, 2, 3, 4};
  {
    SearchState state(path_, "this");
    EXPECT_FALSE(state.resumed());
    state.Add("a", measured);
    state.AddNumbers("n", {2.0 / 3, -1});
  }
  const SearchState again(path_, "this");
  ASSERT_TRUE(again.resumed());
  ASSERT_NE(again.Find("a"), nullptr);
  EXPECT_EQ(again.Find("a")->scores, measured.scores);
  EXPECT_EQ(again.Find("a")->nanoseconds, measured.nanoseconds);
  EXPECT_EQ(again.Find("a")->macs_float, 3);
  EXPECT_EQ(again.Find("b"), nullptr);
  EXPECT_THAT(*again.FindNumbers("n"), ElementsAre(2.0 / 3, -1));
  EXPECT_THROW(SearchState(path_, "another"), Error);
}

// --- groups, noise and the search itself ---

struct SearchedNet {
  LittleGraph little = NetWithOneBadTensor();
  CalibrationTable table = little.Calibrate(12);
  QuantizeOptions options;
  SampleList samples = Samples(little);

  SearchedNet() { RegisterFloatLibrary(); }
  SearchResult Run(const SearchBudget& budget, int threads = 1) {
    const SearchInput input{.floating = little.graph(),
                            .table = table,
                            .options = options,
                            .samples = samples,
                            .labels = {},
                            .threads = threads,
                            .identity = "test",
                            .state_path = "",
                            .progress = {}};
    return Search(input, budget);
  }
};

Binary Sum() {
  Binary sum{};
  sum.op = BinaryOp::kAdd;
  return sum;
}

TEST(SearchTest, AProductAndWhatFollowsItIsAGroup) {
  LittleGraph little(3);
  const ValueId x = little.Input("x", {4, 8});
  const ValueId a =
      little.Add("a", MatMul{}, {x, little.RandomConstant("wa", {8, 8}, -1, 1)}, {4, 8});
  const ValueId r = little.Add("r", Clip{{0, 6}}, {a}, {4, 8});
  const ValueId b =
      little.Add("b", MatMul{}, {r, little.RandomConstant("wb", {8, 8}, -1, 1)}, {4, 8});
  const ValueId sum = little.Add("sum", Sum(), {b, r}, {4, 8});
  little.Output(sum);
  const auto groups = GroupOperators(little.graph(), little.Calibrate(), {});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].tensors, ElementsAre("a", "r"));
  EXPECT_THAT(groups[0].inputs, ElementsAre("x"));
  EXPECT_THAT(groups[0].readers, ElementsAre(1u));
  EXPECT_THAT(groups[1].tensors, ElementsAre("b", "sum"));
  EXPECT_EQ(groups[0].macs, 4 * 8 * 8);
}

TEST(SearchTest, WhatTheConfigurationSaysIsInNoGroup) {
  SearchedNet net;
  net.options.config.layers["narrow"].activation_bits = 8;
  for (const OperatorGroup& group : GroupOperators(net.little.graph(), net.table, net.options))
    EXPECT_THAT(group.tensors, ::testing::Not(::testing::Contains("narrow")));
}

// As runs of each node alone say (sensitivity_test.cc).
TEST(SearchTest, OnePassFindsThoseThatShareTheBadTensor) {
  SearchedNet net;
  const auto groups = GroupOperators(net.little.graph(), net.table, net.options);
  ASSERT_EQ(groups.size(), 4u);
  const Graph integer = QuantizeGraph(net.little.graph(), net.table, net.options).graph;
  const std::vector<double> measured = MeasureNoise(net.little.graph(), integer, net.samples);
  const std::vector<double> noise = NoiseOfGroups(net.little.graph(), groups, measured, measured);
  EXPECT_GT(std::max(noise[1], noise[2]), 10 * noise[0]);
  EXPECT_GT(std::max(noise[1], noise[2]), 10 * noise[3]);
}

// The weights behind the bad tensor are as bad: 16 bits do not bring them back.
TEST(SearchTest, FloatReachesTheBudgetWhereSixteenBitsDoNot) {
  SearchedNet net;
  const SearchResult found = net.Run(ParseBudget({"cosine=0.999"}));
  EXPECT_TRUE(found.report.reached);
  EXPECT_TRUE(found.report.divided);
  const SearchPoint& chosen = found.report.points[found.report.chosen];
  EXPECT_GE(chosen.judging.cosine, 0.999);
  EXPECT_GE(chosen.making.cosine, 0.999);
  EXPECT_LT(found.report.points[found.report.first].judging.cosine, 0.99);
  EXPECT_TRUE(found.config.layers.contains("wide"));
  EXPECT_THAT(SearchConfigText(found.report, "layers: {first: {per_channel: false}}"),
              HasSubstr("wide: {mode: f32}"));
}

TEST(SearchTest, AnOtherProfileLeavesThemInFloat) {
  SearchedNet net;
  net.options.profile.id = ProfileId::kTfLite;
  net.options.mode = QuantMode::kAsymmetric;
  const SearchResult found = net.Run(ParseBudget({"cosine=0.999"}));
  EXPECT_TRUE(found.report.reached);
  EXPECT_GT(found.report.points[found.report.chosen].groups_float, 0);
  EXPECT_EQ(found.report.points[found.report.chosen].groups_16, 0);
  // Nothing goes to F32 that was not asked for.
  EXPECT_EQ(net.Run({}).report.points.back().groups_float, 0);
}

TEST(SearchTest, ThreadsAndTheEvaluationsAllowed) {
  SearchedNet net;
  const std::string one = SearchText(net.Run({}, 1).report);
  EXPECT_EQ(SearchText(net.Run({}, 3).report), one);
  const SearchResult few = net.Run(ParseBudget({"cosine=1", "time=2evaluations"}));
  EXPECT_EQ(few.report.evaluations, 2);
  EXPECT_TRUE(few.report.stopped);
  EXPECT_FALSE(few.report.reached);
}

TEST(SearchTest, RowsOfClassesAreCounted) {
  SearchedNet net;  // its output is [16, 10]
  EXPECT_TRUE(net.Run(ParseBudget({"top1=1"})).report.points[0].judging.classes);
}

TEST(SearchTest, ABudgetOfBoxesNeedsSome) {
  SearchedNet net;
  EXPECT_THAT(ErrorOf([&] { net.Run(ParseBudget({"boxes=0.9"})); }),
              HasSubstr("--budget boxes: the float program finds no boxes"));
}

// Numbers of classes and probabilities hide by how much the numbers behind them are wrong.
TEST(JudgedValueTest, IsWhatAFinalArgMaxOrSoftmaxReads) {
  LittleGraph g;
  const ValueId w = g.RandomConstant("w", {4, 4}, -1, 1);
  const ValueId scores = g.Add("scores", MatMul{}, {g.Input("x", {8, 4}), w}, {8, 4});
  const ValueId moved = g.Add("moved", Transpose{{1, 0}}, {scores}, {4, 8});
  const ValueId shares = g.Add("shares", Softmax{0}, {moved}, {4, 8});
  const ValueId of_scores = g.AddIndex("of_scores", ArgMax{0}, {moved}, {1, 8});
  const ValueId of_shares = g.AddIndex("of_shares", ArgMax{0}, {shares}, {1, 8});
  const ValueId flat = g.AddIndex("flat", Reshape{}, {of_scores}, {8});
  const ValueId as_s32 = g.AddIndex("as_s32", Cast{DType::kS32}, {flat}, {8});
  const ValueId shares_again = g.Add("shares_again", Cast{DType::kF32}, {shares}, {4, 8});
  EXPECT_EQ(BeforeChoice(g.graph(), as_s32), moved);
  EXPECT_EQ(BeforeChoice(g.graph(), shares_again), shares_again);
  EXPECT_EQ(BeforeChoice(g.graph(), of_scores), moved);
  EXPECT_EQ(BeforeChoice(g.graph(), flat), moved);
  EXPECT_EQ(BeforeChoice(g.graph(), shares), moved);
  EXPECT_EQ(BeforeChoice(g.graph(), of_shares), moved);
  EXPECT_EQ(BeforeChoice(g.graph(), moved), moved);
}

}  // namespace
}  // namespace rshift::test
