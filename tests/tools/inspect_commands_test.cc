#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "codegen/container/container.h"
#include "tests/codegen/container/sample_program.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

std::string Write(const std::string& name, const ProgramImage& image) {
  const std::string path = ::testing::TempDir() + name;
  WriteFileAtomic(path, WriteContainer(image));
  return path;
}

struct Said {
  int code;
  std::string text;
};
Said Diff(const ProgramImage& a, const ProgramImage& b, bool json) {
  const std::string x = Write("diff_a.rshift", a), y = Write("diff_b.rshift", b);
  ::testing::internal::CaptureStdout();
  const int code = DiffCommand(x, y, json);
  return {code, ::testing::internal::GetCapturedStdout()};
}

TEST(DiffCommandTest, ADifferenceThatNoDisassemblyShowsIsNamed) {
  const ProgramImage program = SampleProgram();
  EXPECT_EQ(Diff(program, program, false).text, "equal\n");
  ProgramImage wider = program;
  wider.arena_size += 64;
  const Said said = Diff(program, wider, false);
  EXPECT_EQ(said.code, 1);
  EXPECT_NE(said.text.find("arena: "), std::string::npos) << said.text;
  EXPECT_NE(said.text.find(" differs"), std::string::npos) << said.text;
  const auto json = nlohmann::json::parse(Diff(program, wider, true).text);
  EXPECT_EQ(json["arena_bytes"][1], wider.arena_size);
  EXPECT_FALSE(json["equal"].get<bool>());
  EXPECT_TRUE(json["disassembly"].empty());
}

}  // namespace
}  // namespace rshift
