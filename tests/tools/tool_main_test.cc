#include "tools/tool_main.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "pipeline/compare.h"
#include "pipeline/usage.h"
#include "tools/accuracy.h"

namespace rshift {
namespace {

struct Outcome {
  int code = 0;
  std::string error;
};

Outcome RunTool(std::vector<std::string> arguments, const std::function<int()>& body) {
  CLI::App app("a tool", "tool");
  SetUpApp(app, "  tool --threads 2\n");
  int threads = 0;
  app.add_option("--threads", threads)->check(CLI::Range(1, kMaxThreads));
  arguments.insert(arguments.begin(), "tool");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStderr();
  const int code = ToolMain(app, static_cast<int>(argv.size()), argv.data(), body);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(ToolMain, ReturnsWhatTheWorkReturns) {
  EXPECT_EQ(RunTool({}, [] { return 0; }).code, 0);
  EXPECT_EQ(RunTool({}, [] { return 1; }).code, 1);
}

TEST(ToolMain, WrongArgumentsAreOneLineAndExitCode2) {
  const Outcome outcome = RunTool({"--threads", "0"}, [] { return 0; });
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "error: --threads: Value 0 not in range 1 to 1024 (see --help)\n");
}

TEST(ToolMain, UsageFoundLaterIsExitCode2AndOtherErrorsAre1) {
  const Outcome usage = RunTool({}, []() -> int { throw UsageError("give --dataset"); });
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.error, "error: give --dataset\n");
  const Outcome work = RunTool({}, []() -> int { Fail(ErrorCode::kIo, "disk full"); });
  EXPECT_EQ(work.code, 1);
  EXPECT_EQ(work.error, "error: disk full\n");
  const Outcome memory = RunTool({}, []() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code, 1);
  EXPECT_EQ(memory.error, "error: out of memory\n");
}

TEST(ToolMain, ControlCharactersOfAFileDoNotReachTheTerminal) {
  EXPECT_EQ(
      RunTool({}, []() -> int { Fail(ErrorCode::kInvalidInput, "label '\x1b[2J\x7f\xc3\xa9'"); })
          .error,
      "error: label '?[2J?\xc3\xa9'\n");
}

TEST(ToolMain, UnreadableOptionTextsAreUsageErrors) {
  EXPECT_THROW(ParseTop("1,"), UsageError);
  EXPECT_THROW(ParseTolerance("0.9"), UsageError);
  ModelArguments shape, binding;
  shape.path = binding.path = "m";
  shape.input_shapes = {"x:1x"};
  binding.bindings = {"x"};
  EXPECT_THROW(shape.Import(), UsageError);
  EXPECT_THROW(binding.Import(), UsageError);
}

}  // namespace
}  // namespace rshift
