#include "pipeline/deploy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/atomic_file.h"
#include "pipeline/report_json.h"
#include "pipeline/usage.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"
#include "tests/pipeline/little_model.h"

namespace rshift::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CalibrationTable LittleTable() {
  CalibrationTable table;
  table.method = "by hand";
  table.tensors = {{"x", {-1, 1, 1, -1, 1, "max"}}, {"y", {0, 4, 4, 0, 4, "max"}}};
  return table;
}

DeployOptions Options() {
  DeployOptions options{.model = {"little.onnx", LittleModel()}};
  options.table.value = LittleTable();
  return options;
}

std::string MessageOf(const DeployOptions& options, const DeployEvents& events = {}) {
  return ErrorOf([&] { Deploy(options, events); });
}

TEST(DeployTest, FilesAndValuesGiveTheSameProgramAndReport) {
  const TemporaryFolder folder;
  DeployOptions files;
  files.model.path = folder / "little.onnx";
  files.table.path = folder / "table.yaml";
  WriteFileAtomic(files.model.path, LittleModel());
  WriteFileAtomic(files.table.path, WriteTable(LittleTable()));
  DeployOptions values = Options();
  values.model.path = files.model.path;
  values.table.path = files.table.path;
  const DeployResult a = Deploy(files), b = Deploy(values);
  EXPECT_EQ(a.program, b.program);
  EXPECT_EQ(JsonReport(a.report), JsonReport(b.report));
}

TEST(DeployTest, NothingIsPrintedAndTheCallerHearsEveryStage) {
  std::vector<DeployStage> stages;
  int64_t tables = 0, steps = 0;
  DeployEvents events;
  events.graph = [&](DeployStage stage, const Graph&) { stages.push_back(stage); };
  events.table = [&](const CalibrationTable&) { ++tables; };
  events.progress = [&](const std::string&, int64_t done, int64_t total) {
    EXPECT_EQ(done, steps);
    EXPECT_EQ(total, 2);
    ++steps;
  };
  DeployOptions options = Options();
  options.test_samples = LittleSamples(2);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const DeployResult result = Deploy(options, events);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(stages, ElementsAre(DeployStage::kImported, DeployStage::kPasses,
                                  DeployStage::kQuantized, DeployStage::kTarget));
  EXPECT_EQ(tables, 1);
  EXPECT_EQ(steps, 3);  // none done, 1, 2
  EXPECT_EQ(result.report.compared_samples, 2);
  EXPECT_THAT(TextReport(result.report), HasSubstr("check: good: 2 test inputs"));
}

TEST(DeployTest, OptionsThatContradictEachOtherAreWrongUsage) {
  DeployOptions options = Options();
  options.mode = DeployMode::kF32;
  options.sensitivity = true;
  EXPECT_EQ(ErrorOf<UsageError>([&] { Deploy(options); }),
            "--sensitivity has no meaning with --mode f32: leave it out");
  options = Options();
  options.variant = Variant::kD1;
  EXPECT_THAT(ErrorOf<UsageError>([&] { CheckOptions(options); }),
              HasSubstr("profile tpu has 32, 25, 16 or 8"));
  options = Options();
  options.test_samples = LittleSamples(1);
  options.test_input = {"x.npy"};
  EXPECT_THAT(ErrorOf<UsageError>([&] { CheckOptions(options); }), HasSubstr("given twice"));
  options = Options();
  options.check_samples = 0;
  EXPECT_EQ(ErrorOf<UsageError>([&] { CheckOptions(options); }),
            "--check-samples 0: expected 1 or more");
  options = Options();
  options.threads = -2;
  EXPECT_EQ(ErrorOf<UsageError>([&] { CheckOptions(options); }),
            "--threads -2: expected 0 (one) or more");
  options = Options();
  options.keep_f32 = 3;
  EXPECT_EQ(ErrorOf<UsageError>([&] { CheckOptions(options); }), "--keep-f32 needs --sensitivity");
  options.sensitivity = true;
  CheckOptions(options);
  options.keep_f32 = -1;
  EXPECT_EQ(ErrorOf<UsageError>([&] { CheckOptions(options); }),
            "--keep-f32 -1: expected 0 (the fewest that are enough) or more");
}

TEST(DeployTest, AFloatModelNeedsATable) {
  DeployOptions options = Options();
  options.table.value.reset();
  EXPECT_THAT(ErrorOf<UsageError>([&] { Deploy(options); }), HasSubstr("needs --calibration"));
}

TEST(DeployTest, SamplesInMemoryMustFitTheModel) {
  DeployOptions options = Options();
  options.check = false;
  options.test_samples = LittleSamples(1);
  options.test_samples[0].inputs[0].pop_back();
  EXPECT_THAT(MessageOf(options), HasSubstr("input 'x': has 7 values, expected 8"));
}

TEST(DeployTest, SamplesInMemoryMustBeFinite) {
  DeployOptions options = Options();
  options.test_samples = LittleSamples(2);
  options.test_samples[1].inputs[0][3] = std::nanf("");
  EXPECT_THAT(MessageOf(options), HasSubstr("sample 'sample 1', input 'x': element 3 is "));
}

TEST(DeployTest, WhatTheCallersProgressThrowsIsNoVerdict) {
  // Three samples that no test input but the check reads: its own comparison tells its progress.
  const TemporaryFolder folder;
  DeployOptions options = Options();
  const std::vector<Sample> samples = LittleSamples(3);
  for (size_t s = 0; s < samples.size(); ++s) {
    NumpyArray array{"", DType::kF32, {1, 8}, std::vector<uint8_t>(32)};
    std::memcpy(array.bytes.data(), samples[s].inputs[0].data(), 32);
    const std::string path = folder / ("x" + std::to_string(s) + ".npy");
    WriteNpy(path, array);
    options.table.value->check_samples.push_back(
        {ContentSha256(samples[s]), samples[s].name, {{"x", {path}, 0}}});
  }
  EXPECT_EQ(Deploy(options).report.verdict.samples, "3 calibration samples");
  int heard = 0;
  DeployEvents events;
  events.progress = [&](const std::string&, int64_t, int64_t) {
    if (++heard == 2) Fail(ErrorCode::kIo, "the caller gives up");
  };
  EXPECT_EQ(MessageOf(options, events), "the caller gives up");
}

TEST(DeployTest, ElementTypesAreRefusedBeforeTheCheckAndTheSensitivity) {
  DeployOptions options = Options();
  options.test_samples = LittleSamples(2);
  options.sensitivity = true;
  int heard = 0;
  DeployEvents events;
  events.progress = [&](const std::string&, int64_t, int64_t) { ++heard; };
  for (const DType type : {DType::kF32, DType::kU8}) {
    options.input_type.named = {{"picture", type}};
    EXPECT_EQ(MessageOf(options, events),
              "--input-type: 'picture' is no input of the model, which has 'x'");
  }
  options.input_type.named.clear();
  options.output_type.named = {{"class", DType::kF32}};
  EXPECT_EQ(MessageOf(options, events),
            "--output-type: 'class' is no output of the model, which has 'y'");
  EXPECT_EQ(heard, 0);
}

TEST(DeployTest, TypesThatAreNamedF32ChangeNoByte) {
  DeployOptions options = Options();
  const std::vector<uint8_t> plain = Deploy(options).program;
  options.input_type.named = {{"x", DType::kF32}};
  EXPECT_EQ(Deploy(options).program, plain);
}

}  // namespace
}  // namespace rshift::test
