// What every tool's main() shares: options, exit codes, one `error:` line.
#ifndef RSHIFT_TOOLS_TOOL_MAIN_H_
#define RSHIFT_TOOLS_TOOL_MAIN_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "graph/import.h"
#include "runtime/threads.h"
#include "tools/paths.h"

namespace rshift {

// Parses, then runs `body`. Exit code 0: done; 1: the work failed (`error: ...` on stderr); 2:
// wrong usage, found by the parser or thrown by `body` as UsageError. `body` returns the exit code
// of a finished run: 1 for a comparison below its bound.
int ToolMain(CLI::App& app, int argc, char** argv, const std::function<int()>& body);
// A line on stderr; none for "".
void PrintNote(const std::string& note);
// A tool's App with --version and examples in its help.
void SetUpApp(CLI::App& app, const std::string& examples);

// --input-shape NAME:1x3x224x224 and --bind NAME=X.npy, shared by every tool that reads an ONNX
// file.
struct ModelArguments {
  std::string path, append;
  std::vector<std::string> input_shapes, bindings, append_map;
  void AddTo(CLI::App& app);
  // All but the model itself.
  std::vector<CLI::Option*> AddImportOptions(CLI::App& app);
  // `paths.outputs` are the files this run writes: external data must be none of them.
  ImportOptions Import(const RunPaths& paths = {}) const;
  void AddTo(RunPaths& paths) const;
  // An option of these that is given; "" for none. They are about models, not about programs.
  std::string OptionGiven() const;
};

// An option whose text `parse` must take: its error is wrong usage.
template <typename Parse>
CLI::Validator TakenBy(Parse parse) {
  return CLI::Validator(
      [parse](std::string& text) -> std::string {
        try {
          parse(text);
          return "";
        } catch (const Error& error) {
          return error.what();
        }
      },
      "");
}

// For unsigned numbers, of which the parser takes -1 for the largest.
inline CLI::Validator NotNegative() {
  return TakenBy([](const std::string& text) {
    RSHIFT_REQUIRE(!text.starts_with("-"), ErrorCode::kInvalidInput, "expected 0 or more, found ",
                   text);
  });
}

// "NAME=path" -> {NAME, path}; a plain path -> {"", path}. A file that exists under the whole text
// is a plain path.
std::pair<std::string, std::string> SplitNamedPath(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_TOOL_MAIN_H_
