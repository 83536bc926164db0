// model_calibrate: measures the activations of a float model on a data set and writes the
// calibration table.
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/presets.h"
#include "calibrate/statistics_stream.h"
#include "pipeline/calibrate.h"
#include "pipeline/usage.h"
#include "runtime/onednn/float_library.h"
#include "tools/calibrate_arguments.h"
#include "tools/calibrate_summary.h"
#include "tools/gather_statistics.h"
#include "tools/mpi_group.h"
#include "tools/preprocess_check.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml -o net.table.yaml\n"
    "  model_calibrate net.onnx --dataset train-images-idx3-ubyte.gz --samples 500 --preprocess "
    "p.yaml -o t.yaml\n"
    "  model_calibrate net.onnx --dataset x.npz --method percentile --percentile 99.99 -o t.yaml\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --method auto -o t.yaml\n"
    "  model_calibrate net.onnx --dataset 'train-{000..003}.tar' --preprocess net.yaml -o t.yaml\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --skip-bad -o t.yaml\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --report net.html -o "
    "t.yaml\n"
    "  model_calibrate net.onnx --dataset a/ --shard 0/2 --statistics a.stats -o a.yaml\n"
    "  model_calibrate net.onnx --dataset a/ --shard auto --statistics \"$I.stats\" -o "
    "\"$I.yaml\"\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --portable -o t.yaml\n"
    "  model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --check --labels l.txt\n"
    "  model_calibrate net.onnx --from-statistics a.stats b.stats --method all -o t.yaml\n";

volatile std::sig_atomic_t g_interrupted = 0;
constexpr uint64_t kMebi = 1 << 20;
constexpr uint64_t kWorthSaying = 256 * kMebi;  // less is no question on any machine

void OnInterrupt(int) { g_interrupted = 1; }

// What an interrupted run has left is not thrown away by accident.
void CheckUnfinished(const CalibrateArguments& a, const std::string& checkpoint) {
  std::error_code ignored;
  if (a.resume || checkpoint.empty()) return;
  if (!std::filesystem::exists(checkpoint, ignored)) return;
  RSHIFT_REQUIRE(a.restart, ErrorCode::kInvalidInput, checkpoint,
                 ": an interrupted run has left it; carry on with --resume, or begin anew with "
                 "--restart");
  std::filesystem::remove(checkpoint, ignored);
}

int Check(const CalibrateArguments& a) {
  RequireUsage(!a.dataset.empty() && a.preprocess.given(),
               "--check needs --dataset and --preprocess: a file, or one of ", PresetNames());
  RequireUsage(a.output.empty() && a.statistics.empty() && a.shard.empty(),
               "--check writes no table: leave --output, --statistics and --shard out");
  RequireUsage(!a.equalize, "--check measures nothing to equalize: leave --equalize out");
  const RunPaths paths = a.Paths();
  CheckPaths(paths);
  RegisterFloatLibrary();
  const Graph model = ImportOnnx(a.model.path, a.model.Import(paths));
  PrintNote(a.preprocess.Note(InputSpecs(model)));
  CheckPreprocess(model, *a.preprocess.Resolve(InputSpecs(model), std::nullopt),
                  {a.dataset, a.labels, a.picture, a.samples, a.seed, a.threads, a.json});
  return 0;
}

CalibrateEvents Events(const CalibrateArguments& a) {
  CalibrateEvents events;
  events.measuring = [] {
    std::signal(SIGINT, OnInterrupt);
    std::signal(SIGTERM, OnInterrupt);
  };
  events.interrupted = [] { return g_interrupted != 0; };
  if (!a.json) {
    events.progress = ShowProgress();
    events.memory = [](uint64_t bytes) {
      if (bytes < kWorthSaying) return;
      PrintNote(Cat("memory: about ", (bytes + kMebi / 2) / kMebi, " MiB at the peak"));
    };
  }
  events.note = PrintNote;
  return events;
}

std::vector<WrittenTable> WriteTables(const CalibrateArguments& a, const CalibrateResult& result) {
  std::vector<WrittenTable> written = {{a.output, &result.table}};
  if (a.every_method()) {
    written.clear();
    const std::vector<Method> methods = AllMethods();
    for (size_t i = 0; i < methods.size(); ++i)
      written.push_back({a.TablePath(Name(methods[i])), &result.tables[i]});
  }
  for (const auto& [path, table] : written)
    WriteFileAtomic(path, a.format == "tpu-mlir" ? WriteTpuMlirTable(*table) : WriteTable(*table));
  return written;
}

int WriteAll(const CalibrateArguments& a, const CalibrateResult& result) {
  if (!a.statistics.empty()) SaveStatistics(a.statistics, result.statistics);
  const std::vector<WrittenTable> tables = WriteTables(a, result);
  if (!a.report.empty()) WriteFileAtomic(a.report, result.report);
  PrintCalibration(tables, result, a.json);
  return 0;
}

// One rank of several: measures its share; rank 0 makes of all of them what one process would.
int RunInGroup(const CalibrateArguments& a, const CalibrateOptions& options) {
  const std::unique_ptr<MpiGroup> group = JoinMpiGroup();
  CalibrateOptions own = options;
  own.method = {Method::kMinMax};
  own.every_method = own.automatic = own.report = false;
  own.shard = Cat(group->rank(), "/", group->size());
  own.checkpoint = Cat(a.output, ".", group->rank(), "of", group->size(), ".partial.stats");
  CalibrateEvents events = Events(a);
  if (group->rank() != 0) events.progress = {}, events.note = {}, events.memory = {};
  if (events.note) events.note(Cat("MPI: ", group->size(), " ranks share the samples"));
  CalibrateResult measured;
  const auto measure = [&] {
    CheckUnfinished(a, own.checkpoint);
    measured = Calibrate(own, events);
    return std::move(measured.statistics);
  };
  if (group->rank() != 0) GatherStatistics(*group, measure);
  const int code = FinishInGroup(*group, [&] {
    CalibrateOptions last{.model = options.model, .import = options.import};
    last.statistics.push_back({"", GatherStatistics(*group, measure)});
    last.method = options.method;
    last.every_method = options.every_method;
    last.automatic = options.automatic;
    last.threads = options.automatic ? options.threads : 0;
    last.report = options.report;
    CalibrateResult result = Calibrate(last, events);
    result.equalized = std::move(measured.equalized);
    result.bad = std::move(measured.bad);
    return WriteAll(a, result);
  });
  std::error_code ignored;
  if (code == 0) std::filesystem::remove(own.checkpoint, ignored);
  return code;
}

int Run(const CalibrateArguments& a) {
  if (a.check) return Check(a);
  RequireUsage(!a.output.empty(), "--output is required");
  CalibrateOptions options = a.Options();
  CheckOptions(options);
  const RunPaths paths = a.Paths();
  CheckPaths(paths);
  RequireUsage(a.labels.empty() && a.picture.empty(), "--labels and --picture need --check");
  if (options.shard != a.shard) PrintNote(Cat("--shard ", a.shard, ": ", options.shard));
  const auto variable = [](const char* name) { return std::getenv(name); };
  const bool alone = !options.shard.empty() || !a.from_statistics.empty() || MpiRanks(variable) < 2;
  if (alone) CheckUnfinished(a, options.checkpoint);
  options.import = a.model.Import(paths);
  if (!alone) return RunInGroup(a, options);
  const int code = WriteAll(a, Calibrate(options, Events(a)));
  std::error_code ignored;
  if (a.from_statistics.empty()) std::filesystem::remove(options.checkpoint, ignored);
  return code;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Measures a trained model on a data set and writes the calibration table.",
               "model_calibrate");
  rshift::CalibrateArguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  arguments.AddTo(app);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(arguments); });
}
