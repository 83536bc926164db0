#include "pipeline/weight_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "calibrate/observed_program.h"
#include "codegen/passes/passes.h"
#include "pipeline/bias_layers.h"
#include "pipeline/bias_runs.h"
#include "pipeline/layer_weights.h"
#include "pipeline/paired_choice.h"
#include "pipeline/program_pair.h"
#include "pipeline/sample_runs.h"
#include "quantize/quantize.h"

namespace rshift {
namespace {

// Layers are measured in as many runs as keep their sums below this, or one by one.
constexpr size_t kMostBytes = size_t{512} << 20;

// How many of the layers from `first` on are measured in one run, each with some grams.
size_t BatchSize(const std::vector<WeightLayer>& layers, size_t first, size_t grams) {
  size_t bytes = 0, count = 0;
  for (; first + count < layers.size(); ++count) {
    bytes += grams * GramBytes(layers[first + count].rows);
    if (count > 0 && bytes > kMostBytes) break;
  }
  return count;
}

// kAuto: rows beyond these say little new of how the inputs vary together, for neighbours are
// alike.
constexpr int64_t kRowsForEachInput = 64, kLeastRows = 32768;

// How far apart the rows are that are looked at in every sample: by no divisor of the width, so
// that they come to all columns.
int64_t RowStep(const WindowRows& rows, int64_t samples) {
  const int64_t enough = std::max(kRowsForEachInput * rows.inputs(), kLeastRows);
  int64_t step = std::clamp<int64_t>(rows.rows() * samples / enough, 1, rows.rows());
  while (std::gcd(step, rows.out_width) > 1) --step;
  return step;
}

// Products of two numbers that measuring a layer and choosing its weights once takes, about.
double ProductsOf(const WeightLayer& layer, int64_t samples) {
  const auto inputs = static_cast<double>(layer.rows.inputs());
  const SomeRows some{.step = RowStep(layer.rows, samples)};
  const auto rows = static_cast<double>(samples * MultipliedRows(some.Of(layer.rows.rows())));
  const auto groups = static_cast<double>(layer.rows.groups);
  const double gram = groups * rows * inputs / 2, factor = groups * inputs * inputs / 6,
               rounding = static_cast<double>(layer.outputs) * inputs * 2;
  return inputs * (gram + factor + rounding);
}

// Leaves the layers out that kMostAutoProducts have no room for; returns how many.
int LeaveOutCostly(int64_t samples, std::vector<WeightLayer>* layers) {
  std::vector<std::pair<double, size_t>> costs;
  for (size_t l = 0; l < layers->size(); ++l)
    costs.emplace_back((kHalves + 1) * ProductsOf((*layers)[l], samples), l);
  std::sort(costs.begin(), costs.end());
  double sum = 0;
  std::vector<bool> costly(layers->size());
  for (const auto& [cost, l] : costs) costly[l] = (sum += cost) > kMostAutoProducts;
  std::vector<WeightLayer> left;
  for (size_t l = 0; l < layers->size(); ++l) {
    if (!costly[l]) left.push_back(std::move((*layers)[l]));
  }
  const size_t all = layers->size();
  *layers = std::move(left);
  return static_cast<int>(all - layers->size());
}

class WeightChooser {
 public:
  WeightChooser(const Graph& floating, const CalibrationTable& table, QuantizeOptions options,
                const Dataset& samples, const WeightMethods& methods, int threads,
                const ProgressFunction& progress)
      : floating_(floating),
        table_(table),
        options_(std::move(options)),
        samples_(samples),
        automatic_(methods.rounding == WeightRounding::kAuto),
        methods_{automatic_ ? WeightRounding::kGptq : methods.rounding, methods.clipping},
        threads_(threads),
        progress_(progress),
        runs_(floating, samples, threads, progress) {
    report_.methods = methods;
    report_.samples = samples.size();
  }

  WeightChoice Run(const std::vector<double>& without) {
    const Graph quantized = Quantize({});
    std::vector<WeightLayer> layers = FindWeightLayers(floating_, quantized, options_);
    report_.candidates = static_cast<int>(layers.size());
    if (automatic_) report_.costly = LeaveOutCostly(samples_.size(), &layers);
    if (layers.empty()) return {{}, report_};
    if (automatic_ && samples_.size() < 2) {
      report_.why_none = "one sample cannot judge what it makes itself";
      return {{}, report_};
    }
    runs_.RunFloat({});
    const std::vector<double> before = without.empty() ? Quality(quantized) : without;
    program_ = CompileObservable(floating_, "float program");
    if (automatic_)
      TryHalves(layers, before);
    else
      TryAll(layers, before);
    return {report_.kept ? std::move(chosen_.back()) : NodeWeights{}, report_};
  }

 private:
  Graph Quantize(const NodeWeights& weights) const {
    QuantizeOptions options = options_;
    options.scaled_weights |= !weights.empty();
    return QuantizeGraph(SetWeights(floating_, weights), table_, options).graph;
  }

  std::vector<double> Quality(const Graph& quantized) const {
    return runs_.RunInteger(RunTargetPasses(quantized, options_.target), {}).quality;
  }

  // A choice must be worth more than chance: else the program stays what it was.
  void TryAll(const std::vector<WeightLayer>& layers, const std::vector<double>& before) {
    Choose(layers, 1);
    std::vector<double> after = before;
    if (report_.layers > 0) after = Quality(Quantize(chosen_[0]));
    report_.kept = FirstAsGoodAsTheBest({before, after}) == 1;
    report_.before_db = Mean(before);
    report_.after_db = Mean(after);
  }

  void TryHalves(const std::vector<WeightLayer>& layers, const std::vector<double>& before) {
    Choose(layers, kHalves);
    const std::vector<double> after = HeldOutQuality(before.size(), [&](int half) {
      return Quality(Quantize(chosen_[static_cast<size_t>(half)]));
    });
    report_.kept = WorthKeeping(before, after);
    report_.before_db = Mean(before);
    report_.after_db = Mean(after);
    if (!report_.kept) return;
    if (grams_[0].size() < layers.size()) return Choose(layers, 1);
    for (size_t l = 0; l < layers.size(); ++l) grams_[0][l].Add(grams_[1][l]);
    Begin(1);
    ChooseBy(layers);
    report_.gain_db /= static_cast<double>(layers.size());
  }

  // chosen_[p]: by every parts-th sample, from the p-th on. The report is of the last of them.
  void Choose(const std::vector<WeightLayer>& layers, size_t parts) {
    Begin(parts);
    for (size_t first = 0; first < layers.size();) {
      const size_t count = BatchSize(layers, first, parts);
      const std::span<const WeightLayer> batch(layers.data() + first, count);
      grams_.clear();
      grams_ = Measure(batch, parts);
      ChooseBy(batch);
      first += count;
    }
    report_.gain_db /= static_cast<double>(layers.size());
  }

  void Begin(size_t parts) {
    chosen_.assign(parts, {});
    report_.layers = 0;
    report_.weights = report_.channels = 0;
    report_.gain_db = 0;
  }

  // By grams_, as many parts as there are of chosen_.
  void ChooseBy(std::span<const WeightLayer> layers) {
    const size_t parts = chosen_.size();
    std::vector<LayerChoice> found(layers.size() * parts);
    ForEachIndex(threads_, found.size(), [&]() -> IndexWork {
      return [&](size_t i) {
        const size_t l = i / parts, part = i % parts;
        found[i] = ChooseLayer(layers[l], grams_[part][l], methods_);
      };
    });
    for (size_t i = 0; i < found.size(); ++i) {
      LayerChoice& choice = found[i];
      const size_t part = i % parts;
      if (part + 1 == parts) Count(choice);
      if (choice.weights > 0 || choice.channels > 0)
        chosen_[part][layers[i / parts].node] = std::move(choice.chosen);
    }
  }

  void Count(const LayerChoice& choice) {
    report_.gain_db += choice.gain_db;
    report_.layers += choice.weights > 0 || choice.channels > 0;
    report_.weights += choice.weights;
    report_.channels += choice.channels;
  }

  // By part and layer. Integers: the order of samples and threads changes nothing.
  std::vector<std::vector<InputGram>> Measure(std::span<const WeightLayer> layers, size_t parts) {
    std::vector<std::string> names;
    std::vector<int64_t> steps;
    for (const WeightLayer& layer : layers) {
      names.push_back(layer.x);
      steps.push_back(automatic_ ? RowStep(layer.rows, samples_.size()) : 1);
    }
    const std::vector<int32_t> places = TensorPlaces(*program_, names);
    std::vector<std::vector<InputGram>> grams(parts, std::vector<InputGram>(layers.size()));
    std::vector<std::mutex> locks(layers.size());
    RunOnSamples(*program_, samples_, threads_, "measuring inputs", progress_,
                 [&](const Session& session, size_t sample) {
                   for (size_t l = 0; l < layers.size(); ++l) {
                     const InputGram gram =
                         GramOf(layers[l], session.Tensor(places[l]),
                                {static_cast<int64_t>(sample) % steps[l], steps[l]});
                     const std::lock_guard<std::mutex> lock(locks[l]);
                     grams[sample % parts][l].Add(gram);
                   }
                 });
    return grams;
  }

  const Graph& floating_;
  const CalibrationTable& table_;
  const QuantizeOptions options_;
  const Dataset& samples_;
  const bool automatic_;
  const WeightMethods methods_;
  int threads_;
  const ProgressFunction& progress_;
  BiasRuns runs_;
  std::optional<Program> program_;             // the float one
  std::vector<std::vector<InputGram>> grams_;  // by part, of the last batch of layers
  std::vector<NodeWeights> chosen_;            // by part
  WeightChoiceReport report_;
};

}  // namespace

WeightChoice ChooseWeights(const Graph& floating, const CalibrationTable& table,
                           const QuantizeOptions& options, const Dataset& samples,
                           const WeightMethods& methods, int threads,
                           const ProgressFunction& progress, const std::vector<double>& without) {
  return WeightChooser(floating, table, options, samples, methods, threads, progress).Run(without);
}

}  // namespace rshift
