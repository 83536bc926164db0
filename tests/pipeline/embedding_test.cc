// How a program of your own calibrates, deploys and runs a model: no files, no tools.
#include <gtest/gtest.h>

#include <cstring>

#include "pipeline/calibrate.h"
#include "pipeline/deploy.h"
#include "runtime/runtime.h"
#include "tests/pipeline/little_model.h"

namespace rshift::test {
namespace {

TEST(EmbeddingTest, AModelInMemoryIsCalibratedDeployedAndRun) {
  const std::vector<uint8_t> model = LittleModel();  // x[1, 8] -> y[1, 4]
  const std::vector<Sample> samples = LittleSamples(20);

  CalibrateOptions calibrate{.model = {"little.onnx", model}};
  calibrate.data = samples;
  const CalibrateResult calibrated = Calibrate(calibrate);

  DeployOptions deploy{.model = {"little.onnx", model}};
  deploy.table.value = calibrated.table;
  deploy.mode = DeployMode::kAsymmetric;
  deploy.test_samples = samples;
  const DeployResult deployed = Deploy(deploy);
  EXPECT_EQ(deployed.report.verdict.grade, Grade::kGood) << TextReport(deployed.report);

  const Program program = Program::FromBytes(deployed.program);
  Session session(program, {.threads = 1});
  const std::vector<float>& x = samples[0].inputs[0];
  std::memcpy(session.Input(0).data(), x.data(), session.Input(0).size());
  session.Run();
  std::vector<float> y(4);
  std::memcpy(y.data(), session.Output(0).data(), session.Output(0).size());

  const std::vector<float> expected = LittleOutput(x);  // in floats
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 0.05) << "y[" << i << "]";
}

}  // namespace
}  // namespace rshift::test
