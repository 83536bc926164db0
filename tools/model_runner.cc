// model_runner: executes a .rshift program on inputs or a data set; accuracy, timing, tensor dumps.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/progress.h"
#include "codegen/isa/isa.h"
#include "runtime/float/float_library.h"
#include "runtime/runtime.h"
#include "tools/accuracy.h"
#include "tools/benchmark.h"
#include "tools/runner_data.h"
#include "tools/tensor_view.h"
#include "tools/tool_main.h"
#include "tools/usage.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_runner net.rshift --input photo.jpg --output out.npz\n"
    "  model_runner net.rshift --input a=a.npy --input b=b.npy --output out.npz --raw\n"
    "  model_runner net.rshift --dataset photos/ --labels labels.txt --top 1,5 --json\n"
    "  model_runner net.rshift --input photo.jpg --dump-tensors all.npz\n"
    "  model_runner net.rshift --benchmark --per-command --threads 1 --isa avx2\n";

constexpr int kMaxRuns = 1000000000;
constexpr int64_t kMaxLabelOffset = 1000000000;

struct Arguments {
  std::string program, output, dump, isa, labels, top = "1,5", preprocess;
  std::vector<std::string> input, dataset;
  int threads = 0, iterations = 50, warmup = 5;
  int64_t label_offset = 0;
  bool raw = false, benchmark = false, per_command = false, json = false, copy = false;
};

void AddOptions(CLI::App& app, Arguments& a) {
  app.add_option("program", a.program, "a .rshift file")->required();
  auto* input = app.add_option("--input", a.input, "X or NAME=X: image, .npy, .npz (repeatable)");
  auto* dataset =
      app.add_option("--dataset", a.dataset, "folder, list, .npy, .npz, idx: run on every sample")
          ->excludes(input);
  app.add_option("--output", a.output, "write the outputs to this .npz, stacked over samples");
  app.add_option("--dump-tensors", a.dump, "write every tensor under its ONNX name to this .npz");
  app.add_flag("--raw", a.raw, "integers as they are, not dequantized");
  app.add_option("--isa", a.isa,
                 "scalar | avx2 | avxvnni | avx512vnni (default: the best this CPU has)")
      ->check(TakenBy(ParseIsa));
  app.add_option("--threads", a.threads, "default: all cores")->check(CLI::Range(1, kMaxThreads));
  auto* benchmark = app.add_flag("--benchmark", a.benchmark, "time the program: min, median, p99");
  app.add_option("--iterations", a.iterations, "for --benchmark (default 50)")
      ->check(CLI::Range(1, kMaxRuns))
      ->needs(benchmark);
  app.add_option("--warmup", a.warmup, "for --benchmark (default 5)")
      ->check(CLI::Range(0, kMaxRuns))
      ->needs(benchmark);
  app.add_flag(
         "--per-command", a.per_command,
         "for --benchmark: times, share of the machine's peak, bytes and prediction per command")
      ->needs(benchmark);
  auto* labels =
      app.add_option("--labels", a.labels, "`name class` lines, .npy or idx-ubyte: accuracy")
          ->needs(dataset);
  app.add_option("--label-offset", a.label_offset, "added to every label")
      ->check(CLI::Range(-kMaxLabelOffset, kMaxLabelOffset))
      ->needs(labels);
  app.add_option("--top", a.top, "which top-k to count (default 1,5)")->needs(labels);
  app.add_option("--preprocess", a.preprocess,
                 "overrides the preprocessing recorded in the program");
  app.add_flag("--copy", a.copy, "read the program into memory instead of mapping it");
  app.add_flag("--json", a.json, "machine-readable results on stdout");
}

double Milliseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// What a program without inputs runs on: one empty sample.
class NoInputDataset : public Dataset {
 public:
  int64_t size() const override { return 1; }
  std::string name(int64_t) const override { return "no input"; }
  Sample Read(int64_t) const override { return {"no input", "", {}}; }
};

// Runs once, adding every tensor to `dump` as soon as it is complete.
void RunDumping(const Program& program, Session& session, bool raw, ArrayCollector& dump) {
  const ProgramImage& image = program.image();
  for (const Binding& input : image.inputs) {
    NumpyArray array = ToArray(image.tensors[input.tensor], session.Tensor(input.tensor), raw);
    array.name = input.name;
    dump.Add(array);
  }
  const std::vector<std::vector<int32_t>> complete = CompletedTensors(image);
  session.RunObserved([&](int command) {
    for (const int32_t tensor : complete[command]) {
      dump.Add(ToArray(image.tensors[tensor], session.Tensor(tensor), raw));
    }
  });
}

struct RunResult {
  std::vector<double> milliseconds;
  int64_t images = 0;
};

RunResult RunSamples(const Arguments& a, const Program& program, Session& session,
                     const Dataset& dataset, Accuracy* accuracy,
                     const std::vector<int64_t>& labels) {
  RunResult result;
  ArrayCollector outputs, dump;
  const ProgramImage& image = program.image();
  Progress progress("running", dataset.size(), a.json || dataset.size() < 20);
  for (int64_t s = 0; s < dataset.size(); ++s) {
    const Sample sample = dataset.Read(s);
    FillInputs(program, session, sample);
    const auto start = std::chrono::steady_clock::now();
    if (a.dump.empty())
      session.Run();
    else
      RunDumping(program, session, a.raw, dump);
    result.milliseconds.push_back(Milliseconds(std::chrono::steady_clock::now() - start));
    if (accuracy != nullptr) {
      const TensorRecord& record = image.tensors[image.outputs[0].tensor];
      accuracy->Add(OnnxFloats(record, session.Output(0)), labels[s] + a.label_offset, sample.name);
    }
    for (size_t i = 0; !a.output.empty() && i < image.outputs.size(); ++i) {
      NumpyArray array = ToArray(image.tensors[image.outputs[i].tensor],
                                 session.Output(static_cast<int>(i)), a.raw);
      array.name = image.outputs[i].name;
      outputs.Add(array);
    }
    ++result.images;
    progress.Advance();
  }
  if (!a.output.empty()) WriteNpz(a.output, outputs.Take());
  if (!a.dump.empty()) WriteNpz(a.dump, dump.Take());
  return result;
}

// Prints a line for people unless --json is given; the same as JSON.
nlohmann::json Summarize(const Arguments& a, RunResult result, const Accuracy* accuracy) {
  std::sort(result.milliseconds.begin(), result.milliseconds.end());
  const double median = result.milliseconds[result.milliseconds.size() / 2];
  nlohmann::json json = {{"images", result.images}, {"median_ms", median}};
  for (size_t i = 0; accuracy != nullptr && i < accuracy->top().size(); ++i) {
    json["top" + std::to_string(accuracy->top()[i])] = accuracy->Percent(i);
  }
  if (a.json) return json;
  std::printf("%lld samples, median %.3f ms", static_cast<long long>(result.images), median);
  for (size_t i = 0; accuracy != nullptr && i < accuracy->top().size(); ++i) {
    std::printf(", top-%d %.2f %%", accuracy->top()[i], accuracy->Percent(i));
  }
  std::printf("\n");
  return json;
}

nlohmann::json RunData(const Arguments& a, const Program& program, Session& session) {
  const auto dataset =
      program.image().inputs.empty()
          ? std::unique_ptr<Dataset>(std::make_unique<NoInputDataset>())
          : OpenProgramDataset(program, a.input.empty() ? a.dataset : a.input, a.preprocess);
  if (a.labels.empty()) {
    return Summarize(a, RunSamples(a, program, session, *dataset, nullptr, {}), nullptr);
  }
  Accuracy accuracy(ParseTop(a.top));
  const std::vector<int64_t> labels = ReadLabels(a.labels, *dataset);
  const RunResult result = RunSamples(a, program, session, *dataset, &accuracy, labels);
  return Summarize(a, result, &accuracy);
}

int Run(const Arguments& a) {
  SessionOptions options;
  options.threads = a.threads;
  if (!a.isa.empty()) options.isa = ParseIsa(a.isa);
  RegisterFloatLibrary();
  const auto before_load = std::chrono::steady_clock::now();
  const Program program = Program::Load(a.program, {.copy = a.copy});
  const double load_ms = Milliseconds(std::chrono::steady_clock::now() - before_load);
  const bool has_data = !a.input.empty() || !a.dataset.empty();
  const bool is_constant = program.image().inputs.empty();  // runs without data
  RequireUsage(has_data || is_constant || a.benchmark,
               "nothing to do: give --input X, --dataset PATH or --benchmark");
  RequireUsage((a.output.empty() && a.dump.empty()) || has_data || is_constant,
               "--output and --dump-tensors need --input or --dataset");
  RequireUsage(!a.raw || !a.output.empty() || !a.dump.empty(),
               "--raw needs --output or --dump-tensors");
  for (const std::string& path : {a.output, a.dump}) {
    if (!path.empty()) CheckWritable(path);  // now, not after the run
  }
  const auto before_session = std::chrono::steady_clock::now();
  Session session(program, options);
  const double session_ms = Milliseconds(std::chrono::steady_clock::now() - before_session);
  nlohmann::json json;  // one object: where both give a figure, the benchmark's counts
  if (has_data || is_constant) json = RunData(a, program, session);
  if (a.benchmark) {
    json.update(RunBenchmark(program, session,
                             {.iterations = a.iterations,
                              .warmup = a.warmup,
                              .per_command = a.per_command,
                              .json = a.json,
                              .isa = options.isa,
                              .load_ms = load_ms,
                              .session_ms = session_ms}));
  }
  if (a.json) std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  CLI::App app("Executes a .rshift program.", "model_runner");
  rshift::Arguments arguments;
  rshift::SetUpApp(app, rshift::kExamples);
  rshift::AddOptions(app, arguments);
  return rshift::ToolMain(app, argc, argv, [&] { return rshift::Run(arguments); });
}
