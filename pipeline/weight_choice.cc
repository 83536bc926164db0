#include "pipeline/weight_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
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

// How many of the layers from `first` on are measured in one run.
size_t BatchSize(const std::vector<WeightLayer>& layers, size_t first) {
  size_t bytes = 0, count = 0;
  for (; first + count < layers.size(); ++count) {
    bytes += GramBytes(layers[first + count].rows);
    if (count > 0 && bytes > kMostBytes) break;
  }
  return count;
}

class WeightChooser {
 public:
  WeightChooser(const Graph& floating, const CalibrationTable& table, QuantizeOptions options,
                const Dataset& samples, int threads, const ProgressFunction& progress)
      : floating_(floating),
        table_(table),
        options_(std::move(options)),
        samples_(samples),
        threads_(threads),
        progress_(progress),
        runs_(floating, samples, threads, progress) {
    choice_.report.samples = samples.size();
  }

  WeightChoice Run(const WeightMethods& methods) {
    WeightChoiceReport& report = choice_.report;
    report.methods = methods;
    const Graph quantized = Quantize();
    const std::vector<WeightLayer> layers = FindWeightLayers(floating_, quantized, options_);
    report.candidates = static_cast<int>(layers.size());
    if (layers.empty()) return std::move(choice_);
    runs_.RunFloat({});
    const std::vector<double> before = Quality(quantized);
    const Program program = CompileObservable(floating_, "float program");
    for (size_t first = 0; first < layers.size();) {
      const size_t count = BatchSize(layers, first);
      Choose(program, {layers.data() + first, count}, methods);
      first += count;
    }
    report.gain_db /= report.candidates;
    options_.scaled_weights = true;
    Decide(before, report.layers > 0 ? Quality(Quantize()) : before);
    return std::move(choice_);
  }

 private:
  Graph Quantize() const {
    return QuantizeGraph(SetWeights(floating_, choice_.weights), table_, options_).graph;
  }

  std::vector<double> Quality(const Graph& quantized) const {
    return runs_.RunInteger(RunTargetPasses(quantized, options_.target), {}).quality;
  }

  void Choose(const Program& program, std::span<const WeightLayer> layers,
              const WeightMethods& methods) {
    const std::vector<InputGram> grams = Measure(program, layers);
    std::vector<LayerChoice> found(layers.size());
    ForEachIndex(threads_, layers.size(), [&]() -> IndexWork {
      return [&](size_t l) { found[l] = ChooseLayer(layers[l], grams[l], methods); };
    });
    for (size_t l = 0; l < layers.size(); ++l) {
      LayerChoice& choice = found[l];
      WeightChoiceReport& report = choice_.report;
      report.gain_db += choice.gain_db;
      if (choice.weights == 0 && choice.channels == 0) continue;
      ++report.layers;
      report.weights += choice.weights;
      report.channels += choice.channels;
      choice_.weights[layers[l].node] = std::move(choice.chosen);
    }
  }

  // Integers: the order of samples and threads changes nothing.
  std::vector<InputGram> Measure(const Program& program, std::span<const WeightLayer> layers) {
    std::vector<std::string> names;
    for (const WeightLayer& layer : layers) names.push_back(layer.x);
    const std::vector<int32_t> places = TensorPlaces(program, names);
    std::vector<InputGram> grams(layers.size());
    std::vector<std::mutex> locks(layers.size());
    RunOnSamples(program, samples_, threads_, "measuring inputs", progress_,
                 [&](const Session& session, size_t) {
                   for (size_t l = 0; l < layers.size(); ++l) {
                     const std::span<const std::byte> memory = session.Tensor(places[l]);
                     const InputGram gram = GramOf(layers[l], memory);
                     const std::lock_guard<std::mutex> lock(locks[l]);
                     if (grams[l].groups == 0)
                       grams[l] = gram;
                     else
                       grams[l].Add(gram);
                   }
                 });
    return grams;
  }

  // A choice must be worth more than chance: else the program stays what it was.
  void Decide(const std::vector<double>& before, const std::vector<double>& after) {
    WeightChoiceReport& report = choice_.report;
    report.before_db = Mean(before);
    report.after_db = Mean(after);
    report.kept = report.layers > 0 && FirstAsGoodAsTheBest({before, after}) == 1;
    if (!report.kept) choice_.weights.clear();
  }

  const Graph& floating_;
  const CalibrationTable& table_;
  QuantizeOptions options_;
  const Dataset& samples_;
  int threads_;
  const ProgressFunction& progress_;
  BiasRuns runs_;
  WeightChoice choice_;
};

}  // namespace

WeightChoice ChooseWeights(const Graph& floating, const CalibrationTable& table,
                           const QuantizeOptions& options, const Dataset& samples,
                           const WeightMethods& methods, int threads,
                           const ProgressFunction& progress) {
  return WeightChooser(floating, table, options, samples, threads, progress).Run(methods);
}

}  // namespace rshift
