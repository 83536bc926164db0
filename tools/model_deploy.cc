// model_deploy: float model + calibration table, or a QDQ model -> one .rshift program.
#include <cstdio>

#include "base/atomic_file.h"
#include "calibrate/data/dataset.h"
#include "graph/dump.h"
#include "pipeline/deploy.h"
#include "pipeline/json_text.h"
#include "pipeline/report_json.h"
#include "pipeline/search/search_json.h"
#include "pipeline/usage.h"
#include "tools/deploy_arguments.h"
#include "tools/print.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_deploy net.onnx --mode f32 -o net_f32.rshift\n"
    "  model_deploy net.onnx --calibration net.table.yaml -o net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml --mode asymmetric --config layers.yaml -o "
    "net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --test-input photos/ --tolerance "
    "0.99,0.90 --report r.html\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --bias-correction fast\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --auto --auto-config types.yaml\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --sensitivity f32.yaml   (then "
    "--config f32.yaml)\n"
    "  model_deploy net.onnx --scales trt.cache -o net.rshift      (TensorRT's; also AIMET's, "
    "ncnn's, ...)\n"
    "  model_deploy net.onnx --calibration t.yaml -o net.rshift --emit-qdq net_qdq.onnx\n"
    "  model_deploy net_qdq.onnx -o net.rshift      (the model's own scales, no calibration)\n"
    "  model_deploy net_qdq.onnx --profile tflite --variant d1 -o net.rshift\n"
    "  model_deploy net.onnx --calibration t.yaml --input-type u8 -o net.rshift      (pixels in)\n"
    "  model_deploy det.onnx --append boxes.onnx --calibration t.yaml -o det.rshift\n"
    "  model_deploy net.onnx --mode f32 -o n.rshift --dump-graph passes=graph.txt\n";

const char* Name(DeployStage stage) {
  switch (stage) {
    case DeployStage::kImported:
      return "imported";
    case DeployStage::kPasses:
      return "passes";
    case DeployStage::kQuantized:
      return "quantized";
    case DeployStage::kTarget:
      return "target";
  }
  return "?";
}

void CheckDumps(const DeployArguments& a) {
  for (const std::string& request : a.dump_graph) {
    const std::string stage = request.substr(0, request.find('='));
    const bool integer = stage == "quantized" || stage == "target";
    RequireUsage(stage == "imported" || stage == "passes" || integer, "--dump-graph ", request,
                 ": stage must be imported, passes, quantized or target");
    RequireUsage(!a.json || request != stage, "--dump-graph ", request,
                 ": --json has the standard output; give a file, ", stage, "=FILE");
    RequireUsage(request.back() != '=', "--dump-graph ", request, ": the file name is missing");
    RequireUsage(!integer || a.mode != "f32", "--dump-graph ", stage, ": an f32 program has no ",
                 stage, " stage");
  }
}

void DumpStage(const DeployArguments& a, const std::string& stage, const Graph& graph) {
  for (const std::string& request : a.dump_graph) {
    if (request == stage)
      std::fputs(DumpGraph(graph).c_str(), stdout);
    else if (request.starts_with(stage + "="))
      WriteFileAtomic(request.substr(stage.size() + 1), DumpGraph(graph));
  }
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

DeployEvents Events(const DeployArguments& a, const RunPaths& paths) {
  DeployEvents events;
  events.graph = [&a](DeployStage stage, const Graph& graph) { DumpStage(a, Name(stage), graph); };
  events.table = [&paths](const CalibrationTable& table) { CheckRecordedPaths(table, paths); };
  events.warning = [](const std::string& warning) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  };
  events.note = PrintNote;
  // The sensitivity's progress is left out beside --json.
  events.progress = [show = ShowProgress(), json = a.json](const std::string& title, int64_t done,
                                                           int64_t total) {
    if (!json || title == "comparing") show(title, done, total);
  };
  return events;
}

void WriteSensitivity(const DeployArguments& a, const DeployReport& report) {
  if (!report.sensitivity) return;
  const std::string config = a.config.empty() ? "" : ReadTextFile(a.config);
  WriteFileAtomic(a.sensitivity, SensitivityConfig(*report.sensitivity, config));
  if (!a.json) PrintText(SensitivityText(*report.sensitivity, a.sensitivity));
}

void WriteSearch(const DeployArguments& a, const DeployReport& report) {
  if (!report.search) return;
  const std::string config = a.config.empty() ? "" : ReadTextFile(a.config);
  if (!a.auto_config.empty())
    WriteFileAtomic(a.auto_config, SearchConfigText(*report.search, config));
  if (!a.auto_qtable.empty())
    WriteFileAtomic(a.auto_qtable, SearchQtable(*report.search, ReadModelNamesOf(a.model.path)));
  if (a.auto_report.ends_with(".html"))
    WriteFileAtomic(a.auto_report, SearchPage(*report.search, report.model));
  else if (!a.auto_report.empty())
    WriteFileAtomic(a.auto_report, JsonText(SearchJson(*report.search), 2) + "\n");
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

int Run(const DeployArguments& a) {
  DeployOptions options = a.Options();
  CheckDumps(a);
  CheckOptions(options);
  const RunPaths paths = a.Paths();
  CheckPaths(paths);
  if (!a.tolerance.empty()) options.tolerance = ParseTolerance(a.tolerance);
  options.import = a.model.Import(paths);
  const DeployResult result = Deploy(options, Events(a, paths));
  const DeployReport& report = result.report;
  if (a.json)
    PrintJson(JsonReport(report));
  else
    PrintText(TextReport(report));
  if (report.checked) std::fputs(WarningLine(report.verdict).c_str(), stderr);
  WriteSensitivity(a, report);
  WriteSearch(a, report);
  if (!a.report.empty()) WriteFileAtomic(a.report, HtmlReport(report));
  if (!a.report_json.empty())
    WriteFileAtomic(a.report_json, JsonText(JsonReport(report), 2) + "\n");
  const int verdict = a.tolerance.empty() ? 0 : JudgeLayers(report);
  // A program below its bound is not delivered, nor what is made of it.
  if (verdict != 0) return verdict;
  if (!a.emit_qdq.empty()) WriteFileAtomic(a.emit_qdq, result.qdq);
  if (!a.emit_fakequantize.empty()) WriteFileAtomic(a.emit_fakequantize, result.fakequantize);
  WriteFileAtomic(a.output, result.program);
  return 0;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Compiles a trained model into one integer program file.", "model_deploy");
  rshift::DeployArguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  arguments.AddTo(app);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(arguments); });
}
