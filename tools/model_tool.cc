// model_tool: looks into models, programs, statistics and results.
#include <set>

#include "base/names.h"
#include "interop/formats.h"
#include "pipeline/usage.h"
#include "runtime/limits.h"
#include "tools/tool_commands.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_tool support net.onnx --input-shape x:1x3x224x224\n"
    "  model_tool info net.rshift\n"
    "  model_tool graph net.rshift -o net.html\n"
    "  model_tool diagnose net.onnx --dataset photos/ --preprocess net.yaml\n"
    "  model_tool compare int8.npz float.npz --tolerance 0.99,0.90\n"
    "  model_tool requantize --profile tpu --scale 0.1234 < accumulators.txt\n"
    "  model_tool scales convert net.table.yaml net.encodings\n"
    "  model_tool disasm --help      (each subcommand has examples of its own)\n";

// The subcommands that read one file.
struct FileCommand {
  const char* name;
  const char* file;
  const char* what;
  const char* examples;
};
constexpr FileCommand kFileCommands[] = {
    {"info", "a .rshift program", "inputs, outputs, sections and sizes of a program",
     "  model_tool info net.rshift\n"
     "  model_tool info net.rshift --json | jq .meta.mode\n"},
    {"disasm", "a .rshift program", "the command stream of a program as text",
     "  model_tool disasm net.rshift | less -S\n"
     "  model_tool disasm net.rshift --json | jq '.commands[] | select(.opcode == \"conv\")'\n"},
    {"verify", "a .rshift program",
     "loads and verifies a program without running it; says what a run takes",
     "  model_tool verify net.rshift && echo good\n"
     "  model_tool verify net.rshift --json\n"
     "  model_tool verify net.rshift --limits seconds=0.1,arena=64M\n"},
    {"memory", "a .rshift program", "arena map, lower bound and gap of a program",
     "  model_tool memory net.rshift\n"
     "  model_tool memory net.rshift --json | jq .arena_bytes\n"},
    {"stats", "a .stats file of model_calibrate", "calibration statistics as text",
     "  model_tool stats net.stats\n"
     "  model_tool stats net.stats --json | jq '.tensors[] | select(.max > 100).name'\n"}};
constexpr const char* kSupportExamples =
    "  model_tool support net.onnx\n"
    "  model_tool support net.onnx --input-shape x:1x3x224x224 --json\n"
    "  model_tool support net.onnx --profile onnxruntime\n"
    "  model_tool support net.onnx --bind threshold=t.npy\n";
constexpr const char* kDiffExamples =
    "  model_tool diff a.rshift b.rshift\n"
    "  model_tool diff a.rshift b.rshift --json | jq .meta\n";
constexpr const char* kCompareExamples =
    "  model_tool compare int8.npz float.npz --tolerance 0.99,0.90\n"
    "  model_tool compare int8.npz onnxruntime.npz --common --json\n"
    "  model_tool compare int8.npz float.npz --except logits --except '*_mask'\n";

constexpr const char* kRequantizeExamples =
    "  echo 1000 | model_tool requantize --profile tpu --scale 0.1234 --show-multiplier\n"
    "  echo 1000 | model_tool requantize --profile tflite --variant d2 --multiplier 2119995857 "
    "--rshift 34\n"
    "  echo 1000 | model_tool requantize --profile onnxruntime --scale 0.1234 --zero-point 3\n"
    "  echo 1000 | model_tool requantize --profile caffe2 --variant precise --scale 0.1234 "
    "--type u8\n"
    "  echo 1000 | model_tool requantize --profile ascend --variant floor --scale 0.01 "
    "--quant-scale 12.5\n";

constexpr const char* kScalesExamples =
    "  model_tool scales convert net.table.yaml net.encodings\n"
    "  model_tool scales convert trt.cache net.table.yaml\n"
    "  model_tool scales convert net.table.yaml net.table --to ncnn --model net.onnx\n"
    "  model_tool scales show calibration.json --json\n";

constexpr const char* kVectorsExamples =
    "  model_tool vectors net.rshift --input photo.jpg -o vectors/\n"
    "  model_tool vectors net.rshift --input samples.npy --sample 3 -o vectors/\n"
    "  python3 -c \"import numpy; print(dict(numpy.load('vectors/00001_conv.npz')))\"\n";

constexpr const char* kExportExamples =
    "  model_tool export net.onnx --format ascend --calibration net.table.yaml -o ascend/\n"
    "  model_tool export net.onnx --format ascend --config scales.yaml -o ascend/\n";

constexpr const char* kExplainExamples =
    "  model_tool explain net.table.yaml conv1_out\n"
    "  model_tool explain net.table.yaml conv1_out --model net.onnx    (propagation, readers)\n"
    "  model_tool explain net.table.yaml --model net.onnx    (joins of ranges far apart)\n"
    "  model_tool explain net.table.yaml conv1_out --json | jq .table.reason\n";

constexpr const char* kDiagnoseExamples =
    "  model_tool diagnose net.onnx --dataset photos/ --preprocess net.yaml\n"
    "  model_tool diagnose net.onnx --dataset photos/ --preprocess net.yaml --labels labels.txt\n"
    "  model_tool diagnose net.onnx --dataset x.npy --calibration net.table.yaml --mode "
    "asymmetric\n"
    "  model_tool diagnose net.onnx --dataset photos/ --preprocess net.yaml --strict && echo "
    "healthy\n"
    "  model_tool diagnose net.onnx --dataset x.npy --json | jq -r '.findings[].rule'\n"
    "  model_tool diagnose --rules    (what is looked for, and the limits)\n";

constexpr const char* kCutExamples =
    "  model_tool cut ssd.onnx -o network.onnx    (up to what cannot be deployed)\n"
    "  model_tool cut net.onnx --outputs conv_57 --outputs conv_64 -o network.onnx\n"
    "  model_tool cut net.onnx --inputs features --outputs scores -o head.onnx --json\n";

constexpr const char* kGraphExamples =
    "  model_tool graph net.rshift -o net.html\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --report-json r.json\n"
    "  model_tool graph net.rshift --report r.json -o net.html    (with the error of each layer)\n"
    "  model_tool graph net.onnx --profile onnxruntime -o model.html\n"
    "  model_tool graph net.rshift --json | jq '.nodes[] | select(.kind == \"float\").name'\n";

constexpr const char* kWeightsExamples =
    "  model_tool weights net.rshift\n"
    "  model_tool weights net.rshift -o weights/    (a .npy file each, in ONNX order)\n"
    "  model_tool weights net.onnx --json | jq '.constants[] | select(.zeros > 0.5).name'\n";

struct Arguments {
  ModelArguments model;
  std::string file, other, limits;
  std::string profile;  // "": tpu
  CompareArguments compare;
  bool json = false, show = false;
  RequantizeArguments requantize;
  ScalesArguments scales;
  VectorsArguments vectors;
  ExportArguments exported;
  GraphArguments graph;
  ExplainArguments explain;
  std::vector<std::string> counts;
  DiagnoseArguments diagnose;
  CutArguments cut;
  WeightsArguments weights;
};

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples, Arguments& a) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Examples:\n" + examples);
  command->add_flag("--json", a.json, "machine-readable");
  return command;
}

// CLI11 says of a mistyped subcommand that one is required.
void CheckCommand(const CLI::App& app) {
  std::set<std::string> names;
  std::string list;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.insert(command->get_name());
    list += (list.empty() ? "" : ", ") + command->get_name();
  }
  const std::vector<std::string> extras = app.remaining();
  const bool is_option = !extras.empty() && extras[0].starts_with("-");
  const bool found = !app.get_subcommands().empty();
  RequireUsage(extras.empty() || (!found && !is_option), extras.empty() ? "" : extras[0],
               ": unknown argument; an option comes after the subcommand (see --help)");
  RequireUsage(found || !extras.empty(), "a subcommand is missing; expected one of ", list,
               " (see --help)");
  if (found) return;
  const std::string close = CloseNames(names, extras[0]);
  throw UsageError(Cat("'", extras[0], "' is no subcommand",
                       close.empty() ? "" : "; did you mean " + close + "?",
                       close.empty() ? ", expected one of " : " All of them: ", list));
}

int Run(CLI::App& app, const Arguments& a) {
  CheckCommand(app);
  const Profile profile{a.profile.empty() ? ProfileId::kTpu : ParseProfile(a.profile)};
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "support") {
    return SupportCommand(a.model.path, a.model.Import(), profile, a.json);
  }
  if (command == "info") return InfoCommand(a.file, a.json);
  if (command == "disasm") return DisasmCommand(a.file, a.json);
  if (command == "verify") return VerifyCommand(a.file, a.limits, a.json);
  if (command == "diff") return DiffCommand(a.file, a.other, a.json);
  if (command == "memory") return MemoryCommand(a.file, a.json);
  if (command == "compare") return CompareCommand(a.compare, a.json);
  if (command == "requantize") return RequantizeCommand(a.requantize, a.show, a.json);
  if (command == "export") {
    ExportArguments exported = a.exported;
    exported.model = a.model.path;
    return ExportCommand(exported, a.model.Import(), a.json);
  }
  if (command == "graph") {
    GraphArguments graph = a.graph;
    graph.file = a.model.path;
    graph.profile = profile;
    graph.model_option = a.model.OptionGiven();
    if (graph.model_option.empty() && !a.profile.empty()) graph.model_option = "--profile";
    return GraphCommand(graph, a.model.Import(), a.json);
  }
  if (command == "explain") {
    ExplainArguments explain = a.explain;
    explain.model = a.model.path;
    return ExplainCommand(explain, a.model.Import(), a.json);
  }
  if (command == "accuracy") return AccuracyCommand(a.counts, a.json);
  if (command == "diagnose") return DiagnoseCommand(a.diagnose, a.model, a.json);
  if (command == "cut") return CutCommand(a.cut, a.model, a.json);
  if (command == "weights") {
    WeightsArguments weights = a.weights;
    weights.file = a.model.path;
    weights.model_option = a.model.OptionGiven();
    return WeightsCommand(weights, a.model.Import(), a.json);
  }
  if (command == "vectors") return VectorsCommand(a.vectors, a.json);
  if (command == "scales") return ScalesCommand(a.scales, a.json);
  if (command == "stats") return StatsCommand(a.file, a.json);
  Fail(ErrorCode::kInternal, "nothing runs ", command);
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
  CLI::App* command =
      AddCommand(app, "requantize",
                 "int32 accumulators on stdin, one a line, to the integers a profile makes of them",
                 kRequantizeExamples, a);
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
}

void AddScales(CLI::App& app, Arguments& a) {
  ScalesArguments& s = a.scales;
  CLI::App* command = AddCommand(
      app, "scales", "thresholds, scales and zero points from one tool's format into another's",
      kScalesExamples +
          ("\nFormats, and the endings of file names that choose them:\n" + ScaleFormatList()),
      a);
  command->add_option("action", s.action, "what to do")
      ->required()
      ->check(CLI::IsMember({"convert", "show"}));
  command->add_option("file", s.file, "the scales")->required();
  command->add_option("output", s.output, "convert: the file to write");
  command->add_option("--from", s.from, "the format (default: found by content)")
      ->check(TakenBy([](const std::string& name) { FindScaleFormat(name); }));
  command->add_option("--to", s.to, "the output's format (default: by its name)")
      ->check(TakenBy([](const std::string& name) { FindScaleFormat(name); }));
  command->add_option("--model", s.model,
                      "the model: ncnn names layers, the others tensors, and it says which layer "
                      "reads which tensor");
  command->add_flag("--symmetric", s.symmetric,
                    "formats with zero points: write thresholds, where there are, not ranges");
  command->add_option("--header", s.header,
                      "tensorrt: the first line (default: the input's, or "
                      "TRT-8601-EntropyCalibration2)");
}

void AddVectors(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, "vectors",
                 "for each command its integer weights, biases, multipliers, shifts, and what it "
                 "reads and writes: test vectors for hardware",
                 kVectorsExamples, a);
  command->add_option("program", a.vectors.program, "a .rshift program")->required();
  command->add_option("--input", a.vectors.input, "the sample, as model_runner --input takes it");
  command->add_option("--sample", a.vectors.sample, "which one of --input (default 0)")
      ->check(NotNegative());
  command->add_option("-o,--output", a.vectors.output, "the folder to write into")->required();
}

void AddExport(CLI::App& app, Arguments& a) {
  ExportArguments& e = a.exported;
  CLI::App* command = AddCommand(app, "export",
                                 "a quantized model's constants as files of another system: int8 "
                                 "weights, int32 bias, uint64 deq_scale, scales, a manifest",
                                 kExportExamples, a);
  a.model.AddTo(*command);
  command->add_option("--format", e.format, "ascend: docs/from_ascend.md")
      ->required()
      ->check(CLI::IsMember({"ascend"}));
  command->add_option("--calibration", e.calibration, "calibration table");
  command->add_option("--config", e.config, "as of model_deploy: scale_d, scale_w, modes, ...");
  command->add_option("--mode", e.mode, "symmetric | asymmetric (default symmetric)")
      ->check(CLI::IsMember({"symmetric", "asymmetric"}));
  command->add_option("--variant", e.variant, "as of model_deploy --profile ascend")
      ->check(TakenBy([](const std::string& name) { ParseVariant(name); }));
  command->add_option("-o,--output", e.output, "the folder to write into")->required();
}

void AddAccuracy(CLI::App& app, Arguments& a) {
  CLI::App* command = AddCommand(
      app, "accuracy", "adds up what model_runner --labels --shard --json printed of every shard",
      "  model_tool accuracy 0.json 1.json 2.json\n", a);
  command->add_option("counts", a.counts, "the output of each shard")->required();
}

void AddExplain(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, "explain",
                 "where the range of a tensor comes from: what was seen, method, what is clipped "
                 "and lost, propagation, readers",
                 kExplainExamples, a);
  command->add_option("table", a.explain.table, "a calibration table")->required();
  command->add_option("tensor", a.explain.tensor, "of the table; without it, joins far apart");
  auto* model = command->add_option("--model", a.model.path, "the model that the table is of");
  for (CLI::Option* option : a.model.AddImportOptions(*command)) option->needs(model);
}

void AddDiagnose(CLI::App& app, Arguments& a) {
  DiagnoseArguments& d = a.diagnose;
  CLI::App* command =
      AddCommand(app, "diagnose",
                 "what is wrong with a model, its data or its integer program: the layer, the "
                 "figure, and the command to try",
                 kDiagnoseExamples, a);
  a.model.AddTo(*command);
  command->get_option("model")->required(false);
  command->add_option("--dataset", d.dataset, "samples, as model_calibrate takes them");
  d.preprocess.AddTo(*command, "how images become the input (default: the table's)");
  command->add_option(
      "--labels", d.labels,
      "as model_runner takes them, also auto: preprocessing is judged by right answers");
  command->add_option("--label-offset", d.label_offset, "added to every label");
  command->add_option("--calibration", d.calibration,
                      "the table to judge (default: one is made, as model_calibrate does)");
  command->add_option("--mode", d.mode, "symmetric | asymmetric (default symmetric)")
      ->check(CLI::IsMember({"symmetric", "asymmetric"}));
  command->add_option("--samples", d.samples, "how many samples (default 32)");
  command->add_option("--seed", d.seed, "which samples are chosen (default 0)")
      ->check(NotNegative());
  command
      ->add_option("--threads", d.threads,
                   "samples in parallel (default: OMP_NUM_THREADS or all cores)")
      ->check(CLI::Range(1, kMaxThreads));
  command->add_flag("--strict", d.strict, "exit code 1 when anything is found");
  command->add_flag("--rules", d.rules, "list the rules and their limits instead");
}

void AddGraph(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, "graph",
                 "a program, or a model before quantization, as a picture: one HTML page with "
                 "types, scales, what runs in F32, errors and the memory map",
                 kGraphExamples, a);
  a.model.AddTo(*command);
  command->get_option("model")->description("a .rshift program, or a model");
  command->add_option("--report", a.graph.report,
                      "of model_deploy --report-json: the error and saturation of each layer");
  command->add_option("--profile", a.profile, "of a model: whose integers (default tpu)")
      ->check(TakenBy([](const std::string& name) { ParseProfile(name); }));
  command->add_option("-o,--output", a.graph.output, "the page to write");
}

void AddWeights(CLI::App& app, Arguments& a) {
  CLI::App* command = AddCommand(app, "weights",
                                 "the constants of a program or a model: who reads them, shape, "
                                 "type, scales, range, shares of zeros and of the ends, bytes",
                                 kWeightsExamples, a);
  a.model.AddTo(*command);
  command->get_option("model")->description("a .rshift program, or a model");
  command->add_option("-o,--output", a.weights.output,
                      "a folder: each constant as .npy, integers as they are, in ONNX order");
}

void AddCut(CLI::App& app, Arguments& a) {
  CLI::App* command =
      AddCommand(app, "cut",
                 "a part of an ONNX model as a model of its own: the network without the "
                 "post-processing that cannot be deployed, or what lies between tensors",
                 kCutExamples, a);
  AddCutOptions(*command, a.model, a.cut);
}

void AddCommands(CLI::App& app, Arguments& a) {
  CLI::App* support =
      AddCommand(app, "support", "every node of a model: integer, F32, fused, folded, or why not",
                 kSupportExamples, a);
  a.model.AddTo(*support);
  support->add_option("--profile", a.profile, "arithmetic of the integer program (default tpu)")
      ->check(TakenBy([](const std::string& name) { ParseProfile(name); }));
  for (const FileCommand& c : kFileCommands)
    AddCommand(app, c.name, c.what, c.examples, a)->add_option("file", a.file, c.file)->required();
  app.get_subcommand("verify")
      ->add_option("--limits", a.limits,
                   "what a run may take, if not the defaults: "
                   "seconds=N,macs=N,elements=N,buffers=N,arena=N, or none")
      ->check(TakenBy([](const std::string& text) { ParseLimits(text); }));
  CLI::App* diff = AddCommand(app, "diff", "what differs between two programs", kDiffExamples, a);
  diff->add_option("file", a.file, "a .rshift program")->required();
  diff->add_option("other", a.other, "the other program")->required();
  CLI::App* compare =
      AddCommand(app, "compare", "compares two .npz files array by array", kCompareExamples, a);
  compare->add_option("file", a.compare.a, "an .npz file")->required();
  compare->add_option("other", a.compare.b, "the reference .npz")->required();
  compare->add_option("--tolerance", a.compare.tolerance, "COS,EUCLID (default 0.99,0.90)");
  compare->add_flag("--common", a.compare.common,
                    "only arrays that both files have; those of one alone are no failure");
  compare
      ->add_option("--except", a.compare.exceptions,
                   "leave out arrays of this NAME or wildcard (repeatable)")
      ->expected(1)
      ->take_all();
  AddRequantize(app, a);
  AddScales(app, a);
  AddVectors(app, a);
  AddExport(app, a);
  AddGraph(app, a);
  AddExplain(app, a);
  AddAccuracy(app, a);
  AddDiagnose(app, a);
  AddCut(app, a);
  AddWeights(app, a);
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Looks into models, programs, statistics and results.", "model_tool");
  rshift::Arguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  rshift::AddCommands(app, arguments);
  app.allow_extras();  // the subcommands do not: what is left is judged by CheckCommand
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(app, arguments); });
}
