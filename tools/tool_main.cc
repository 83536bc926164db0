#include "tools/tool_main.h"

#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <span>

#include "base/error.h"
#include "base/version.h"
#include "calibrate/data/dataset.h"
#include "pipeline/usage.h"
#include "tools/cli_pages.h"
#include "tools/habits.h"
#include "tools/process.h"

namespace rshift {
namespace {

Shape ParseShape(const std::string& text, const std::string& argument) {
  Shape shape;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    const bool separated = next == end || (*next == 'x' && next + 1 < end);
    RequireUsage(error == std::errc() && dim > 0 && separated, "--input-shape ", argument,
                 ": expected NAME:1x3x224x224 with positive sizes");
    shape.push_back(dim);
    at = next == end ? end : next + 1;
  }
  return shape;
}

// Messages quote names and lines of the files at hand: their control characters must not reach a
// terminal.
void PrintError(std::string message) {
  for (char& c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) c = '?';
  }
  std::fprintf(stderr, "error: %s\n", message.c_str());
}

// Arguments like -o "$UNSET" are a slip of the caller's script, not a wish for a default.
void RefuseEmptyValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      RequireUsage(!value.empty() || option->get_expected_max() == 0, option->get_name(),
                   ": the value is empty (see --help)");
    }
  }
  for (const CLI::App* command : app.get_subcommands()) RefuseEmptyValues(*command);
}

// What the build asks of a program, not a user.
bool PrintedCliPage(const CLI::App& app, int argc, char** argv) {
  const std::string argument = argc == 2 ? argv[1] : "";
  if (argument != kPrintManPage && argument != kPrintCompletion) return false;
  std::fputs((argument == kPrintManPage ? ManPage(app) : BashCompletion(app)).c_str(), stdout);
  return true;
}

int ParseAndRun(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  if (PrintedCliPage(app, argc, argv)) return 0;
  RefuseUnknownOptions(app,
                       std::span<const char* const>(argv, static_cast<size_t>(argc)).subspan(1));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw UsageError(Cat(error.what(), " (see --help)"));
  }
  RefuseEmptyValues(app);
  return body();
}

}  // namespace

void PrintNote(const std::string& note) {
  if (!note.empty()) std::fprintf(stderr, "note: %s\n", note.c_str());
}

void SetUpApp(CLI::App& app, const std::string& examples) {
  app.set_version_flag("--version", Version());
  app.footer("Examples:\n" + examples +
             "\nExit codes: 0 done, 1 the work failed or its output could not be printed (one "
             "`error:` line "
             "says why), 2 wrong usage.");
  app.get_formatter()->column_width(34);
}

int ToolMain(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  SetUpProcess();
  try {
    const int code = ParseAndRun(app, argc, argv, body);
    if (code == 0) FinishStandardOutput();
    return code;
  } catch (const UsageError& error) {
    PrintError(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    PrintError("out of memory");
  } catch (const std::exception& error) {
    PrintError(error.what());
  }
  return 1;
}

void ModelArguments::AddTo(CLI::App& app) {
  app.add_option("model", path, "the trained model: an ONNX or .tflite file, or OpenVINO's .xml")
      ->required();
  AddImportOptions(app);
}

std::vector<CLI::Option*> ModelArguments::AddImportOptions(CLI::App& app) {
  auto* shapes = app.add_option("--input-shape", input_shapes,
                                "bind symbolic dimensions: NAME:1x3x224x224 (repeatable)");
  auto* bound =
      app.add_option("--bind", bindings, "freeze an input to a constant: NAME=X.npy (repeatable)");
  auto* behind =
      app.add_option("--append", append,
                     "an ONNX file to put behind the model, its inputs joined to outputs "
                     "of that name: what makes boxes of a detector (docs/detectors.md)");
  auto* map = app.add_option("--append-map", append_map,
                             "an input of --append reads another output: INPUT=OUTPUT (repeatable)")
                  ->allow_extra_args(false)
                  ->needs(behind);
  return {shapes, bound, behind, map};
}

void ModelArguments::AddTo(RunPaths& paths) const {
  paths.inputs.push_back({"the model", path});
  paths.inputs.push_back({"--append", append});
  paths.AddInputs("--bind", bindings);
}

ImportOptions ModelArguments::Import(const RunPaths& paths) const {
  ImportOptions options;
  options.note = PrintNote;
  options.outputs = paths.OutputFiles();
  for (const std::string& argument : input_shapes) {
    const size_t colon = argument.rfind(':');
    RequireUsage(colon != std::string::npos && colon > 0, "--input-shape ", argument,
                 ": expected NAME:1x3x224x224");
    const Shape shape = ParseShape(argument.substr(colon + 1), argument);
    RequireUsage(options.input_shapes.emplace(argument.substr(0, colon), shape).second,
                 "--input-shape ", argument, ": this input has a shape already; give one");
  }
  for (const std::string& argument : bindings) {
    const auto [name, path_of_array] = SplitNamedPath(argument);
    RequireUsage(!name.empty(), "--bind ", argument, ": expected NAME=X.npy");
    NumpyArray array = ReadNpy(path_of_array);
    Value value{name, array.dtype, array.shape, Layout::kPlain, std::nullopt, nullptr};
    value.constant = MakeConstant(std::span<const uint8_t>(array.bytes));
    RequireUsage(!options.input_shapes.contains(name), "--input-shape of '", name,
                 "': --bind gives it an array, whose shape it has; leave one out");
    RequireUsage(options.bound_inputs.emplace(name, std::move(value)).second, "--bind ", argument,
                 ": this input is bound already; give one array");
  }
  options.append = append;
  for (const std::string& text : append_map) {
    const size_t equals = text.find('=');
    RequireUsage(equals != std::string::npos && equals > 0 && equals + 1 < text.size(),
                 "--append-map ", text, ": expected INPUT=OUTPUT");
    RequireUsage(
        options.append_inputs.emplace(text.substr(0, equals), text.substr(equals + 1)).second,
        "--append-map ", text, ": given twice");
  }
  return options;
}

std::string ModelArguments::OptionGiven() const {
  return !input_shapes.empty() ? "--input-shape"
         : !bindings.empty()   ? "--bind"
         : !append.empty()     ? "--append"
                               : "";
}

std::pair<std::string, std::string> SplitNamedPath(const std::string& text) {
  std::error_code ignored;
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || std::filesystem::exists(text, ignored)) {
    return {"", text};
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace rshift
