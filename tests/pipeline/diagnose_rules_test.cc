// Every rule of diagnose on facts just below and just above its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pipeline/diagnose/diagnosis.h"
#include "pipeline/diagnose/rules.h"
#include "quantize/ranges/table.h"

namespace rshift {
namespace {

DiagnoseCommands SomeCommands() {
  DiagnoseCommands commands;
  commands.model = "net.onnx";
  commands.dataset = "--dataset x.npy";
  commands.mode = "symmetric";
  return commands;
}

size_t Count(FindFunction rule, const DiagnoseFacts& facts) {
  return rule(facts, SomeCommands()).size();
}

// A tensor of values -1 to 1 in a range that fits them.
TensorFacts SomeTensor() {
  TensorFacts t;
  t.tensor = "t";
  t.node = "n";
  t.op = "Conv";
  t.min = -1;
  t.max = 1;
  t.bulk_peak = 1;
  t.bulk_rms = 0.5;
  t.has_range = true;
  t.range_low = -1;
  t.range_high = 1;
  t.method = "kl";
  return t;
}

DiagnoseFacts With(const TensorFacts& tensor, size_t samples = 10) {
  DiagnoseFacts facts;
  facts.mode = "symmetric";
  for (size_t s = 0; s < samples; ++s) facts.samples.push_back("sample " + std::to_string(s));
  facts.tensors = {tensor};
  facts.verdict.grade = Grade::kBad;
  return facts;
}

// Of 100 samples, as given and with another preprocessing: right answers at offsets -1, 0, 1.
DiagnoseFacts WithHits(std::array<int64_t, 3> given, std::array<int64_t, 3> other) {
  DiagnoseFacts facts;
  facts.preprocess.emplace();
  facts.preprocess->labels = true;
  facts.preprocess->samples = 100;
  facts.preprocess->variants.resize(2);
  for (auto& variant : facts.preprocess->variants) variant.low = -1, variant.high = 1;
  facts.preprocess->variants[0].hits = given;
  facts.preprocess->variants[1].hits = other;
  return facts;
}

TEST(DiagnoseRules, LabelsAreOffByMoreThanATenth) {
  EXPECT_EQ(Count(FindLabelOffset, WithHits({0, 60, 70}, {0, 0, 0})), 0u);
  EXPECT_EQ(Count(FindLabelOffset, WithHits({0, 60, 71}, {0, 0, 0})), 1u);
  EXPECT_EQ(Count(FindLabelOffset, WithHits({71, 60, 0}, {0, 0, 0})), 1u);
  // The right labels are compared: neither way of preparing is better.
  EXPECT_EQ(Count(FindWrongPreprocessing, WithHits({0, 5, 80}, {0, 30, 80})), 0u);
}

TEST(DiagnoseRules, AnotherPreprocessingIsBetterByMoreThanATenth) {
  EXPECT_EQ(Count(FindWrongPreprocessing, WithHits({0, 60, 0}, {0, 70, 0})), 0u);
  EXPECT_EQ(Count(FindWrongPreprocessing, WithHits({0, 60, 0}, {0, 71, 0})), 1u);
}

TEST(DiagnoseRules, AnotherScaleOfTheInputIsARuleOfItsOwn) {
  DiagnoseFacts facts = WithHits({0, 60, 0}, {0, 90, 0});
  facts.preprocess->variants[0].high = 15;  // 16 wide beside 2
  EXPECT_EQ(Count(FindUnnormalisedInput, facts), 0u);
  EXPECT_EQ(Count(FindWrongPreprocessing, facts), 1u);
  facts.preprocess->variants[0].high = 15.01f;
  EXPECT_EQ(Count(FindUnnormalisedInput, facts), 1u);
  EXPECT_EQ(Count(FindWrongPreprocessing, facts), 0u);
}

TEST(DiagnoseRules, TheBatchNormJudgesWithoutLabels) {
  DiagnoseFacts facts = WithHits({0, 0, 0}, {0, 0, 0});
  facts.preprocess->labels = false;
  facts.preprocess->variants[0].norm_distance = 1.9;
  facts.preprocess->variants[1].norm_distance = 1;
  EXPECT_EQ(Count(FindWrongPreprocessing, facts), 0u);
  facts.preprocess->variants[0].norm_distance = 2.1;
  EXPECT_EQ(Count(FindWrongPreprocessing, facts), 1u);
}

TEST(DiagnoseRules, AnInputWiderThanTheTablesIsNotNormalised) {
  TensorFacts input = SomeTensor();
  input.op = input.node = "";
  input.min = 0;
  input.max = 16;
  DiagnoseFacts facts = With(input);
  facts.table_given = true;
  EXPECT_EQ(Count(FindUnnormalisedInput, facts), 0u);
  facts.tensors[0].max = 16.1f;
  EXPECT_EQ(Count(FindUnnormalisedInput, facts), 1u);
  facts.table_given = false;
  EXPECT_EQ(Count(FindUnnormalisedInput, facts), 0u);
}

TEST(DiagnoseRules, OneSampleSetsTheRangeOfMoreThanATenthOfTheTensors) {
  TensorFacts calm = SomeTensor();
  calm.sample_peaks.assign(10, 1);
  TensorFacts loud = calm;
  loud.sample_peaks[3] = 2.1f;
  DiagnoseFacts facts = With(loud);
  for (int i = 0; i < 9; ++i) facts.tensors.push_back(calm);
  EXPECT_EQ(Count(FindOutlierSample, facts), 0u);  // one of ten
  facts.tensors[4] = loud;
  ASSERT_EQ(Count(FindOutlierSample, facts), 1u);
  EXPECT_EQ(FindOutlierSample(facts, SomeCommands())[0].where, "sample 'sample 3'");
  for (const size_t i : {0, 4}) facts.tensors[i].sample_peaks[3] = 2;
  EXPECT_EQ(Count(FindOutlierSample, facts), 0u);
}

TEST(DiagnoseRules, FewSamplesSayNothingOfOutliers) {
  TensorFacts loud = SomeTensor();
  loud.sample_peaks = {1, 1, 9, 1, 1, 1, 1};
  EXPECT_EQ(Count(FindOutlierSample, With(loud, 7)), 0u);
  loud.sample_peaks.push_back(1);
  EXPECT_EQ(Count(FindOutlierSample, With(loud, 8)), 1u);
}

TEST(DiagnoseRules, ZeroFiltersAndConstantChannelsOfOutputs) {
  TensorFacts t = SomeTensor();
  t.channel_min = {-1, 0.5f};
  t.channel_max = {1, 0.5f};
  EXPECT_EQ(Count(FindDeadChannel, With(t)), 0u);  // inside the model a function may be off
  t.output = true;
  EXPECT_EQ(Count(FindDeadChannel, With(t)), 1u);
  EXPECT_EQ(Count(FindDeadChannel, With(t, 7)), 0u);
  t.channel_max[1] = 0.5001f;
  EXPECT_EQ(Count(FindDeadChannel, With(t)), 0u);
  t.zero_filters = {7};
  EXPECT_EQ(Count(FindDeadChannel, With(t)), 1u);
}

TEST(DiagnoseRules, AHugeValueDrownsTheOthers) {
  TensorFacts t = SomeTensor();
  t.max = t.range_high = 16;
  t.range_low = -16;
  t.bulk_rms = 0.3;  // a step of 32 / 255: 18 dB
  EXPECT_EQ(Count(FindHugeValue, With(t)), 0u);
  t.max = 16.1f;
  EXPECT_EQ(Count(FindHugeValue, With(t)), 1u);
  t.bulk_rms = 0.4;  // 20.8 dB
  EXPECT_EQ(Count(FindHugeValue, With(t)), 0u);
}

TEST(DiagnoseRules, TwoClustersLeaveTheLargerFewSteps) {
  TensorFacts t = SomeTensor();
  t.gap.share = 0.51;
  t.gap.smaller_side = 0.01;
  t.gap.larger_width = 15.9 * 2 / 255;
  EXPECT_EQ(Count(FindTwoClusters, With(t)), 1u);
  TensorFacts wide = t;
  wide.gap.larger_width = 16.1 * 2 / 255;
  EXPECT_EQ(Count(FindTwoClusters, With(wide)), 0u);
  TensorFacts constant = t;
  constant.gap.larger_width = 0;
  EXPECT_EQ(Count(FindTwoClusters, With(constant)), 0u);
  TensorFacts near = t;
  near.gap.share = 0.5;
  EXPECT_EQ(Count(FindTwoClusters, With(near)), 0u);
  TensorFacts rare = t;
  rare.gap.smaller_side = 0.001;
  EXPECT_EQ(Count(FindTwoClusters, With(rare)), 0u);
}

TEST(DiagnoseRules, HiddenScalesNeedALostMedianAndBadOutputs) {
  TensorFacts t = SomeTensor();
  t.channel_min.assign(5, -1);
  t.channel_max.assign(5, 1);
  t.channel_max[2] = 65;
  t.integer.emplace();
  t.integer->median_channel_db = 11.9;
  DiagnoseFacts facts = With(t);
  ASSERT_EQ(Count(FindHiddenScale, facts), 1u);
  EXPECT_NE(FindHiddenScale(facts, SomeCommands())[0].figure.find("channel 2"), std::string::npos);
  facts.tensors[0].channel_max[2] = 64;
  EXPECT_EQ(Count(FindHiddenScale, facts), 0u);
  facts.tensors[0] = t;
  facts.tensors[0].integer->median_channel_db = 12;
  EXPECT_EQ(Count(FindHiddenScale, facts), 0u);
  facts.tensors[0] = t;
  facts.verdict.grade = Grade::kGood;
  EXPECT_EQ(Count(FindHiddenScale, facts), 0u);
}

TEST(DiagnoseRules, EqualizationIsOfferedWhereItHelps) {
  TensorFacts t = SomeTensor();
  t.channel_min.assign(5, -1);
  t.channel_max = {1, 1, 100, 1, 1};
  t.integer.emplace();
  t.integer->median_channel_db = 0;
  DiagnoseFacts facts = With(t);
  const auto command = [&] { return FindHiddenScale(facts, SomeCommands())[0].command; };
  EXPECT_NE(command().find("--sensitivity"), std::string::npos);
  facts.not_equalized = {{{"t"}, 1, 30}};
  EXPECT_EQ(Count(FindHiddenScale, facts), 1u);  // once
  EXPECT_EQ(command(),
            "model_calibrate net.onnx --dataset x.npy --equalize auto -o net.table.yaml");
}

TEST(DiagnoseRules, JoinsCountTheStepsOfTheSmallest) {
  DiagnoseFacts facts = With(SomeTensor());
  facts.joins = {{"join", "Concat", "c", {{"a", 255}, {"b", 16}}}};
  EXPECT_EQ(Count(FindUnlikeScales, facts), 0u);
  facts.joins[0].inputs[1].quanta = 15.9;
  EXPECT_EQ(Count(FindUnlikeScales, facts), 1u);
  facts.joins[0].op = "Add";
  EXPECT_EQ(Count(FindUnlikeScales, facts), 0u);
  facts.joins[0].inputs[1].quanta = 0.9;
  EXPECT_EQ(Count(FindUnlikeScales, facts), 1u);
}

TEST(DiagnoseRules, HeadsMustKeepHalfOfTheirReach) {
  TensorFacts t = SomeTensor();
  t.range_high = 0.49f;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 0u);  // no head
  t.output = true;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 1u);
  t.range_high = 0.5f;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 0u);
}

TEST(DiagnoseRules, ASoftmaxHasOneEndAndASigmoidIsFlatFarOut) {
  TensorFacts t = SomeTensor();
  t.read_by = "Softmax";
  t.range_low = -0.1f;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 0u);
  t.range_high = 0.4f;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 1u);
  t = SomeTensor();
  t.read_by = "Sigmoid";
  t.min = -100;
  t.max = 100;
  t.range_low = -7;
  t.range_high = 7;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 0u);
  t.range_high = 3;
  EXPECT_EQ(Count(FindClippedHead, With(t)), 1u);
}

TEST(DiagnoseRules, DeadRangesOfATable) {
  TensorFacts t = SomeTensor();
  t.range_high = 4;
  DiagnoseFacts facts = With(t);
  facts.table_given = true;
  EXPECT_EQ(Count(FindDeadRange, facts), 0u);
  facts.tensors[0].range_high = 4.1f;
  EXPECT_EQ(Count(FindDeadRange, facts), 1u);
  facts.tensors[0].method = kKnownMethod;
  EXPECT_EQ(Count(FindDeadRange, facts), 0u);
}

TEST(DiagnoseRules, SaturationCountsShareAndElements) {
  TensorFacts t = SomeTensor();
  t.integer.emplace();
  t.integer->saturated = 0.011;
  t.integer->saturated_count = 32;
  t.min = -2 * std::max(-t.range_low, t.range_high);
  EXPECT_EQ(Count(FindSaturation, With(t)), 1u);
  TensorFacts bounded = t;  // a Tanh at its ends: nothing lies beyond them
  bounded.min = t.range_low;
  bounded.max = t.range_high;
  EXPECT_EQ(Count(FindSaturation, With(bounded)), 0u);
  t.integer->saturated_count = 31;
  EXPECT_EQ(Count(FindSaturation, With(t)), 0u);
  t.integer->saturated_count = 32;
  t.integer->saturated = 0.01;
  EXPECT_EQ(Count(FindSaturation, With(t)), 0u);
}

TEST(DiagnoseRules, ScoresCollapseBelowHalf) {
  DiagnoseFacts facts = With(SomeTensor());
  facts.scores.push_back({"y", 10, 0.5, 0.9, 0.4});
  EXPECT_EQ(Count(FindScoreCollapse, facts), 0u);
  facts.scores[0].median_ratio = 0.49;
  EXPECT_EQ(Count(FindScoreCollapse, facts), 1u);
}

TEST(Diagnosis, ASymptomIsLeftOutBesideACause) {
  DiagnoseFacts facts = With(SomeTensor());
  const auto names = [&] {
    std::string text;
    for (const RuleFindings& found : ApplyRules(facts, SomeCommands())) text += found.rule->name;
    return text;
  };
  EXPECT_EQ(names(), "");  // nothing was compared
  facts.verdict.outputs.resize(1);
  EXPECT_EQ(names(), "lossy-layer");
  facts.scores.push_back({"y", 10, 0.1, 0.9, 0.1});
  EXPECT_EQ(names(), "score-collapse");
  facts.scores.clear();
  facts.verdict.grade = Grade::kGood;
  EXPECT_EQ(names(), "");
  EXPECT_EQ(DiagnosisText(facts, {}).substr(0, 14), "nothing found:");
}

TEST(Diagnosis, RulesHaveNamesOfTheirOwnAndAllTheTableSays) {
  std::set<std::string> names;
  for (const Rule& rule : DiagnoseRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(std::string(rule.trigger).empty() || rule.limit.empty());
    EXPECT_FALSE(std::string(rule.remedy).empty() || rule.find == nullptr);
  }
  EXPECT_EQ(RulesJson()["rules"].size(), names.size());
}

}  // namespace
}  // namespace rshift
