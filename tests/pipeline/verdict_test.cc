#include "pipeline/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "pipeline/check_program.h"
#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "tests/calibrate/temporary_folder.h"
#include "tests/pipeline/sample_list.h"

namespace rshift::test {
namespace {

using ::testing::HasSubstr;

OutputValues Output(Shape shape, std::vector<std::vector<float>> samples,
                    DType dtype = DType::kF32) {
  return {"y", dtype, std::move(shape), std::move(samples)};
}

Grade GradeOf(const OutputValues& found, const OutputValues& reference) {
  return Judge(CompareOutputs({found}, {reference}));
}

TEST(VerdictTest, CloseOutputsAreGood) {
  EXPECT_EQ(GradeOf(Output({1, 3}, {{1, 2, 3.1f}}), Output({1, 3}, {{1, 2, 3}})), Grade::kGood);
}

TEST(VerdictTest, OtherClassesForHalfOfTheSamplesAreBadUnlessTheyWereTied) {
  OutputValues reference =
      Output({1, 20}, std::vector<std::vector<float>>(4, std::vector<float>(20, 5)));
  for (std::vector<float>& row : reference.samples) {
    row[0] = 10;
    row[1] = 9.4f;  // 0.12 of the row's range below: no tie
  }
  OutputValues found = reference;
  found.samples[0][1] = 10.1f;
  EXPECT_EQ(GradeOf(found, reference), Grade::kGood);
  found.samples[2][1] = 10.1f;
  EXPECT_GT(Quality(CompareOutputs({found}, {reference})), 20);
  EXPECT_EQ(GradeOf(found, reference), Grade::kBad);
  for (const size_t s : {0, 2}) {
    reference.samples[s][1] = found.samples[s][1] = 9.6f;
    found.samples[s][0] = 9.5f;
  }
  EXPECT_EQ(GradeOf(found, reference), Grade::kGood);
  EXPECT_EQ(CompareOutputs({found}, {reference})[0].rows_tied, 2);
}

TEST(VerdictTest, SmallChannelsOfAMapCountButNotSmallClasses) {
  // Two maps of two pixels; the second is 1000 times smaller and lost.
  const OutputValues map = Output({1, 2, 1, 2}, {{1000, 900, 1, 2}});
  EXPECT_EQ(GradeOf(Output({1, 2, 1, 2}, {{1000, 900, 0, 0}}), map), Grade::kBad);
  // Scores of boxes: of a class that no picture shows they may vanish.
  OutputValues scores = map;
  scores.scores = true;
  EXPECT_EQ(GradeOf(Output({1, 2, 1, 2}, {{1000, 900, 0, 0}}), scores), Grade::kGood);
  // Probabilities: the small ones may vanish.
  EXPECT_EQ(GradeOf(Output({1, 3}, {{1, 0, 0}}), Output({1, 3}, {{1, 1e-4f, 1e-5f}})),
            Grade::kGood);
}

TEST(VerdictTest, StepsOfASequenceOfProbabilitiesAreJudgedByTheirClasses) {
  // Two steps of three classes; the small probabilities of the second are far off.
  const OutputValues reference = Output({1, 2, 3}, {{0.9f, 0.05f, 0.05f, 0.01f, 0.989f, 0.001f}});
  const OutputValues found = Output({1, 2, 3}, {{0.9f, 0.05f, 0.05f, 0.03f, 0.96f, 0.01f}});
  const OutputResult result = CompareOutputs({found}, {reference})[0];
  EXPECT_TRUE(result.classes);
  EXPECT_EQ(result.rows, 2);
  EXPECT_EQ(result.rows_agree, 2);
  EXPECT_EQ(GradeOf(found, reference), Grade::kGood);
  const OutputValues other = Output({1, 2, 3}, {{0.05f, 0.9f, 0.05f, 0.96f, 0.03f, 0.01f}});
  EXPECT_EQ(GradeOf(other, reference), Grade::kBad);
  // Rows that do not sum to 1 are a map.
  EXPECT_FALSE(CompareOutputs({Output({1, 2, 3}, {{1, 2, 3, 4, 5, 6}})},
                              {Output({1, 2, 3}, {{1, 2, 3, 4, 5, 6}})})[0]
                   .classes);
}

TEST(VerdictTest, AConstantOrANanIsBad) {
  const OutputValues reference = Output({1, 4, 1, 1}, {{0.1f, 0.11f, 0.1f, 0.1f}});
  EXPECT_EQ(GradeOf(Output({1, 4, 1, 1}, {{0.1f, 0.1f, 0.1f, 0.1f}}), reference), Grade::kBad);
  EXPECT_EQ(GradeOf(Output({1, 4, 1, 1}, {{0.1f, NAN, 0.1f, 0.1f}}), reference), Grade::kBad);
}

TEST(VerdictTest, SmallProbabilitiesWithinAStepSayNothing) {
  OutputValues reference = Output({1, 1, 1, 4}, {{1e-4f, 2e-4f, 1e-3f, 1e-5f}});
  const OutputValues zeros = Output({1, 1, 1, 4}, {{0, 0, 0, 0}});
  EXPECT_EQ(GradeOf(zeros, reference), Grade::kBad);  // of numbers that could be anything
  reference.bound = 1;
  EXPECT_EQ(GradeOf(zeros, reference), Grade::kDoubtful);
  Verdict verdict;
  verdict.grade = Grade::kDoubtful;
  verdict.outputs = CompareOutputs({zeros}, {reference});
  EXPECT_THAT(CheckLine(verdict), HasSubstr("all numbers within a step of 8 bits"));
  // Beside an output that tells, they do not count.
  const OutputValues boxes = Output({1, 3}, {{1, 2, 3}});
  verdict.outputs = CompareOutputs({zeros, boxes}, {reference, boxes});
  EXPECT_EQ(Judge(verdict.outputs), Grade::kGood);
  EXPECT_EQ(Quality(verdict.outputs), kNothingLostDb);
  reference.samples[0][3] = 0.02f;  // one that is lost
  EXPECT_EQ(GradeOf(zeros, reference), Grade::kBad);
  reference.samples[0][3] = NAN;
  EXPECT_EQ(GradeOf(zeros, reference), Grade::kBad);
}

TEST(VerdictTest, IntegersCountByTheShareThatAgrees) {
  const OutputValues reference = Output({1, 2, 2}, {{1, 2, 3, 4}}, DType::kS64);
  EXPECT_EQ(GradeOf(reference, reference), Grade::kGood);
  EXPECT_EQ(GradeOf(Output({1, 2, 2}, {{1, 2, 3, 5}}, DType::kS64), reference), Grade::kBad);
}

TEST(VerdictTest, AGoodProgramThatLosesMoreThan8BitsNeedToIsToldAWay) {
  Verdict verdict;
  verdict.grade = Grade::kGood;
  for (const float error : {0.05f, 0.2f}) {  // 26 and 14 dB
    verdict.outputs =
        CompareOutputs({Output({1, 2}, {{1 + error, 1 - error}})}, {Output({1, 2}, {{1, 1}})});
    ASSERT_EQ(Judge(verdict.outputs), Grade::kGood);
    if (error < 0.1f)
      EXPECT_THAT(CheckLine(verdict), ::testing::Not(HasSubstr("--auto")));
    else
      EXPECT_THAT(CheckLine(verdict), HasSubstr("; --auto looks for more"));
  }
}

TEST(VerdictTest, BoxesThatAreLost) {
  EXPECT_EQ(JudgeBoxes({40, 40, 38}), Grade::kGood);
  EXPECT_EQ(JudgeBoxes({40, 30, 28}), Grade::kDoubtful);
  EXPECT_EQ(JudgeBoxes({40, 400, 38}), Grade::kBad);  // most of what it finds is nothing
  EXPECT_EQ(JudgeBoxes({9, 0, 0}), Grade::kGood);     // too few to say
  Verdict verdict;
  verdict.grade = Grade::kGood;
  verdict.outputs = CompareOutputs({Output({1, 2}, {{1, 2}})}, {Output({1, 2}, {{1, 2}})});
  verdict.boxes = BoxAgreement{20, 20, 20};
  EXPECT_THAT(CheckLine(verdict), HasSubstr(", boxes: recall 1.000 (20 of 20 boxes), precision 1"));
  EXPECT_THAT(CheckLine(verdict), ::testing::Not(HasSubstr("--auto")));
  verdict.boxes->matched = 18;
  EXPECT_THAT(CheckLine(verdict), HasSubstr("--auto looks for more"));
}

CheckRequest Request(std::vector<std::string> test_input, const std::string& table_path) {
  CheckRequest request;
  request.test_input = std::move(test_input);
  request.table_path = table_path;
  return request;
}

struct Checked {
  LittleGraph little = NetWithOneBadTensor();
  CalibrationTable table;
  QuantizeOptions options;
  QuantizeResult quantized;
  std::vector<uint8_t> bytes;
  CheckResult result;

  Deployment deployment() const {
    return {little.graph(), little.graph(), quantized.graph, table, options, bytes};
  }
};

// Calibrated on four samples, checked on a file of the same.
Checked Check(const TemporaryFolder& folder, QuantMode mode) {
  RegisterFloatLibrary();
  Checked c;
  c.table = c.little.Calibrate(4);
  c.options.mode = mode;
  c.quantized = QuantizeGraph(c.little.graph(), c.table, c.options);
  c.bytes = WriteContainer(Compile(c.quantized.graph));
  const SampleList samples = Samples(c.little);
  std::vector<float> values;
  for (int64_t i = 0; i < samples.size(); ++i) {
    const std::vector<float> sample = samples.Read(i).inputs[0];
    values.insert(values.end(), sample.begin(), sample.end());
  }
  WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {4, 16, 8}, values));
  c.result = CheckProgram(c.deployment(), Request({folder / "x.npy"}, ""));
  return c;
}

TEST(CheckProgramTest, ABadProgramIsCalledBadAndItsCulpritNamed) {
  const TemporaryFolder folder;
  const Verdict verdict = Check(folder, QuantMode::kSymmetric).result.verdict;
  EXPECT_EQ(verdict.grade, Grade::kBad) << CheckLine(verdict);
  ASSERT_EQ(verdict.weakest.size(), 3u);
  EXPECT_THAT((std::vector<std::string>{verdict.weakest[0].tensor, verdict.weakest[1].tensor}),
              ::testing::UnorderedElementsAre("wide", "narrow"));
  EXPECT_THAT(CheckLine(verdict), HasSubstr("check: BAD: 4 test inputs"));
  EXPECT_THAT(WarningLine(verdict), HasSubstr("--auto --budget"));
  EXPECT_FALSE(verdict.trials.empty());
}

// A channel of the input that is always 0, before weights that are a hundred times larger.
TEST(CheckProgramTest, ClippedWeightsAreTriedAndAdvised) {
  RegisterFloatLibrary();
  LittleGraph little(3);
  const ValueId x = little.Input("x", {1, 16});
  const ValueId none = little.Input("none", {1, 1}, 0, 0);
  const ValueId both = little.Add("both", Concat{1}, {none, x}, {1, 17});
  std::vector<float> weights(8, 100);
  std::mt19937 random(4);
  std::uniform_real_distribution<float> weight(-1, 1);
  for (int i = 0; i < 16 * 8; ++i) weights.push_back(weight(random));
  little.Output(little.Add("y", MatMul{}, {both, little.Constant("w", {17, 8}, weights)}, {1, 8}));
  Checked c;
  c.little = little;
  c.table = c.little.Calibrate(16);
  c.quantized = QuantizeGraph(c.little.graph(), c.table, c.options);
  c.bytes = WriteContainer(Compile(c.quantized.graph));
  CheckRequest request;
  const SampleList samples = Samples(c.little);
  for (int64_t i = 0; i < samples.size(); ++i) request.test_samples.push_back(samples.Read(i));
  const Verdict verdict = CheckProgram(c.deployment(), request).verdict;
  EXPECT_EQ(verdict.grade, Grade::kDoubtful) << CheckLine(verdict);
  EXPECT_THAT(WarningLine(verdict), HasSubstr("next: --weight-clipping mse ("));
}

TEST(CheckProgramTest, WithoutSamplesItSaysWhy) {
  const TemporaryFolder folder;
  const Checked c = Check(folder, QuantMode::kSymmetric);
  const CheckResult result = CheckProgram(c.deployment(), Request({}, "t.yaml"));
  EXPECT_EQ(result.verdict.grade, Grade::kNone);
  EXPECT_THAT(CheckLine(result.verdict),
              HasSubstr("check: not done: the table records no samples"));
  EXPECT_EQ(WarningLine(result.verdict), "");
}

}  // namespace
}  // namespace rshift::test
