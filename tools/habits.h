// What users of other tools type, answered with our name for it, and slips of the pen.
#ifndef RSHIFT_TOOLS_HABITS_H_
#define RSHIFT_TOOLS_HABITS_H_

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace rshift {

struct Habit {
  const char *program, *word, *tool, *answer;
};
std::span<const Habit> Habits();  // tools/habits.def

// Throws UsageError for the first argument that is an option which neither the program nor its
// subcommand has: with our name for another tool's option, or with names that are close to it. It
// is asked before the parser, which would first say what is missing.
void RefuseUnknownOptions(const CLI::App& app, std::span<const char* const> arguments);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_HABITS_H_
