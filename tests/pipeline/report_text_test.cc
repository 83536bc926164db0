#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/report_json.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DeployReport Repaired() {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  for (int64_t c = 0; c < 200; ++c)
    report.quantize.repairs.push_back({"conv1", c, "below 2^-32", 1e-12f, 1e-12f});
  report.quantize.repairs.push_back({"conv1", 7, "the bias leaves int32", 0.5f, 0.75f});
  report.quantize.repairs.push_back({"conv2", 4, "below 2^-32", 1e-12f, 1e-12f});
  return report;
}

TEST(TextReportTest, RepairedChannelsAreOneLineForEachOperator) {
  const std::string text = TextReport(Repaired());
  EXPECT_THAT(text, HasSubstr("flushed conv1: 200 channels (0, 1, 2, ...): below 2^-32\n"));
  EXPECT_THAT(text, HasSubstr("repaired conv1: 1 channel (7): the bias leaves int32, weight scale "
                              "0.5 -> 0.75\n"));
  EXPECT_THAT(text, HasSubstr("flushed conv2: 1 channel (4): below 2^-32\n"));
}

TEST(TextReportTest, RepairsForOtherReasonsHaveALineEachAndTheLargestChange) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  report.quantize.repairs = {{"conv", 0, "no room: weight scale raised", 0.5f, 0.75f},
                             {"conv", 3, "no room: weight scale raised", 0.5f, 4.0f},
                             {"conv", 4, "no room: weight scale raised", 0.25f, 0.5f},
                             {"conv", 5, "another reason", 0.5f, 1.0f}};
  const std::string text = TextReport(report);
  EXPECT_THAT(text, HasSubstr("repaired conv: 3 channels (0, 3, 4): no room: weight scale raised, "
                              "by up to 8 times\n"));
  EXPECT_THAT(text,
              HasSubstr("repaired conv: 1 channel (5): another reason, weight scale 0.5 -> 1\n"));
}

TEST(TextReportTest, ManyRepairedOperatorsAreCounted) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  for (int64_t c = 0; c < 40; ++c) {  // each channel for two reasons
    const std::string node = Cat("conv", c / 4);
    report.quantize.repairs.push_back({node, c, "no room: weight scale raised", 0.5f, 1.0f});
    report.quantize.repairs.push_back({node, c, "below 2^-32", 1e-12f, 1e-12f});
  }
  const std::string text = TextReport(report);
  EXPECT_THAT(text, HasSubstr("flushed conv1: 4 channels (4, 5, 6, ...): below 2^-32\n"));
  EXPECT_THAT(text, Not(HasSubstr("flushed conv2")));
  EXPECT_THAT(text,
              HasSubstr("repaired or flushed: 60 channels more, which --report-json lists\n"));
}

TEST(TextReportTest, NotesOnPartsOfANodeAreOneLine) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  report.quantize.notes = {{"lstm", "Sigmoid", "22 %"},
                           {"log", "Log", "infinite"},
                           {"lstm", "Tanh", "37 %"},
                           {"lstm", "Sigmoid", "24 %"},
                           {"lstm", "Sigmoid", "22 %"}};
  EXPECT_THAT(TextReport(report),
              HasSubstr("note: Sigmoid 'lstm': 22 %; so are 2 more of its parts\n"
                        "note: Log 'log': infinite\n"
                        "note: Tanh 'lstm': 37 %\n"));
}

TEST(TextReportTest, PartsOfANodeAreOneLineForEachReason) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  report.quantize.float_nodes = {{"grid", "Floor", "points"},
                                 {"out", "Softmax", "final"},
                                 {"grid", "Cast", "a type"},
                                 {"grid", "Clip", "points"}};
  const std::string text = TextReport(report);
  EXPECT_THAT(text, HasSubstr("F32 node: 2 parts of 'grid': points\n"
                              "F32 node: Softmax 'out': final\n"
                              "F32 node: Cast 'grid': a type\n"));
  EXPECT_EQ(JsonReport(report)["float_nodes"].size(), 4u);
}

TEST(TextReportTest, PartsWhoseReasonsNameTensorsAreOneLine) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  report.quantize.float_nodes = {{"lstm", "Add", "no integers: 'a' is F32"},
                                 {"lstm", "Mul", "no integers: 'b' is F32"},
                                 {"y", "Exp", "no integers: 'c' is F32"}};
  EXPECT_THAT(TextReport(report), HasSubstr("F32 node: 2 parts of 'lstm': no integers: 'a' is F32\n"
                                            "F32 node: Exp 'y': no integers: 'c' is F32\n"));
}

TEST(TextReportTest, ManyNodesOfOneReasonAreOneLine) {
  DeployReport report{.model = "m", .output = "p", .mode = "symmetric"};
  report.quantize.float_nodes = {{"a", "Add", "boxes"},    {"out", "Softmax", "final"},
                                 {"b", "Sub", "boxes"},    {"c", "Div", "boxes"},
                                 {"d", "Concat", "boxes"}, {"e", "Mul", "boxes"}};
  EXPECT_THAT(TextReport(report),
              HasSubstr("F32 nodes: Add 'a', Sub 'b', Div 'c' and 2 more: boxes\n"
                        "F32 node: Softmax 'out': final\n"));
}

TEST(TextReportTest, JsonKeepsEveryRepairedChannel) {
  EXPECT_EQ(JsonReport(Repaired())["repairs"].size(), 202u);
}

TEST(TextReportTest, TheCheckIsThereOnlyWhenAskedFor) {
  DeployReport report = Repaired();
  EXPECT_THAT(TextReport(report), Not(HasSubstr("check:")));
  report.checked = true;
  report.verdict.why_none = "no samples";
  EXPECT_THAT(TextReport(report), HasSubstr("check: not done: no samples\n"));
}

}  // namespace
}  // namespace rshift
