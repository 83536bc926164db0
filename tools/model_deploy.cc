// model_deploy: float model + calibration table, or a QDQ model -> one .rshift program.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/dump.h"
#include "graph/passes/passes.h"
#include "graph/sha256.h"
#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tools/check_program.h"
#include "tools/deploy_preprocess.h"
#include "tools/own_program.h"
#include "tools/preprocess_options.h"
#include "tools/print.h"
#include "tools/program_interface.h"
#include "tools/report.h"
#include "tools/sensitivity.h"
#include "tools/tool_main.h"
#include "tools/usage.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_deploy net.onnx --mode f32 -o net_f32.rshift\n"
    "  model_deploy net.onnx --calibration net.table.yaml -o net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml --mode asymmetric --config layers.yaml -o "
    "net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --test-input photos/ --tolerance "
    "0.99,0.90 --report r.html\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --sensitivity f32.yaml   (then "
    "--config f32.yaml)\n"
    "  model_deploy net_qdq.onnx -o net.rshift      (the model's own scales, no calibration)\n"
    "  model_deploy net_qdq.onnx --profile tflite --variant d1 -o net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml --input-type u8 -o net.rshift      (pixels in)\n"
    "  model_deploy net.onnx --mode f32 -o n.rshift --dump-graph passes=graph.txt\n";

constexpr int64_t kCheckSamples = 4;

struct Arguments {
  ModelArguments model;
  std::string calibration, output, mode, profile, variant, config, target, tolerance;
  PreprocessArguments preprocess;
  std::string report, report_json;
  std::string input_type = "f32", output_type = "f32";
  std::vector<std::string> test_input, dump_graph;
  int threads = 0;
  std::string sensitivity;
  int64_t check_samples = kCheckSamples, keep_f32 = 0;
  bool no_fuse = false, json = false, no_check = false, force_preprocess = false;
};

void AddOptions(CLI::App& app, Arguments& a) {
  a.model.AddTo(app);
  app.add_option("--calibration", a.calibration,
                 "calibration table (--mode f32 needs none; it takes the preprocessing from it; a "
                 "model with QuantizeLinear and DequantizeLinear has its own parameters)");
  app.add_option("-o,--output", a.output, "the .rshift program to write")->required();
  app.add_option("--mode", a.mode,
                 "symmetric | asymmetric | f32 (default symmetric; a QDQ model's own)")
      ->check(CLI::IsMember({"symmetric", "asymmetric", "f32"}));
  std::vector<std::string> profiles;
  profiles.reserve(kProfileCount);
  for (int i = 0; i < kProfileCount; ++i) profiles.push_back(Name(static_cast<ProfileId>(i)));
  app.add_option("--profile", a.profile, "integer arithmetic (default tpu)")
      ->check(CLI::IsMember(profiles));
  app.add_option("--variant", a.variant,
                 "another arithmetic of the profile: tflite d1 | d2 | f2, caffe2 fp32 | precise, "
                 "ascend away | floor | ceil | truncate | fp16")
      ->check(TakenBy([](const std::string& name) { ParseVariant(name); }));
  app.add_option("--config", a.config,
                 "overrides by name, wildcard or operator (YAML; configs/README.md)");
  app.add_option("--target", a.target, "what the chip can do: configs/targets/X.yaml");
  app.add_option(
         "--input-type", a.input_type,
         "u8 | s8 | f32 (default): the bytes the program takes. An input with preprocessing "
         "takes pixels (s8: pixel - 128), mean and scale are in the program; any other the "
         "integers of its own scale and zero point (model_tool info)")
      ->check(CLI::IsMember({"u8", "s8", "f32"}));
  app.add_option("--output-type", a.output_type,
                 "u8 | s8 | f32 (default): u8 and s8 give the integers as they are")
      ->check(CLI::IsMember({"u8", "s8", "f32"}));
  a.preprocess.AddTo(app, "carried into the program; default: the table's");
  app.add_flag("--force-preprocess", a.force_preprocess,
               "take a preprocessing that differs from the table's all the same");
  app.add_flag("--no-check", a.no_check,
               "do not run the program on samples of the calibration beside the float model");
  app.add_option("--check-samples", a.check_samples,
                 "for the check and --sensitivity: how many of the recorded samples, or of "
                 "--test-input (default 4)")
      ->check(CLI::Range(1, static_cast<int>(kMaxRecordedSamples)));
  auto* test_input =
      app.add_option("--test-input", a.test_input,
                     "run float and integer program on these and compare every tensor");
  app.add_option("--tolerance", a.tolerance,
                 "COS,EUCLID every compared tensor must reach, else exit 1")
      ->needs(test_input);
  auto* sensitivity = app.add_option(
      "--sensitivity", a.sensitivity,
      "run each integer node alone in INT8, rank them by the outputs, and write a --config file "
      "that leaves the worst in F32");
  app.add_option("--keep-f32", a.keep_f32,
                 "how many nodes that file leaves in F32 (default: the fewest that are enough)")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(sensitivity);
  app.add_flag("--no-fuse", a.no_fuse,
               "a command and tensors of its own for every operator: the same bytes, more slowly");
  app.add_option("--report", a.report, "per-layer report, one self-contained HTML page");
  app.add_option("--report-json", a.report_json, "the same as JSON");
  app.add_flag("--json", a.json, "the summary on stdout as JSON, as --report-json writes it");
  app.add_option("--dump-graph", a.dump_graph,
                 "STAGE[=FILE]: imported | passes | quantized (repeatable)");
  app.add_option("--threads", a.threads, "for the check and --test-input (default 1)")
      ->check(CLI::Range(1, kMaxThreads));
}

void DumpStage(const Arguments& a, const std::string& stage, const Graph& graph) {
  for (const std::string& request : a.dump_graph) {
    if (request == stage)
      std::fputs(DumpGraph(graph).c_str(), stdout);
    else if (request.starts_with(stage + "="))
      WriteFileAtomic(request.substr(stage.size() + 1), DumpGraph(graph));
  }
}

void CheckArguments(const Arguments& a) {
  RequireUsage(!a.force_preprocess || a.preprocess.given(),
               "--force-preprocess needs --preprocess or one of the flags beside it");
  for (const std::string& request : a.dump_graph) {
    const std::string stage = request.substr(0, request.find('='));
    RequireUsage(stage == "imported" || stage == "passes" || stage == "quantized", "--dump-graph ",
                 request, ": stage must be imported, passes or quantized");
    RequireUsage(!a.json || request != stage, "--dump-graph ", request,
                 ": --json has the standard output; give a file, ", stage, "=FILE");
    RequireUsage(request.back() != '=', "--dump-graph ", request, ": the file name is missing");
    RequireUsage(stage != "quantized" || a.mode != "f32",
                 "--dump-graph quantized: an f32 program has no quantized stage");
  }
  if (a.mode == "f32") {
    const char* useless = !a.config.empty()                  ? "--config"
                          : !a.target.empty()                ? "--target"
                          : !a.profile.empty()               ? "--profile"
                          : !a.variant.empty()               ? "--variant"
                          : !a.test_input.empty()            ? "--test-input"
                          : !a.sensitivity.empty()           ? "--sensitivity"
                          : a.no_check                       ? "--no-check"
                          : a.check_samples != kCheckSamples ? "--check-samples"
                          : a.threads != 0                   ? "--threads"
                                                             : nullptr;
    RequireUsage(useless == nullptr, useless == nullptr ? "" : useless,
                 " has no meaning with --mode f32: leave it out");
  }
  RequireUsage(a.threads == 0 || !a.no_check || !a.test_input.empty(),
               "--threads is for the check and --test-input; leave it out with --no-check");
  RequireUsage(a.check_samples == kCheckSamples || !a.no_check || !a.sensitivity.empty(),
               "--check-samples is for the check and --sensitivity; leave it out with --no-check");
  if (!a.variant.empty()) {
    const ProfileId profile = a.profile.empty() ? ProfileId::kTpu : ParseProfile(a.profile);
    const std::string names = VariantNames(profile);
    RequireUsage(HasVariant(profile, ParseVariant(a.variant)), "--variant ", a.variant,
                 ": profile ", Name(profile), " has ", names.empty() ? "none" : names,
                 "; give the --profile it belongs to, or leave it out");
  }
}

// What can only be said when the model is known.
void CheckAgainstModel(const Arguments& a, const Graph& graph) {
  if (a.mode == "f32") return;
  if (HoldsQuantization(graph)) {
    RequireUsage(a.calibration.empty(),
                 "--calibration: the model holds its own quantization parameters "
                 "(QuantizeLinear, DequantizeLinear); leave the table out");
    return;
  }
  RequireUsage(!a.calibration.empty(), "--mode ", a.mode.empty() ? "symmetric" : a.mode,
               " needs --calibration TABLE.yaml (make one with model_calibrate)");
}

QuantizeOptions Options(const Arguments& a) {
  QuantizeOptions options;
  options.mode_given = !a.mode.empty();
  options.mode = a.mode == "asymmetric" ? QuantMode::kAsymmetric : QuantMode::kSymmetric;
  if (!a.profile.empty()) options.profile.id = ParseProfile(a.profile);
  if (!a.variant.empty()) options.profile.variant = ParseVariant(a.variant);
  if (!a.target.empty()) options.target = ReadTarget(ReadTextFile(a.target), a.target);
  if (!a.config.empty()) options.config = ReadQuantizeConfig(ReadTextFile(a.config), a.config);
  return options;
}

std::map<std::string, std::string> Meta(const Arguments& a, const Graph& graph,
                                        const CalibrationTable& table,
                                        const QuantizeOptions& options, const std::string& mode) {
  std::map<std::string, std::string> meta = {
      {"producer", "rshift 0.1.0"},
      {"model", std::filesystem::path(a.model.path).stem().string()},
      {"source_sha256", graph.sha256},
      {"mode", mode},
      {"cost", ToText(options.target.cost)},
      {"preprocess", ChoosePreprocess(table, a.calibration, a.preprocess, InputSpecs(graph),
                                      a.force_preprocess)}};
  if (mode != "f32") {
    meta["profile"] = Name(options.profile.id);
    if (options.profile.variant != Variant::kByTable) {
      meta["variant"] = Name(options.profile.variant);
    }
    meta["target"] = options.target.name;
    meta["calibration_method"] = HoldsQuantization(graph) ? "the model's own" : table.method;
  }
  return meta;
}

CalibrationTable LoadTable(const Arguments& a, const Graph& graph) {
  CalibrationTable table = ReadTable(ReadTextFile(a.calibration), a.calibration);
  RSHIFT_REQUIRE(table.model_sha256.empty() || table.model_sha256 == graph.sha256,
                 ErrorCode::kInvalidInput, a.calibration, ": made from another model (sha256 ",
                 table.model_sha256.substr(0, 12), "..., this model is ",
                 graph.sha256.substr(0, 12), "...); calibrate this model");
  RSHIFT_REQUIRE(table.pass_list_version == 0 || table.pass_list_version == kPassListVersion,
                 ErrorCode::kInvalidInput, a.calibration, ": made with pass list version ",
                 table.pass_list_version, ", this program has ", kPassListVersion,
                 "; calibrate again");
  return table;
}

// The check, the layers of --test-input, and --sensitivity; all leave the program as it is.
void CheckDeployment(const Arguments& a, const Deployment& deployment,
                     const std::string& preprocess, DeployReport* report) {
  if (a.mode == "f32" || (a.no_check && a.test_input.empty() && a.sensitivity.empty())) return;
  RegisterFloatLibrary();
  const CheckRequest request{.check = !a.no_check,
                             .samples = a.check_samples,
                             .test_input = a.test_input,
                             .table_path = a.calibration,
                             .preprocess = preprocess,
                             .threads = a.threads == 0 ? 1 : a.threads};
  CheckResult result = CheckProgram(deployment, request);
  report->checked = request.check;
  report->verdict = std::move(result.verdict);
  report->layers = std::move(result.layers);
  report->compared_samples = result.layer_samples;
  report->test_input = !a.test_input.empty();
  if (a.sensitivity.empty()) return;
  const ChosenSamples chosen = ChooseSamples(deployment, request);
  RSHIFT_REQUIRE(chosen.samples.size() > 0, ErrorCode::kInvalidInput,
                 "--sensitivity: there are no samples: ", chosen.why_none);
  report->sensitivity = MeasureSensitivity(deployment, chosen.samples, a.keep_f32, a.json);
}

void WriteSensitivity(const Arguments& a, const DeployReport& report) {
  if (!report.sensitivity) return;
  const std::string config = a.config.empty() ? "" : ReadTextFile(a.config);
  WriteFileAtomic(a.sensitivity, SensitivityConfig(*report.sensitivity, config));
  if (!a.json) PrintText(SensitivityText(*report.sensitivity, a.sensitivity));
}

int JudgeLayers(const DeployReport& report) {
  size_t below = 0;
  for (const LayerResult& layer : report.layers)
    below += !report.tolerance.Accepts(layer.similarity);
  if (below == 0) return 0;
  std::fprintf(stderr,
               "error: %zu of %zu tensors are below the tolerance %g,%g (cosine,euclid): see the "
               "list above\n",
               below, report.layers.size(), report.tolerance.cosine, report.tolerance.euclid);
  return 1;
}

RunPaths Paths(const Arguments& a) {
  RunPaths paths;
  a.model.AddTo(paths);
  paths.inputs.push_back({"--calibration", a.calibration});
  paths.inputs.push_back({"--config", a.config});
  paths.inputs.push_back({"--target", a.target});
  paths.AddInputs("--preprocess", {a.preprocess.file()});
  paths.AddData("--test-input", a.test_input);
  paths.outputs = {{"--output", a.output},
                   {"--report", a.report},
                   {"--report-json", a.report_json},
                   {"--sensitivity", a.sensitivity}};
  for (const std::string& request : a.dump_graph) {
    const size_t equals = request.find('=');
    if (equals != std::string::npos)
      paths.outputs.push_back({"--dump-graph", request.substr(equals + 1)});
  }
  return paths;
}

// The samples that the table recorded are read again.
void CheckRecordedPaths(const CalibrationTable& table, const RunPaths& paths) {
  RunPaths recorded{.outputs = paths.outputs};
  for (const RecordedSample& sample : table.check_samples) {
    for (const SampleSource& source : sample.sources) {
      recorded.AddData("a sample of --calibration", source.paths);
    }
  }
  CheckPaths(recorded);
}

int Run(const Arguments& a) {
  CheckArguments(a);
  const RunPaths paths = Paths(a);
  CheckPaths(paths);
  DeployReport report{.model = a.model.path, .output = a.output, .mode = a.mode};
  if (!a.tolerance.empty()) report.tolerance = ParseTolerance(a.tolerance);
  const Graph imported = ImportOnnx(a.model.path, a.model.Import(paths));
  DumpStage(a, "imported", imported);
  const Graph floating = RunPasses(imported);
  DumpStage(a, "passes", floating);
  Graph final_graph = floating;
  CalibrationTable table;
  CheckAgainstModel(a, floating);
  const QuantizeOptions options = Options(a);
  report.model_sha256 = floating.sha256;
  if (!a.calibration.empty()) {
    table = LoadTable(a, floating);
    CheckRecordedPaths(table, paths);
    report.table = a.calibration;
    report.table_sha256 = Sha256Hex(ReadFile(a.calibration));
    report.calibration_samples = table.samples;
  }
  if (a.mode != "f32") {
    QuantizeResult quantized = QuantizeGraph(floating, table, options);
    report.mode = quantized.mode == QuantMode::kSymmetric ? "symmetric" : "asymmetric";
    report.profile = Name(options.profile.id);
    final_graph = std::move(quantized.graph);
    report.quantize = std::move(quantized.report);
    report.proofs = ProveIntegers(final_graph);
    DumpStage(a, "quantized", final_graph);
  }
  report.target = options.target.name;
  CompileOptions compile;
  compile.fuse = !a.no_fuse;
  compile.meta = Meta(a, floating, table, options, report.mode);
  ProgramImage image = Compile(final_graph, compile);
  std::vector<uint8_t> bytes = WriteContainer(image);
  const std::string warning = CheckOwnProgram(bytes, a.output);
  if (!warning.empty()) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  report.preprocess = DescribePreprocess(compile.meta["preprocess"]);
  CheckDeployment(a, {floating, final_graph, table, options, bytes}, compile.meta["preprocess"],
                  &report);
  if (a.input_type != "f32" || a.output_type != "f32") {  // the same arithmetic; checked in F32
    const InterfaceOptions interface =
        ReadInterface(a.input_type, a.output_type, compile.meta["preprocess"], floating);
    AddInterfaceMeta(interface, &compile.meta);
    image = Compile(WithInterface(final_graph, interface), compile);
    bytes = WriteContainer(image);
    CheckOwnProgram(bytes, a.output);
  }
  report.file_bytes = bytes.size();
  report.arena_bytes = image.arena_size;
  report.transposes = CountTransposes(final_graph);
  report.nodes = ListNodes(final_graph);
  CountCommands(image, report);
  if (a.json)
    PrintJson(JsonReport(report));
  else
    PrintText(TextReport(report));
  if (report.checked) std::fputs(WarningLine(report.verdict).c_str(), stderr);
  WriteSensitivity(a, report);
  if (!a.report.empty()) WriteFileAtomic(a.report, HtmlReport(report));
  if (!a.report_json.empty())
    WriteFileAtomic(a.report_json, JsonText(JsonReport(report), 2) + "\n");
  const int verdict = a.tolerance.empty() ? 0 : JudgeLayers(report);
  if (verdict == 0) WriteFileAtomic(a.output, bytes);  // a program below its bound is not delivered
  return verdict;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Compiles an ONNX model into one integer program file.", "model_deploy");
  rshift::Arguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  rshift::AddOptions(app, arguments);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(arguments); });
}
