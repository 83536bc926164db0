#include "tools/habits.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/names.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

constexpr Habit kHabits[] = {
#define RSHIFT_HABIT(program, word, tool, answer) {program, word, tool, answer},
#include "tools/habits.def"
};

// The subcommand that the arguments name; the program itself where they name none.
const CLI::App& CommandOf(const CLI::App& app, std::span<const char* const> arguments) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const std::string_view argument : arguments) {
    for (const CLI::App* command : commands)
      if (command->get_name() == argument) return *command;
  }
  return app;
}

std::set<std::string> OptionsOf(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    for (const std::string& name : option->get_snames()) names.insert("-" + name);
  }
  return names;
}

// -1.5 and -.5 are values; -oFILE is the option -o.
bool IsUnknown(const std::set<std::string>& known, const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return false;
  const auto second = static_cast<unsigned char>(argument[1]);
  if (second == '-') return known.count(argument.substr(0, argument.find('='))) == 0;
  return std::isdigit(second) == 0 && second != '.' && known.count(argument.substr(0, 2)) == 0;
}

const Habit* FindHabit(const std::string& program, std::string_view argument) {
  const auto at = std::find_if(std::begin(kHabits), std::end(kHabits), [&](const Habit& habit) {
    const std::string_view word = habit.word;
    if (program != habit.program) return false;
    return word[0] == '-' ? argument.substr(0, argument.find('=')) == word
                          : argument.starts_with(word);
  });
  return at == std::end(kHabits) ? nullptr : at;
}

}  // namespace

std::span<const Habit> Habits() { return kHabits; }

void RefuseUnknownOptions(const CLI::App& app, std::span<const char* const> arguments) {
  const CLI::App& command = CommandOf(app, arguments);
  std::set<std::string> known = OptionsOf(app);
  if (&command != &app) known.merge(OptionsOf(command));
  for (const char* text : arguments) {
    const std::string argument = text;
    if (argument == "--") return;
    const std::string name = argument.substr(0, argument.find('='));
    const bool unknown = IsUnknown(known, argument);
    const Habit* habit = FindHabit(app.get_name(), argument);
    if (habit != nullptr && known.count(name) == 0) {
      throw UsageError(Cat(name, " of ", habit->tool, ": here it is ", habit->answer,
                           " (docs/habits.md has them all)"));
    }
    if (!unknown) continue;
    const std::string close = CloseNames(known, name);
    throw UsageError(Cat(name, ": unknown option", close.empty() ? "" : "; did you mean ", close,
                         close.empty() ? " (see --help)" : "? (see --help)"));
  }
}

}  // namespace rshift
