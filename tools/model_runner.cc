// model_runner: executes a .rshift program on inputs or a data set; accuracy, timing, tensor dumps.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "graph/sha256.h"
#include "pipeline/shard.h"
#include "pipeline/usage.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tools/accuracy.h"
#include "tools/benchmark.h"
#include "tools/classes.h"
#include "tools/draw_outputs.h"
#include "tools/preprocess_options.h"
#include "tools/print.h"
#include "tools/run_samples.h"
#include "tools/runner_data.h"
#include "tools/shard_environment.h"
#include "tools/streams.h"
#include "tools/tool_main.h"
#include "tools/trace.h"

namespace rshift {
namespace {

constexpr const char* kExamples =
    "  model_runner net.rshift --input photo.jpg --names classes.txt\n"
    "  model_runner net.rshift --input photo.jpg --output out.npz\n"
    "  model_runner boxes.rshift --input photo.jpg --draw found.png --names classes.txt\n"
    "  model_runner net.rshift --input a=a.npy --input b=b.npy --output out.npz --raw\n"
    "  model_runner stream.rshift --dataset frames.npy --carry auto --output out.npz\n"
    "  model_runner net.rshift --dataset photos/ --labels labels.txt --top 1,5 --json\n"
    "  model_runner net.rshift --dataset val/ --labels auto           (val/CLASS/*.jpg)\n"
    "  model_runner net.rshift --dataset 'val-{000..003}.tar' --labels auto\n"
    "  model_runner net.rshift --dataset val/ --labels l.txt --shard 0/2 --json > 0.json\n"
    "  model_runner net.rshift --input photo.jpg --dump-tensors all.npz\n"
    "  model_runner net.rshift --benchmark --streams 4 --threads 1\n"
    "  model_runner net.rshift --benchmark --per-command --threads 1 --isa avx2\n"
    "  model_runner net.rshift --benchmark --trace net.trace.json    (open in ui.perfetto.dev)\n";

constexpr int kMaxRuns = 1000000000;
constexpr int64_t kMaxLabelOffset = 1000000000;

struct Arguments {
  std::string program, output, dump, isa, labels, top = "1,5", names, limits, trace, draw, shard;
  PreprocessArguments preprocess;
  std::vector<std::string> input, dataset, carry;
  int threads = 0, streams = 1, iterations = 50, warmup = 5;
  int64_t label_offset = 0;
  bool raw = false, benchmark = false, per_command = false, json = false, copy = false,
       portable = false;
};

void AddOptions(CLI::App& app, Arguments& a) {
  app.add_option("program", a.program, "a .rshift file")->required();
  auto* input = app.add_option("--input", a.input, "X or NAME=X: image, .npy, .npz (repeatable)");
  auto* dataset =
      app.add_option("--dataset", a.dataset,
                     "folder, 'pattern*.jpg', .txt list, .npy, .npz, .tar, idx: run on every "
                     "sample")
          ->excludes(input);
  app.add_option("--carry", a.carry,
                 "INPUT=OUTPUT: an input of each sample is an output of the one before, zeros for "
                 "the first (repeatable); auto: every input X that has an output X/next, as the "
                 "variables of .tflite files");
  app.add_option("--output", a.output, "write the outputs to this .npz, stacked over samples");
  app.add_option("--dump-tensors", a.dump, "write every tensor under its ONNX name to this .npz");
  app.add_flag("--raw", a.raw, "integers as they are, not dequantized");
  app.add_option("--isa", a.isa,
                 "scalar | avx2 | avxvnni | avx512vnni | neondot (default: the best this CPU has)")
      ->check(TakenBy(ParseIsa));
  app.add_flag("--portable", a.portable,
               "F32 convolutions and matrix products with the same bytes on every CPU, for two "
               "or three times the time; integers have them anyway");
  app.add_option("--threads", a.threads,
                 "at most, of each stream; fewer where they do not help, as on a busy machine "
                 "(default: OMP_NUM_THREADS or all cores, shared by the streams)")
      ->check(CLI::Range(1, kMaxThreads));
  app.add_option("--streams", a.streams,
                 "inferences in flight, for throughput: --dataset and --benchmark (default 1)")
      ->check(CLI::Range(1, kMaxThreads));
  auto* benchmark =
      app.add_flag("--benchmark", a.benchmark, "time the program: min, median, p99, inferences/s");
  app.add_option("--iterations", a.iterations, "of each stream, for --benchmark (default 50)")
      ->check(CLI::Range(1, kMaxRuns))
      ->needs(benchmark);
  app.add_option("--warmup", a.warmup, "for --benchmark (default 5)")
      ->check(CLI::Range(0, kMaxRuns))
      ->needs(benchmark);
  app.add_flag(
         "--per-command", a.per_command,
         "for --benchmark: times, share of the machine's peak, bytes and prediction per command")
      ->needs(benchmark);
  app.add_option("--trace", a.trace,
                 "for --benchmark: the times of all commands as a timeline, a JSON file for "
                 "chrome://tracing or ui.perfetto.dev")
      ->needs(benchmark);
  auto* labels =
      app.add_option("--labels", a.labels,
                     "`name class` lines, .npy or idx-ubyte: accuracy; auto: the data set's own, "
                     "class folders or .cls in tar shards")
          ->needs(dataset);
  app.add_option("--label-offset", a.label_offset, "added to every label")
      ->check(CLI::Range(-kMaxLabelOffset, kMaxLabelOffset))
      ->needs(labels);
  app.add_option("--top", a.top, "which top-k to count (default 1,5)")->needs(labels);
  app.add_option("--shard", a.shard,
                 "I/N: every N-th sample from I (0-based); auto, auto/N: as of model_calibrate. "
                 "model_tool accuracy adds up what --json says of labels")
      ->needs(dataset);
  app.add_option(
      "--names", a.names,
      "the classes' names, one per line from class 0, for the five best of --input; with "
      "--labels auto the order of class folders of these names");
  app.add_option("--draw", a.draw,
                 "the pictures with the boxes found (of --append with a graph of "
                 "configs/postprocess) or the class map on them: a .png for one picture, a folder "
                 "for several (cat/1.jpg becomes cat_1.png)");
  a.preprocess.AddTo(app, "instead of what is recorded in the program");
  app.add_flag(
      "--copy", a.copy,
      "read the program into memory, in large pages, instead of mapping it: slower to load, "
      "large networks run 1 to 2 % faster");
  app.add_option("--limits", a.limits,
                 "what a run may take, if not the defaults: "
                 "seconds=N,macs=N,elements=N,buffers=N,arena=N, or none (model_tool verify says "
                 "what it takes)")
      ->check(TakenBy([](const std::string& text) { ParseLimits(text); }));
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
  Sample Read(int64_t) const override { return {"no input", {}}; }
};

// Prints a line for people unless --json is given; the same as JSON.
nlohmann::json Summarize(const Arguments& a, SampleRun run, int64_t batch,
                         const Accuracy* accuracy) {
  std::sort(run.milliseconds.begin(), run.milliseconds.end());
  const size_t inferences = run.milliseconds.size();
  const size_t images = inferences * static_cast<size_t>(batch);
  const double median = run.milliseconds[inferences / 2];
  const double per_second = run.seconds == 0 ? 0 : static_cast<double>(images) / run.seconds;
  nlohmann::json json = {{"images", images},     {"inferences", inferences},
                         {"batch", batch},       {"median_ms", median},
                         {"streams", a.streams}, {"images_per_s", per_second}};
  for (size_t i = 0; accuracy != nullptr && i < accuracy->top().size(); ++i) {
    json["top" + std::to_string(accuracy->top()[i])] = accuracy->Percent(i);
    json["hits"][std::to_string(accuracy->top()[i])] = accuracy->hits(i);
  }
  if (a.json) return json;
  std::printf("%s", Count(images, "sample").c_str());
  if (batch > 1) {
    std::printf(" in %s of %lld", Count(inferences, "inference").c_str(),
                static_cast<long long>(batch));
  }
  std::printf(", median %.3f ms, %.1f samples/s with reading", median, per_second);
  for (size_t i = 0; accuracy != nullptr && i < accuracy->top().size(); ++i) {
    std::printf(", top-%d %.2f %%", accuracy->top()[i], accuracy->Percent(i));
  }
  std::printf("\n");
  return json;
}

// What a share of the samples is a share of: the same program, samples, labels and offset.
std::string SetOf(const Arguments& a, const std::string& samples,
                  const std::vector<int64_t>& labels) {
  const std::vector<uint8_t> program = ReadFile(a.program);
  std::string text = Cat(Sha256Hex(program), " ", samples, " ", a.label_offset);
  for (const int64_t label : labels) text += Cat(" ", label);
  return Sha256Hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// The share that --shard asks for, and how the JSON calls it: null for all samples.
std::pair<std::vector<int64_t>, nlohmann::json> ShareOf(const Arguments& a, const Dataset& dataset,
                                                        const std::vector<int64_t>& labels) {
  const std::string shard =
      ResolveShard(a.shard, [](const char* name) { return std::getenv(name); });
  if (shard != a.shard) PrintNote(Cat("--shard ", a.shard, ": ", shard));
  const Share share = TakeShare(dataset, ChooseSamples(dataset.size(), 0, 0), shard);
  if (share.ids.empty()) return {share.samples, nullptr};
  const ShardId& id = share.ids[0];
  return {share.samples,
          {{"index", id.index}, {"count", id.count}, {"set", SetOf(a, id.set, labels)}}};
}

nlohmann::json RunData(const Arguments& a, const Program& program, std::span<Session> sessions) {
  const bool is_constant = program.image().inputs.empty();
  const std::optional<Preprocess> preprocess =
      is_constant ? std::nullopt : ProgramPreprocess(program, a.preprocess);
  std::vector<CarriedInput> carried = ReadCarried(program.image(), a.carry);
  const auto open = [&](const std::optional<Preprocess>& with) {
    return OpenProgramDataset(program, a.input.empty() ? a.dataset : a.input, with, carried);
  };
  const auto dataset =
      is_constant ? std::unique_ptr<Dataset>(std::make_unique<NoInputDataset>()) : open(preprocess);
  if (a.preprocess.given() && preprocess && !PreparesSamples(open, *preprocess))
    PrintNote("the preprocessing that is given changes nothing: arrays are taken as they are");
  SampleRunOptions options{.raw = a.raw,
                           .keep_outputs = !a.output.empty(),
                           .keep_tensors = !a.dump.empty(),
                           .quiet = a.json,
                           .carried = carried.empty() ? nullptr : &carried};
  std::optional<Accuracy> accuracy;
  std::vector<int64_t> labels;
  std::optional<SomeSamples> part;
  if (!a.labels.empty()) {
    accuracy.emplace(ParseTop(a.top));
    const int64_t batch = BatchOf(program.image());
    RequireClassScores(program.image(), batch, Cat("--labels ", a.labels));
    labels = ReadLabels(a.labels, *dataset, {.batch = batch, .names = a.names, .note = PrintNote});
    options.on_scores = [&, batch](int64_t place, const std::string& name,
                                   std::span<const float> scores) {
      const int64_t run = part->at(place);
      const size_t classes = scores.size() / static_cast<size_t>(batch);
      for (int64_t i = 0; i < batch; ++i) {
        const int64_t label = labels[static_cast<size_t>(run * batch + i)] + a.label_offset;
        accuracy->Add(scores.subspan(static_cast<size_t>(i) * classes, classes), label, name);
      }
    };
  }
  auto [share, shard] = ShareOf(a, *dataset, labels);
  part.emplace(*dataset, std::move(share));
  std::optional<OutputDrawer> drawer;
  if (!a.draw.empty()) {
    drawer.emplace(program.image(), preprocess, *part, DrawOptions{a.draw, a.names});
    options.on_outputs = [&](int64_t sample, const std::vector<NumpyArray>& outputs) {
      drawer->Draw(sample, outputs);
    };
  }
  std::optional<BestClassesPrinter> best;
  if (!a.input.empty() && !drawer) best = BestClassesPrinter::For(program.image(), a.names, a.json);
  if (best) {
    options.on_scores = [&](int64_t /*sample*/, const std::string& name,
                            std::span<const float> scores) { best->Add(name, scores); };
  }
  SampleRun run = RunSamples(program, sessions, *part, options);
  if (!a.output.empty()) WriteNpz(a.output, run.outputs, run.names);
  if (!a.dump.empty()) WriteNpz(a.dump, run.tensors);
  // A run may overwrite its input: a benchmark that follows begins with one again.
  for (Session& session : sessions)
    if (a.benchmark)
      FillInputs(program, session, WithCarried(part->Read(part->size() - 1), carried));
  nlohmann::json json =
      Summarize(a, std::move(run), BatchOf(program.image()), accuracy ? &*accuracy : nullptr);
  if (best) json["classes"] = best->json();
  if (!shard.is_null()) json["shard"] = shard;
  return json;
}

RunPaths Paths(const Arguments& a) {
  RunPaths paths;
  paths.inputs = {{"the program", a.program}, {"--labels", a.labels}};
  paths.AddInputs("--preprocess", {a.preprocess.file()});
  paths.inputs.push_back({"--names", a.names});
  paths.AddData("--input", a.input);
  paths.AddData("--dataset", a.dataset);
  paths.outputs = {{"--output", a.output},
                   {"--dump-tensors", a.dump},
                   {"--trace", a.trace},
                   {"--draw", IsDrawFolder(a.draw) ? "" : a.draw}};
  return paths;
}

int Run(const Arguments& a) {
  CheckPaths(Paths(a));
  SessionOptions options;
  options.threads = a.threads;
  if (!a.isa.empty()) options.isa = ParseIsa(a.isa);
  options.portable = a.portable;
  options.one_by_one = !a.dump.empty();  // every tensor exists for a moment
  RegisterFloatLibrary();
  const auto before_load = std::chrono::steady_clock::now();
  const Program program =
      Program::Load(a.program, {.copy = a.copy, .limits = ParseLimits(a.limits)});
  const double load_ms = Milliseconds(std::chrono::steady_clock::now() - before_load);
  const bool has_data = !a.input.empty() || !a.dataset.empty();
  const bool is_constant = program.image().inputs.empty();  // runs without data
  RequireUsage(has_data || is_constant || a.benchmark,
               "nothing to do: give --input X, --dataset PATH or --benchmark");
  RequireUsage((a.output.empty() && a.dump.empty()) || has_data || is_constant,
               "--output and --dump-tensors need --input or --dataset");
  RequireUsage(!a.preprocess.given() || has_data,
               "--preprocess and the flags beside it need --input or --dataset");
  RequireUsage(a.carry.empty() || has_data, "--carry needs --input or --dataset");
  RequireUsage(a.carry.empty() || (a.streams == 1 && a.shard.empty()),
               "--carry runs the samples one after the other: leave out --streams and --shard");
  RequireUsage(a.streams == 1 || !a.dataset.empty() || a.benchmark,
               "--streams needs --dataset or --benchmark");
  RequireUsage(a.draw.empty() || has_data, "--draw needs --input or --dataset");
  RequireUsage(a.draw.empty() || !a.raw, "--draw needs real values: leave --raw out");
  RequireUsage(a.names.empty() || !a.input.empty() || !a.draw.empty() || a.labels == kOwnLabels,
               "--names needs --input, or --dataset with --labels auto or --draw");
  RequireUsage(!a.raw || !a.output.empty() || !a.dump.empty(),
               "--raw needs --output or --dump-tensors");
  const bool per_command = a.per_command || !a.trace.empty();
  RequireUsage(!per_command || a.streams == 1, a.per_command ? "--per-command" : "--trace",
               " is the profile of one inference: leave out --streams");
  const auto before_session = std::chrono::steady_clock::now();
  std::vector<Session> sessions = OpenSessions(program, a.streams, options);
  const double session_ms = Milliseconds(std::chrono::steady_clock::now() - before_session);
  nlohmann::json json;  // one object: where both give a figure, the benchmark's counts
  if (has_data || is_constant) json = RunData(a, program, sessions);
  if (a.benchmark) {
    const nlohmann::json times = RunBenchmark(program, sessions,
                                              {.iterations = a.iterations,
                                               .warmup = a.warmup,
                                               .per_command = per_command,
                                               .json = a.json,
                                               .isa = options.isa,
                                               .load_ms = load_ms,
                                               .session_ms = session_ms});
    if (!a.trace.empty())
      WriteFileAtomic(a.trace, JsonText(TraceEvents(times["commands"], a.program)) + "\n");
    json.update(times);
  }
  if (a.json) PrintJson(json);
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
