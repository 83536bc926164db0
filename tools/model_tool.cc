// model_tool: looks into models, programs, statistics and results.
#include "tools/tool_commands.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_tool support net.onnx --input-shape x:1x3x224x224\n"
    "  model_tool info net.rshift\n"
    "  model_tool disasm net.rshift\n"
    "  model_tool diff a.rshift b.rshift\n"
    "  model_tool compare int8.npz float.npz --tolerance 0.99,0.90\n";

struct Arguments {
  ModelArguments model;
  std::string a, b, tolerance = "0.99,0.90";
  bool json = false;
};

// A subcommand that takes one file.
CLI::App* AddFileCommand(CLI::App& app, const std::string& name, const std::string& what,
                         Arguments& a) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("file", a.a, "a file")->required();
  return command;
}

int Run(CLI::App& app, const Arguments& a) {
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "support") return SupportCommand(a.model.path, a.model.Import(), a.json);
  if (command == "info") return InfoCommand(a.a, a.json);
  if (command == "disasm") return DisasmCommand(a.a);
  if (command == "verify") return VerifyCommand(a.a);
  if (command == "diff") return DiffCommand(a.a, a.b);
  if (command == "memory") return MemoryCommand(a.a);
  if (command == "compare") return CompareCommand(a.a, a.b, a.tolerance, a.json);
  return StatsCommand(a.a);
}

void AddCommands(CLI::App& app, Arguments& a) {
  CLI::App* support = app.add_subcommand(
      "support", "every node of a model: integer, F32, fused, folded, or why not");
  a.model.AddTo(*support);
  support->add_flag("--json", a.json, "machine-readable");
  CLI::App* info =
      AddFileCommand(app, "info", "inputs, outputs, sections and sizes of a program", a);
  info->add_flag("--json", a.json, "machine-readable");
  AddFileCommand(app, "disasm", "the command stream of a program as text", a);
  AddFileCommand(app, "verify", "loads and verifies a program without running it", a);
  AddFileCommand(app, "memory", "arena map, lower bound and gap of a program", a);
  AddFileCommand(app, "stats", "calibration statistics as text", a);
  CLI::App* diff = AddFileCommand(app, "diff", "what differs between two programs", a);
  diff->add_option("other", a.b, "the other program")->required();
  CLI::App* compare = AddFileCommand(app, "compare", "compares two .npz files array by array", a);
  compare->add_option("other", a.b, "the reference .npz")->required();
  compare->add_option("--tolerance", a.tolerance, "COS,EUCLID (default 0.99,0.90)");
  compare->add_flag("--json", a.json, "machine-readable");
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Looks into models, programs, statistics and results.", "model_tool");
  rshift::Arguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  rshift::AddCommands(app, arguments);
  app.require_subcommand(1);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(app, arguments); });
}
