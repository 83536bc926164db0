// model_calibrate: measures the activations of a float model on a data set and writes the
// calibration table.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/range_evidence.h"
#include "graph/passes/passes.h"
#include "pipeline/usage.h"
#include "quantize/quantize.h"
#include "quantize/ranges/known_bounds.h"
#include "runtime/onednn/float_library.h"
#include "tools/calibrate_summary.h"
#include "tools/preprocess_check.h"
#include "tools/preprocess_options.h"
#include "tools/shard.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml -o net.table.yaml\n"
    "  model_calibrate net.onnx --dataset train-images-idx3-ubyte.gz --samples 500 --preprocess "
    "p.yaml -o t.yaml\n"
    "  model_calibrate net.onnx --dataset x.npz --method percentile --percentile 99.99 -o t.yaml\n"
    "  model_calibrate net.onnx --dataset a/ --shard 0/2 --statistics a.stats -o a.yaml\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --check --labels l.txt\n"
    "  model_calibrate net.onnx --from-statistics a.stats b.stats --method kl -o t.yaml\n";

volatile std::sig_atomic_t g_interrupted = 0;
void OnInterrupt(int) { g_interrupted = 1; }

struct Arguments {
  ModelArguments model;
  std::vector<std::string> dataset, from_statistics;
  PreprocessArguments preprocess;
  std::string output, method = "kl", statistics, shard, labels, picture, format = "rshift";
  int64_t samples = 100;
  uint64_t seed = 0;
  std::optional<double> percentile;
  int threads = 0;
  bool resume = false, restart = false, partial = false, check = false, json = false;
};

void AddOptions(CLI::App& app, Arguments& a) {
  a.model.AddTo(app);
  auto* dataset = app.add_option(
      "--dataset", a.dataset,
      "image, folder, .txt list, .npy, .npz or idx file; NAME=PATH for several inputs");
  auto* from = app.add_option("--from-statistics", a.from_statistics,
                              "derive the table from statistics files: no data set, no model run");
  dataset->excludes(from);
  app.add_option("-o,--output", a.output, "the calibration table to write");
  for (CLI::Option* option : a.preprocess.AddTo(app, "how images become the input; recorded"))
    option->excludes(from);
  app.add_option("--samples", a.samples, "how many samples; 0 = all (default 100)")
      ->check(TakenBy([](const std::string& text) {
        RequireUsage(!text.starts_with("-"), "expected 0 or more, found ", text);
      }))
      ->excludes(from);
  app.add_option("--seed", a.seed, "which samples are chosen (default 0)")->excludes(from);
  app.add_option("--method", a.method, "minmax | percentile | kl (default kl)")
      ->check(TakenBy(ParseMethod));
  app.add_option("--percentile", a.percentile, "for --method percentile (default 99.99)");
  app.add_option("--threads", a.threads, "samples in parallel (default: all cores)")
      ->check(CLI::Range(1, kMaxThreads))
      ->excludes(from);
  app.add_option("--statistics", a.statistics,
                 "also write the statistics: mergeable, any method later");
  app.add_option("--shard", a.shard, "I/N: of the chosen samples, every N-th from I (0-based)")
      ->excludes(from);
  app.add_option("--format", a.format, "rshift | tpu-mlir (default rshift)")
      ->check(CLI::IsMember({"rshift", "tpu-mlir"}));
  auto* resume = app.add_flag("--resume", a.resume, "carry on an interrupted run")->excludes(from);
  app.add_flag("--restart", a.restart, "begin anew, dropping what an interrupted run has left")
      ->excludes(from)
      ->excludes(resume);
  app.add_flag("--partial", a.partial, "with --from-statistics: shards may be missing")
      ->needs(from);
  app.add_flag("--check", a.check,
               "look at the preprocessing instead: tries the usual mistakes, writes no table")
      ->excludes(from);
  app.add_option("--labels", a.labels, "with --check: labels as model_runner takes them");
  app.add_option("--picture", a.picture, "with --check: the first input as .png");
  app.add_flag("--json", a.json, "machine-readable summary on stdout");
}

std::string Checkpoint(const Arguments& a) { return a.output + ".partial.stats"; }

// What an interrupted run has left is not thrown away by accident.
void CheckUnfinished(const Arguments& a) {
  std::error_code ignored;
  if (a.resume || !a.from_statistics.empty()) return;
  if (!std::filesystem::exists(Checkpoint(a), ignored)) return;
  RSHIFT_REQUIRE(a.restart, ErrorCode::kInvalidInput, Checkpoint(a),
                 ": an interrupted run has left it; carry on with --resume, or begin anew with "
                 "--restart");
  std::filesystem::remove(Checkpoint(a), ignored);
}

StatisticsFile Measure(const Arguments& a, const Graph& graph) {
  const std::vector<InputSpec> specs = InputSpecs(graph);
  const std::optional<Preprocess> preprocess = a.preprocess.Resolve(specs, std::nullopt);
  RequireUsage(!a.dataset.empty(), "give --dataset PATH (or --from-statistics FILE.stats)");
  const auto dataset = OpenDataset(a.dataset, specs, preprocess);
  const Share share =
      TakeShare(*dataset, ChooseSamples(dataset->size(), a.samples, a.seed), a.shard);
  std::signal(SIGINT, OnInterrupt);
  std::signal(SIGTERM, OnInterrupt);
  CollectOptions options{.threads = a.threads,
                         .quiet = a.json,
                         .checkpoint = Checkpoint(a),
                         .resume = a.resume,
                         .interrupted = [] { return g_interrupted != 0; }};
  StatisticsFile statistics = CollectStatistics(graph, *dataset, share.samples,
                                                preprocess ? preprocess->text : "", options);
  statistics.shards = share.ids;
  return statistics;
}

StatisticsFile Load(const Arguments& a, const Graph& graph) {
  StatisticsFile merged;
  for (size_t i = 0; i < a.from_statistics.size(); ++i) {
    const std::string& path = a.from_statistics[i];
    StatisticsFile next = ReadStatistics(ReadFile(path), path);
    RSHIFT_REQUIRE(next.model_sha256 == graph.sha256, ErrorCode::kInvalidInput, path,
                   ": made from another model (sha256 ", next.model_sha256.substr(0, 12),
                   "..., this model is ", graph.sha256.substr(0, 12),
                   "...); measure again with this model");
    RSHIFT_REQUIRE(next.pass_list_version == kPassListVersion, ErrorCode::kInvalidInput, path,
                   ": made with pass list version ", next.pass_list_version, ", this program has ",
                   kPassListVersion, "; measure again");
    if (i == 0)
      merged = std::move(next);
    else
      Merge(merged, next);
  }
  const std::string missing = MissingShards(merged);
  RSHIFT_REQUIRE(missing.empty() || a.partial, ErrorCode::kInvalidInput, a.from_statistics[0],
                 a.from_statistics.size() > 1 ? " and the others" : "", ": shard ", missing,
                 " of the same samples is missing; add its statistics, or give --partial for a "
                 "table without it");
  return merged;
}

MethodOptions ChooseMethod(const Arguments& a) {
  MethodOptions options;
  options.method = ParseMethod(a.method);
  if (!a.percentile) return options;
  RequireUsage(options.method == Method::kPercentile, "--percentile needs --method percentile");
  RequireUsage(*a.percentile > 50 && *a.percentile <= 100, "--percentile ", *a.percentile,
               ": expected more than 50 and at most 100");
  options.percentile = *a.percentile;
  return options;
}

RunPaths Paths(const Arguments& a) {
  RunPaths paths;
  a.model.AddTo(paths);
  paths.AddData("--dataset", a.dataset);
  paths.AddInputs("--from-statistics", a.from_statistics);
  paths.AddInputs("--preprocess", {a.preprocess.file()});
  paths.AddInputs("--labels", {a.labels});
  paths.outputs = {
      {"--output", a.output}, {"--statistics", a.statistics}, {"--picture", a.picture}};
  if (a.from_statistics.empty() && !a.output.empty())
    paths.outputs.push_back({"the checkpoint of --output", Checkpoint(a)});
  return paths;
}

int Check(const Arguments& a) {
  RequireUsage(!a.dataset.empty() && a.preprocess.given(),
               "--check needs --dataset and --preprocess");
  RequireUsage(a.output.empty() && a.statistics.empty() && a.shard.empty(),
               "--check writes no table: leave --output, --statistics and --shard out");
  const RunPaths paths = Paths(a);
  CheckPaths(paths);
  RegisterFloatLibrary();
  const Graph model = ImportOnnx(a.model.path, a.model.Import(paths));
  CheckPreprocess(model, *a.preprocess.Resolve(InputSpecs(model), std::nullopt),
                  {a.dataset, a.labels, a.picture, a.samples, a.seed, a.threads, a.json});
  return 0;
}

int Run(const Arguments& a) {
  if (a.check) return Check(a);
  RequireUsage(!a.output.empty(), "--output is required");
  const MethodOptions method = ChooseMethod(a);
  const RunPaths paths = Paths(a);
  CheckPaths(paths);
  RequireUsage(a.labels.empty() && a.picture.empty(), "--labels and --picture need --check");
  CheckUnfinished(a);
  RegisterFloatLibrary();
  const Graph graph = RunPasses(ImportOnnx(a.model.path, a.model.Import(paths)));
  RSHIFT_REQUIRE(!HoldsQuantization(graph), ErrorCode::kInvalidInput, a.model.path,
                 ": the model holds its own quantization parameters; deploy it directly");
  const StatisticsFile statistics = a.from_statistics.empty() ? Measure(a, graph) : Load(a, graph);
  CalibrationTable table = DeriveTable(statistics, method);
  ApplyKnownBounds(graph, table);
  if (!a.statistics.empty()) WriteFileAtomic(a.statistics, WriteStatistics(statistics));
  WriteFileAtomic(a.output, a.format == "tpu-mlir" ? WriteTpuMlirTable(table) : WriteTable(table));
  std::error_code ignored;
  if (a.from_statistics.empty()) std::filesystem::remove(Checkpoint(a), ignored);
  PrintCalibration(a.output, table, FindThinRanges(statistics, table), a.json);
  return 0;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Measures a trained ONNX model on a data set and writes the calibration table.",
               "model_calibrate");
  rshift::Arguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  rshift::AddOptions(app, arguments);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(arguments); });
}
