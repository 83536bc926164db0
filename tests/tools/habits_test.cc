// docs/habits.md is tools/habits.def as tables; unknown options before anything else is asked.
// RSHIFT_UPDATE_DOCS=1 writes the page; the test fails when it differs.
#include "tools/habits.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "base/atomic_file.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

std::string HabitsPage() {
  std::string out =
      "# What is it called here?\n\n"
      "What users of other tools type, and what does the same here. The tools answer such a word "
      "with this\nname. (`RSHIFT_UPDATE_DOCS=1 bin/tools_habits_test` writes this file from "
      "tools/habits.def.)\n";
  std::string program;
  for (const Habit& habit : Habits()) {
    if (habit.program != program) {
      program = habit.program;
      out += "\n## " + program + "\n\n| there | of | here |\n|---|---|---|\n";
    }
    std::string answer = habit.answer;
    for (size_t at = 0; (at = answer.find('|', at)) != std::string::npos; at += 2)
      answer.insert(at, "\\");
    out += Cat("| `", habit.word, "` | ", habit.tool, " | ", answer, " |\n");
  }
  return out;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(Habits, ThePageIsTheTable) {
  const char* root = std::getenv("RSHIFT_SOURCE_DIR");
  const std::string path =
      std::string(root != nullptr ? root : RSHIFT_SOURCE_DIR) + "/docs/habits.md";
  if (std::getenv("RSHIFT_UPDATE_DOCS") != nullptr) WriteFileAtomic(path, HabitsPage());
  EXPECT_EQ(ReadTextFile(path), HabitsPage()) << "run this test with RSHIFT_UPDATE_DOCS=1";
}

TEST(Habits, TheTableIsSortedAndSaysNothingTwice) {
  std::tuple<std::string, std::string, std::string> before;
  for (const Habit& habit : Habits()) {
    const std::tuple row{std::string(habit.program), Lower(habit.tool), std::string(habit.word)};
    EXPECT_LT(before, row);
    before = row;
  }
}

std::string Refused(const std::vector<const char*>& arguments) {
  CLI::App app("a tool", "model_deploy");
  std::string text;
  app.add_option("model", text)->required();
  app.add_option("-o,--output", text)->required();
  app.add_option("--calibration", text);
  CLI::App* command = app.add_subcommand("part", "a part of it");
  command->add_flag("--json");
  try {
    RefuseUnknownOptions(app, arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Habits, AnUnknownOptionIsSaidBeforeWhatIsMissing) {
  EXPECT_EQ(Refused({"--calibraton", "t"}),
            "--calibraton: unknown option; did you mean '--calibration'? (see --help)");
  EXPECT_EQ(Refused({"--zzz=3"}), "--zzz: unknown option (see --help)");
  EXPECT_EQ(Refused({"--int8"}),
            "--int8 of trtexec: here it is --mode symmetric --calibration TABLE (or --scales FILE) "
            "(docs/habits.md has them all)");
  EXPECT_EQ(Refused({"m", "--json"}), "--json: unknown option (see --help)");
}

TEST(Habits, ValuesAndKnownOptionsAreLeftToTheParser) {
  EXPECT_EQ(Refused({"m", "-o", "-1.5", "-oout", "--output=x", "-.5", "-"}), "");
  EXPECT_EQ(Refused({"m", "--", "--zzz"}), "");
  EXPECT_EQ(Refused({"part", "--json"}), "");
  EXPECT_EQ(Refused({"--help", "-h"}), "");
}

}  // namespace
}  // namespace rshift
