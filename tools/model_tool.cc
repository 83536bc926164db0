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
    "  model_tool compare int8.npz float.npz --tolerance 0.99,0.90\n"
    "  model_tool requantize --profile tpu --scale 0.1234 < accumulators.txt\n";

constexpr const char* kRequantizeExamples =
    "Examples:\n"
    "  echo 1000 | model_tool requantize --profile tpu --scale 0.1234 --show-multiplier\n"
    "  echo 1000 | model_tool requantize --profile tflite --variant d2 --multiplier 2119995857 "
    "--rshift 34\n"
    "  echo 1000 | model_tool requantize --profile onnxruntime --scale 0.1234 --zero-point 3\n"
    "  echo 1000 | model_tool requantize --profile caffe2 --variant precise --scale 0.1234 "
    "--type u8\n"
    "  echo 1000 | model_tool requantize --profile ascend --variant floor --scale 0.01 "
    "--quant-scale 12.5\n";

struct Arguments {
  ModelArguments model;
  std::string a, b, tolerance = "0.99,0.90";
  bool json = false, show = false;
  RequantizeArguments requantize;
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
  if (command == "requantize") return RequantizeCommand(a.requantize, a.show, a.json);
  return StatsCommand(a.a);
}

std::string VariantList() {
  std::string text = "variant of the profile, its default first:";
  for (int i = 0; i < kProfileCount; ++i) {
    const auto profile = static_cast<ProfileId>(i);
    const std::vector<std::string> names = VariantsOf(profile);
    if (names.empty()) continue;
    text += Cat(" ", Name(profile));
    for (const std::string& name : names) text += (name == names[0] ? " " : "|") + name;
    text += ";";
  }
  text.back() = '.';
  return text;
}

void AddRequantize(CLI::App& app, Arguments& a) {
  RequantizeArguments& r = a.requantize;
  CLI::App* command = app.add_subcommand(
      "requantize",
      "int32 accumulators on stdin, one a line, to the integers a profile makes of them");
  command->add_option("--profile", r.profile, "arithmetic (default tpu)")
      ->check(TakenBy([](const std::string& name) { ParseProfile(name); }));
  command->add_option("--variant", r.variant, VariantList());
  command->add_option("--scale", r.scale,
                      "the real factor S_x S_w / S_y (ascend: deq_scale = S_x S_w)");
  command->add_option("--multiplier", r.multiplier, "the integer factor, with --rshift");
  command->add_option("--rshift", r.rshift, "its shift to the right, 0..62");
  command->add_option("--zero-point", r.zero_point, "of the output (default 0)");
  command->add_option("--type", r.type, "of the output: s8 or u8 (default s8)");
  command->add_option("--bias", r.bias, "onednn: f32, in units of the accumulator; ascend: fp16");
  command->add_option("--quant-scale", r.quant_scale, "ascend: 1 / S_y (default 1)");
  command->add_flag("--show-multiplier", a.show,
                    "say multiplier and rshift, or the scale, on stderr");
  command->add_flag("--json", a.json, "machine-readable");
  command->footer(kRequantizeExamples);
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
  AddRequantize(app, a);
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
