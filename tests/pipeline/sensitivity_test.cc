#include "pipeline/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "runtime/onednn/float_library.h"
#include "tests/pipeline/sample_list.h"

namespace rshift::test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Net {
  LittleGraph little = NetWithOneBadTensor();
  CalibrationTable table = little.Calibrate(4);
  QuantizeOptions options;
  QuantizeResult quantized = QuantizeGraph(little.graph(), table, options);
  SampleList samples = Samples(little);

  Net() { RegisterFloatLibrary(); }
  Sensitivity Measure(int64_t keep) {
    const Graph& graph = little.graph();
    return MeasureSensitivity({graph, graph, quantized.graph, table, options, {}}, samples, keep);
  }
  // Quality of the outputs when these are left in F32.
  double QualityWithout(const std::vector<std::string>& layers) {
    QuantizeOptions other = options;
    for (const std::string& layer : layers) other.config.layers[layer].float32 = true;
    const auto run = [&](const Graph& graph) {
      return RunOutputs(Program::FromBytes(WriteContainer(Compile(graph))), samples, 1);
    };
    const QuantizeResult result = QuantizeGraph(little.graph(), table, other);
    return Quality(CompareOutputs(run(result.graph), run(little.graph())));
  }
};

TEST(SensitivityTest, ThoseThatShareTheBadTensorLead) {
  Net net;
  const Sensitivity found = net.Measure(0);
  ASSERT_EQ(found.ranking.size(), 4u);
  EXPECT_THAT((std::vector<std::string>{found.ranking[0].tensor, found.ranking[1].tensor}),
              UnorderedElementsAre("wide", "narrow"));
  EXPECT_LT(found.ranking[1].quality_db, 15);
  EXPECT_GT(found.ranking[2].quality_db, 30);
}

TEST(SensitivityTest, AloneInInt8IsWhatDeployingAllOthersInF32Gives) {
  Net net;
  const Sensitivity found = net.Measure(0);
  for (const NodeSensitivity& node : found.ranking) {
    std::vector<std::string> others;
    for (const NodeSensitivity& other : found.ranking) {
      if (other.tensor != node.tensor) others.push_back(other.tensor);
    }
    EXPECT_NEAR(node.quality_db, net.QualityWithout(others), 0.01) << node.tensor;
  }
}

TEST(SensitivityTest, TheFewestThatAreEnoughStayInF32) {
  Net net;
  const Sensitivity found = net.Measure(0);
  EXPECT_TRUE(found.enough);
  EXPECT_EQ(found.kept.size(), 2u);
  EXPECT_GE(found.result.quality_db, kEnoughDb);
  EXPECT_NEAR(found.result.quality_db, net.QualityWithout({"wide", "narrow"}), 0.01);
  EXPECT_THAT(SensitivityText(found, "f.yaml"), HasSubstr("f.yaml: leaves 2 nodes in F32"));
}

TEST(SensitivityTest, AGivenNumberIsTaken) {
  Net net;
  const Sensitivity found = net.Measure(3);
  EXPECT_EQ(found.kept, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(net.Measure(99).kept.size(), 4u);
}

TEST(SensitivityTest, WhatIsGoodAlreadyNeedsNothingInF32) {
  Net net;
  for (const char* layer : {"wide", "narrow"}) net.options.config.layers[layer].float32 = true;
  net.quantized = QuantizeGraph(net.little.graph(), net.table, net.options);
  const Sensitivity found = net.Measure(0);
  EXPECT_TRUE(found.enough);
  EXPECT_TRUE(found.kept.empty());
  EXPECT_TRUE(ReadQuantizeConfig(SensitivityConfig(found, ""), "f.yaml").layers.empty());
}

TEST(SensitivityTest, TheConfigurationKeepsWhatWasThereAndCanBeReadBack) {
  Net net;
  const Sensitivity found = net.Measure(0);
  const std::string text = SensitivityConfig(found, "layers:\n  last: {per_channel: false}\n");
  const QuantizeConfig config = ReadQuantizeConfig(text, "f.yaml");
  EXPECT_EQ(config.layers.size(), 3u);
  EXPECT_EQ(config.layers.at("wide").float32, true);
  EXPECT_EQ(config.layers.at("narrow").float32, true);
  EXPECT_EQ(config.layers.at("last").per_channel, false);
  EXPECT_EQ(ReadQuantizeConfig(SensitivityConfig(found, ""), "f.yaml").layers.size(), 2u);
}

}  // namespace
}  // namespace rshift::test
