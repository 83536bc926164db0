// What an installation says of a program's command line, made from the definitions that parse it: a
// man page, and what bash completes.
#ifndef RSHIFT_TOOLS_CLI_PAGES_H_
#define RSHIFT_TOOLS_CLI_PAGES_H_

#include <CLI/CLI.hpp>
#include <string>

namespace rshift {

// The build calls each program with these (cmake/Install.cmake); --help does not tell of them.
inline constexpr const char* kPrintManPage = "--print-man-page";
inline constexpr const char* kPrintCompletion = "--print-bash-completion";

// In the man macros of troff, section 1. `app` has been set up by SetUpApp.
std::string ManPage(const CLI::App& app);
// A bash function and its `complete` line: subcommands, options, the words that an option takes;
// file names elsewhere.
std::string BashCompletion(const CLI::App& app);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CLI_PAGES_H_
