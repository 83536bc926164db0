#include "pipeline/check_program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "calibrate/threshold.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "pipeline/caller_progress.h"
#include "pipeline/check_samples.h"
#include "pipeline/choose_ranges.h"
#include "pipeline/preprocess_choice.h"
#include "pipeline/weight_choice.h"
#include "quantize/equalize/product_weights.h"
#include "quantize/set_weights.h"

namespace rshift {
namespace {

// Elements of all tensors over all samples that are compared one by one; about 20 ns for each.
constexpr int64_t kMostElements = 16'000'000;
constexpr double kWorthwhileDb = 3;  // less is no reason to change anything
constexpr double kWeakDb = 10;
constexpr size_t kWeakest = 3;

Program CompileProgram(const Graph& graph, const std::string& where) {
  return Program::FromBytes(WriteContainer(Compile(graph)), where, Limits::None());
}

int64_t Elements(const Graph& graph) {
  int64_t elements = 0;
  for (const Node& node : graph.nodes())
    elements += NumElements(graph.value(node.outputs[0]).shape);
  return elements;
}

SampleList First(const Dataset& samples, int64_t count) {
  std::vector<Sample> first;
  for (int64_t i = 0; i < std::min(count, samples.size()); ++i) first.push_back(samples.Read(i));
  return SampleList(std::move(first));
}

// The table as --method minmax would have made it.
CalibrationTable WithoutClipping(CalibrationTable table) {
  for (auto& [name, range] : table.tensors) {
    range.threshold = std::max(std::fabs(range.min), std::fabs(range.max));
    range.low = range.min;
    range.high = range.max;
  }
  return table;
}

// Whether one of our own methods has narrowed the ranges.
bool Clips(const CalibrationTable& table) {
  const std::optional<Method> method = MethodOfTable(table.method);
  return (method && *method != Method::kMinMax) || table.method == kAutoMethod;
}

double LowestSqnr(const std::vector<OutputResult>& outputs) {
  double lowest = kNothingLostDb;
  for (const OutputResult& output : outputs) {
    if (output.floating) lowest = std::min(lowest, output.similarity.sqnr_db);
  }
  return lowest;
}

// Whether a layer has channels, a quarter of its own or more, whose largest weight is kLarge times
// the root mean square of all: 8 bits of it leave those 3.
bool HasLargeWeights(const Graph& graph) {
  constexpr double kLarge = 16;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    const std::optional<ProductWeights> product = ReadProduct(graph, node);
    if (!product) return false;
    const std::span<const float> weights = graph.value(product->weights).constant->As<float>();
    int64_t large = 0;
    for (int64_t o = 0; o < product->outputs; ++o) {
      double most = 0, squares = 0, count = 0;
      product->ForEachInput(weights, o, [&](int64_t, std::span<const float> taps) {
        for (const double w : taps) {
          most = std::max(most, std::fabs(w));
          squares += w * w;
          ++count;
        }
      });
      large += most * most * count > kLarge * kLarge * (squares - most * most) ? 1 : 0;
    }
    return 4 * large >= product->outputs;
  });
}

// Sums of two activations.
bool HasResiduals(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    const auto* binary = std::get_if<Binary>(&node.op);
    return binary != nullptr && binary->op == BinaryOp::kAdd &&
           !graph.value(node.inputs[0]).is_constant() && !graph.value(node.inputs[1]).is_constant();
  });
}

class Trials {
 public:
  Trials(const Deployment& deployment, const Dataset& samples,
         const std::vector<OutputValues>& reference, int threads)
      : deployment_(deployment), samples_(samples), reference_(reference), threads_(threads) {}

  // Best first.
  std::vector<Trial> Run() {
    if (HoldsQuantization(deployment_.floating)) {
      TryProfiles();
    } else {
      TryModesAndRanges();
      if (!IsGoodAlready()) TryClippedWeights();
      if (!IsGoodAlready()) TryMoreBits();
    }
    std::stable_sort(trials_.begin(), trials_.end(), [](const Trial& a, const Trial& b) {
      return std::tie(a.quality_db, a.sqnr_db) > std::tie(b.quality_db, b.sqnr_db);
    });
    return trials_;
  }

 private:
  // Scales and zero points are the model's own: the arithmetic between them is open. That of the
  // frameworks which such models come from.
  void TryProfiles() {
    for (const ProfileId id : {ProfileId::kTpu, ProfileId::kOnnxRuntime, ProfileId::kTfLite}) {
      if (id == deployment_.options.profile.id) continue;
      QuantizeOptions other = deployment_.options;
      other.profile = {id, Variant::kByTable};
      Try(deployment_.table, other, {Cat("--profile ", Name(id)), "", 0, 0, Grade::kNone});
    }
  }

  void TryModesAndRanges() {
    const QuantizeOptions& given = deployment_.options;
    QuantizeOptions other = given;
    const bool symmetric = given.mode == QuantMode::kSymmetric;
    other.mode = symmetric ? QuantMode::kAsymmetric : QuantMode::kSymmetric;
    const std::string mode = symmetric ? "--mode asymmetric" : "--mode symmetric";
    Try(deployment_.table, other, {mode, "", 0, 0, Grade::kNone});
    if (Clips(deployment_.table)) {
      const CalibrationTable wide = WithoutClipping(deployment_.table);
      const std::string recipe = "a table of model_calibrate --method minmax";
      Try(wide, given, {"", recipe, 0, 0, Grade::kNone});
      Try(wide, other, {mode, recipe, 0, 0, Grade::kNone});
    }
  }

  bool IsGoodAlready() const {
    return std::any_of(trials_.begin(), trials_.end(),
                       [](const Trial& t) { return t.grade == Grade::kGood; });
  }

  // A weight that is larger than the others of its channel, and multiplies little. It takes time to
  // measure, so that there must be such weights.
  void TryClippedWeights() {
    if (deployment_.clipped_weights || deployment_.options.profile.id == ProfileId::kAscend ||
        !HasLargeWeights(deployment_.floating))
      return;
    const WeightMethods methods{WeightRounding::kNearest, WeightClipping::kMse};
    QuantizeOptions other = deployment_.options;
    other.scaled_weights = false;
    NodeWeights weights;
    try {
      weights =
          ChooseWeights(deployment_.floating, deployment_.table, other, samples_, methods, threads_)
              .weights;
    } catch (const Error&) {
      return;  // as in Try
    }
    if (weights.empty()) return;
    other.scaled_weights = true;
    TryGraph(SetWeights(deployment_.floating, weights), deployment_.table, other,
             {"--weight-clipping mse", "", 0, 0, Grade::kNone});
  }

  // A network whose activations reach too far for 8 bits; not where 8 bits can be good, since 16
  // take more time.
  void TryMoreBits() {
    QuantizeOptions other = deployment_.options;
    if (other.profile.id != ProfileId::kTpu || other.activation_bits != 8) return;
    if (other.residual_bits == 8 && HasResiduals(deployment_.floating)) {
      other.residual_bits = 16;
      Try(deployment_.table, other, {"--residual-bits 16", "", 0, 0, Grade::kNone});
      if (IsGoodAlready()) return;
      other.residual_bits = 8;
    }
    other.activation_bits = 16;
    Try(deployment_.table, other, {"--activation-bits 16", "", 0, 0, Grade::kNone});
  }

  void Try(const CalibrationTable& table, const QuantizeOptions& options, Trial trial) {
    // Other profiles hold a model's own integers differently, so they start from the model.
    const bool same = options.profile.id == deployment_.options.profile.id;
    TryGraph(same ? deployment_.floating : deployment_.model, table, options, std::move(trial));
  }

  void TryGraph(const Graph& graph, const CalibrationTable& table, const QuantizeOptions& options,
                Trial trial) {
    try {
      const QuantizeResult quantized = QuantizeGraph(graph, table, options);
      const Program program =
          CompileProgram(RunTargetPasses(quantized.graph, options.target), "trial");
      const auto outputs = CompareOutputs(RunOutputs(program, samples_, threads_), reference_);
      trial.quality_db = Quality(outputs);
      trial.sqnr_db = LowestSqnr(outputs);
      trial.grade = Judge(outputs);
      trials_.push_back(std::move(trial));
    } catch (const Error&) {
      // A profile that does not have this mode, a configuration that belongs to the other one: this
      // way is not open, and so is no advice.
    }
  }

  const Deployment& deployment_;
  const Dataset& samples_;
  const std::vector<OutputValues>& reference_;
  int threads_;
  std::vector<Trial> trials_;
};

// "a table of model_calibrate --method minmax and --mode asymmetric"
std::string NameOf(const Trial& trial) {
  return trial.recipe + (trial.recipe.empty() || trial.options.empty() ? "" : " and ") +
         trial.options;
}

// Separated by semicolons: a name may hold an "and".
std::string NamesOf(const std::vector<Trial>& trials) {
  std::string names;
  for (const Trial& trial : trials) names += (names.empty() ? "" : "; ") + NameOf(trial);
  return names;
}

std::string Advice(const Verdict& verdict, bool by_table) {
  const double now = Quality(verdict.outputs);
  const auto text = [](double db) {
    if (db >= kNothingLostDb) return std::string("every number within a step of 8 bits");
    char line[32];
    std::snprintf(line, sizeof line, "%.1f dB", db);
    return std::string(line);
  };
  const std::string layers =
      by_table ? "--auto --budget cosine=0.999 finds the layers that need more bits or F32"
               : "--sensitivity FILE.yaml finds the layers to leave in F32 and writes them for "
                 "--config, or quantize the model again";
  if (verdict.trials.empty()) return "next: " + layers;
  if (verdict.trials[0].quality_db < now + kWorthwhileDb)
    return NamesOf(verdict.trials) + (verdict.trials.size() == 1 ? " does" : " do") +
           " not help; next: " + layers;
  const Trial& best = verdict.trials[0];
  std::string out = "next: " + NameOf(best);
  out += " (" + text(best.quality_db) + " instead of " + text(now) + " on the same samples)";
  if (best.grade != Grade::kGood) out += "; then " + layers;
  return out;
}

std::vector<LayerResult> Weakest(const std::vector<LayerResult>& layers, Grade grade) {
  std::vector<LayerResult> weakest = WeakestAlone(layers);
  if (weakest.size() > kWeakest) weakest.resize(kWeakest);
  if (grade == Grade::kGood) {
    std::erase_if(weakest, [](const LayerResult& layer) {
      return !(layer.alone_channels.median_db < kWeakDb);
    });
  }
  return weakest;
}

void Check(const Deployment& deployment, const Dataset& samples, const CheckRequest& request,
           const ProgressFunction& progress, CheckResult* result) {
  const int threads = request.threads;
  Verdict& verdict = result->verdict;
  verdict.can_search = !HoldsQuantization(deployment.floating) && !deployment.searched &&
                       deployment.options.activation_bits == 8 &&
                       deployment.options.profile.id == ProfileId::kTpu;
  const Program floating = CompileProgram(deployment.model, "float program");
  const Program integer = Program::FromBytes(deployment.bytes, "the program", Limits::None());
  std::vector<OutputValues> reference = RunOutputs(floating, samples, threads);
  SetBounds(deployment.model, reference);
  verdict.outputs = CompareOutputs(RunOutputs(integer, samples, threads), reference);
  verdict.boxes = CompareBoxes(integer, floating, samples, threads);
  if (result->layers.empty()) {
    const int64_t count = std::clamp<int64_t>(
        kMostElements / std::max<int64_t>(1, Elements(deployment.integer)), 1, samples.size());
    result->layer_samples = count;
    result->layers = CompareLayers(deployment.floating, deployment.integer, First(samples, count),
                                   threads, progress);
  }
  Grade grade = Judge(verdict.outputs);
  if (verdict.boxes) grade = std::max(grade, JudgeBoxes(*verdict.boxes));
  verdict.weakest = Weakest(result->layers, grade);
  if (grade != Grade::kGood) {
    verdict.trials = Trials(deployment, samples, reference, threads).Run();
    verdict.next = Advice(verdict, !HoldsQuantization(deployment.floating));
  }
  verdict.grade = grade;
}

std::unique_ptr<Dataset> OpenTestInput(const Graph& floating, const CheckRequest& request) {
  const std::vector<InputSpec> inputs = InputSpecs(floating);
  if (!request.test_samples.empty()) {
    CheckFits(request.test_samples, inputs);
    return std::make_unique<SampleList>(request.test_samples);
  }
  if (request.test_input.empty()) return nullptr;
  std::optional<Preprocess> preprocess;
  if (!request.preprocess.empty()) preprocess = ReadPreprocess(request.preprocess, "preprocess");
  return OpenDataset(request.test_input, inputs, preprocess, request.note);
}

}  // namespace

ChosenSamples ChooseSamples(const Deployment& deployment, const CheckRequest& request) {
  if (const auto test = OpenTestInput(deployment.floating, request))
    return {First(*test, request.samples), "test input", ""};
  if (request.table_path.empty()) {
    return {
        SampleList(), "sample",
        "the model, or --scales, brings parameters and no samples; give some with --test-input"};
  }
  CheckSamples found =
      ReadCheckSamples(deployment.table, request.table_path, InputSpecs(deployment.floating),
                       request.samples, request.note);
  if (!found.why_none.empty()) found.why_none += "; give some with --test-input";
  return {std::move(found.samples), "calibration sample", std::move(found.why_none)};
}

CheckResult CheckProgram(const Deployment& deployment, const CheckRequest& request) {
  CheckResult result;
  if (const auto test = OpenTestInput(deployment.floating, request)) {
    result.layer_samples = test->size();
    result.layers = CompareLayers(deployment.floating, deployment.integer, *test, request.threads,
                                  request.progress);
  }
  if (!request.check) return result;
  CallerProgress progress(request.progress);
  try {
    const ChosenSamples chosen = ChooseSamples(deployment, request);
    const int64_t count = chosen.samples.size();
    result.verdict.samples = Cat(count, " ", chosen.kind, count == 1 ? "" : "s");
    result.verdict.why_none = chosen.why_none;
    if (count > 0) Check(deployment, chosen.samples, request, progress.function(), &result);
  } catch (const Error& error) {
    result.verdict.why_none = error.what();
  } catch (const std::bad_alloc&) {
    result.verdict.why_none = "not enough memory to run both programs";
  }
  progress.Rethrow();
  return result;
}

}  // namespace rshift
