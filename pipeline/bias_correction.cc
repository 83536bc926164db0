#include "pipeline/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "codegen/passes/passes.h"
#include "pipeline/bias_layers.h"
#include "pipeline/bias_runs.h"
#include "pipeline/layer_weights.h"
#include "pipeline/paired_choice.h"
#include "quantize/quantize.h"

namespace rshift {
namespace {

// A mean that is off by more than all steps of an output is of a channel that is lost: no bias
// brings it back.
constexpr double kMostQuanta = 255;
// Outputs of a channel in one sample, at least, for a slope: few say more of the samples than of
// it.
constexpr int64_t kLeastRows = 16;
// A bias in units of a finer scale still fits, beside all products of a layer's row.
constexpr double kMostBias = 1 << 30;

// Float channel minus integer channel, over the samples.
struct Difference {
  double mean = 0, error = 0;  // standard error of the mean
};

Difference DifferenceOf(const std::vector<std::vector<double>>& wanted,
                        const std::vector<std::vector<double>>& found, size_t channel) {
  std::vector<double> off(wanted.size());
  for (size_t i = 0; i < off.size(); ++i) off[i] = wanted[i][channel] - found[i][channel];
  return {Mean(off), StandardError(off)};
}

// What to add to the bias. Few samples show a mean where there is none: it is held back by the
// noise that it has (the positive part of James and Stein's estimator).
double ShiftOf(const Difference& d, float quantum) {
  const double variance = d.error * d.error, square = d.mean * d.mean;
  const double shift = square > variance ? d.mean * (1 - variance / square) : 0;
  const bool lost = quantum > 0 && std::fabs(shift) > kMostQuanta * static_cast<double>(quantum);
  return std::isfinite(shift) && !lost ? shift : 0;
}

std::vector<float> CorrectedBias(const BiasLayer& layer,
                                 const std::vector<std::vector<double>>& wanted,
                                 const std::vector<std::vector<double>>& found) {
  std::vector<float> bias(static_cast<size_t>(layer.product.outputs));
  for (size_t c = 0; c < bias.size(); ++c) {
    const double own = layer.bias.empty() ? 0 : static_cast<double>(layer.bias[c]);
    bias[c] = static_cast<float>(own + ShiftOf(DifferenceOf(wanted, found, c), layer.quantum));
  }
  return bias;
}

// A half of paired_choice.h, or all.
constexpr int kAllSamples = kHalves;
std::vector<std::vector<double>> OfHalf(const std::vector<std::vector<double>>& samples, int half) {
  if (half == kAllSamples) return samples;
  std::vector<std::vector<double>> some;
  for (size_t s = static_cast<size_t>(half); s < samples.size(); s += kHalves)
    some.push_back(samples[s]);
  return some;
}

// How many of the layers lie on the longest way to each of them: those of one level do not read
// each other's results.
std::vector<size_t> Levels(const Graph& graph, const std::vector<BiasLayer>& layers) {
  std::map<std::string, size_t> places;
  for (size_t l = 0; l < layers.size(); ++l) places[layers[l].node] = l;
  std::vector<size_t> behind(static_cast<size_t>(graph.value_count())), levels(layers.size());
  for (const Node& node : graph.nodes()) {
    size_t level = 0;
    for (const ValueId id : node.inputs) {
      if (id.valid()) level = std::max(level, behind[id.index()]);
    }
    if (const auto place = places.find(node.name);
        place != places.end() && ReadProduct(graph, node))
      levels[place->second] = level++;
    for (const ValueId id : node.outputs) {
      if (id.valid()) behind[id.index()] = level;
    }
  }
  return levels;
}

class Corrector {
 public:
  Corrector(const Graph& floating, const CalibrationTable& table, QuantizeOptions options,
            const Dataset& samples, int threads, const ProgressFunction& progress,
            NodeWeights weights)
      : floating_(floating),
        table_(table),
        options_(std::move(options)),
        progress_(progress),
        runs_(floating, samples, threads, progress),
        given_(std::move(weights)) {
    correction_.report.samples = samples.size();
    correction_.weights = given_;
  }

  BiasCorrection Run(BiasCorrectionMode mode) {
    correction_.report.mode = mode;
    correction_.report.candidates = static_cast<int>(Quantize().size());
    if (layers_.empty()) return std::move(correction_);
    floating_runs_ = &runs_.RunFloat(layers_);
    const std::vector<double> before = RunInteger({}).quality;
    if (mode == BiasCorrectionMode::kRegression) FindScalable();
    if (mode == BiasCorrectionMode::kAuto) {
      const std::vector<double> after = RunHeldOut();
      CorrectAlone(kAllSamples);
      Decide(before, after);
      return std::move(correction_);
    }
    if (mode == BiasCorrectionMode::kFast)
      CorrectAlone(kAllSamples);
    else
      CorrectInOrder();
    Quantize();
    Decide(before, RunInteger({}).quality);
    return std::move(correction_);
  }

 private:
  // The program with the biases that there are so far.
  const std::vector<BiasLayer>& Quantize() {
    QuantizeOptions options = options_;
    options.scaled_weights |= !correction_.weights.empty();
    const Graph weighted = SetWeights(floating_, correction_.weights);
    quantized_ = QuantizeGraph(SetBiases(weighted, correction_.biases), table_, options).graph;
    layers_ = FindBiasLayers(floating_, quantized_);
    return layers_;
  }

  IntegerRuns RunInteger(const std::vector<BiasLayer>& layers) {
    ++correction_.report.passes;
    return runs_.RunInteger(RunTargetPasses(quantized_, options_.target), layers);
  }

  // With moments where there are slopes to find.
  PairedRuns Measure(const std::vector<BiasLayer>& layers) {
    if (scalable_.empty()) {
      PairedRuns runs{RunInteger(layers).means, {}};
      runs.moments.resize(layers.size());
      return runs;
    }
    ++correction_.report.passes;
    std::vector<std::optional<WindowRows>> rows;
    for (const BiasLayer& layer : layers) {
      const auto found = scalable_.find(layer.node);
      rows.push_back(found == scalable_.end() ? std::nullopt : std::optional(found->second));
    }
    return runs_.RunBoth(RunTargetPasses(quantized_, options_.target), layers, rows);
  }

  // Layers each of whose channels may have another scale.
  void FindScalable() {
    for (const WeightLayer& layer : FindWeightLayers(floating_, quantized_, options_)) {
      if (layer.per_channel && layer.rows.rows() >= kLeastRows) scalable_[layer.node] = layer.rows;
    }
  }

  // Scales the layer's channels, and with them the means that its integers have.
  void TakeSlopes(const BiasLayer& layer, const std::vector<std::vector<ChannelMoments>>& moments,
                  std::vector<std::vector<double>>* means) {
    if (moments.empty()) return;
    ChosenWeights chosen{layer.scales, {layer.integers.begin(), layer.integers.end()}, layer.bits};
    int64_t slopes = 0;
    for (size_t c = 0; c < moments.size(); ++c) {
      float& scale = chosen.scales[c];
      const auto unit = static_cast<double>(layer.quant.scale) * static_cast<double>(scale);
      const double slope = SlopeOf(moments[c], unit);
      const double bias = layer.bias.empty() ? 0 : static_cast<double>(layer.bias[c]);
      if (slope == 1 || std::fabs(bias) > kMostBias * unit * slope) continue;
      ++slopes;
      scale = static_cast<float>(static_cast<double>(scale) * slope);
      for (std::vector<double>& of_sample : *means) of_sample[c] *= slope;
    }
    if (slopes == 0) return;
    correction_.report.slopes += slopes;
    correction_.weights[layer.node] = std::move(chosen);
  }

  // On the samples of one half, or on all.
  void CorrectAlone(int half) {
    for (size_t l = 0; l < layers_.size(); ++l) {
      correction_.biases[layers_[l].node] =
          CorrectedBias(layers_[l], OfHalf(floating_runs_->floating[l], half),
                        OfHalf(floating_runs_->alone[l], half));
    }
  }

  std::vector<double> RunHeldOut() {
    return HeldOutQuality(static_cast<size_t>(correction_.report.samples), [&](int half) {
      CorrectAlone(half);
      Quantize();
      return RunInteger({}).quality;
    });
  }

  // Level by level: what lies before a layer has its last bias when the layer is measured.
  void CorrectInOrder() {
    const std::vector<size_t> levels = Levels(floating_, layers_);
    const size_t last = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
    ProgressReport progress("correcting biases", static_cast<int64_t>(last) + 1, progress_);
    for (size_t level = 0; level <= last && !levels.empty(); ++level) {
      if (level > 0) Quantize();
      std::vector<size_t> places;
      std::vector<BiasLayer> here;
      for (size_t l = 0; l < layers_.size(); ++l) {
        if (levels[l] != level) continue;
        places.push_back(l);
        here.push_back(layers_[l]);
      }
      PairedRuns found = Measure(here);
      for (size_t i = 0; i < here.size(); ++i) {
        TakeSlopes(here[i], found.moments[i], &found.means[i]);
        correction_.biases[here[i].node] =
            CorrectedBias(here[i], floating_runs_->floating[places[i]], found.means[i]);
      }
      progress.Advance();
    }
  }

  void Count(const BiasLayer& layer, const std::vector<float>& bias) {
    BiasCorrectionReport& report = correction_.report;
    int64_t channels = 0;
    for (size_t c = 0; c < bias.size(); ++c) {
      const float own = layer.bias.empty() ? 0 : layer.bias[c];
      channels += bias[c] != own;
      const double quanta =
          layer.quantum > 0 ? std::fabs(static_cast<double>(bias[c] - own) / layer.quantum) : 0;
      if (quanta <= report.largest_quanta) continue;
      report.largest_quanta = quanta;
      report.largest_node = layer.node;
    }
    report.layers += channels > 0;
    report.channels += channels;
  }

  // A correction must be worth more than chance: else the program stays what it was.
  void Decide(const std::vector<double>& before, const std::vector<double>& after) {
    BiasCorrectionReport& report = correction_.report;
    for (const BiasLayer& layer : layers_) Count(layer, correction_.biases[layer.node]);
    report.before_db = Mean(before);
    report.after_db = Mean(after);
    const bool changed = report.channels > 0 || report.slopes > 0;
    const bool better = report.mode == BiasCorrectionMode::kAuto
                            ? WorthKeeping(before, after)
                            : FirstAsGoodAsTheBest({before, after}) == 1;
    report.kept = changed && better;
    correction_.quality = report.kept ? after : before;
    if (report.kept) return;
    correction_.biases.clear();
    correction_.weights = std::move(given_);
  }

  const Graph& floating_;
  const CalibrationTable& table_;
  const QuantizeOptions options_;
  const ProgressFunction& progress_;
  BiasRuns runs_;
  NodeWeights given_;
  std::map<std::string, WindowRows> scalable_;  // kRegression: by node
  const FloatRuns* floating_runs_ = nullptr;
  Graph quantized_;
  std::vector<BiasLayer> layers_;  // of quantized_
  BiasCorrection correction_;
};

}  // namespace

const char* Name(BiasCorrectionMode mode) {
  switch (mode) {
    case BiasCorrectionMode::kAuto:
      return "auto";
    case BiasCorrectionMode::kOff:
      return "off";
    case BiasCorrectionMode::kFast:
      return "fast";
    case BiasCorrectionMode::kFull:
      return "full";
    case BiasCorrectionMode::kRegression:
      return "regression";
  }
  return "?";
}

bool AsksForCorrection(BiasCorrectionMode mode) {
  return mode != BiasCorrectionMode::kAuto && mode != BiasCorrectionMode::kOff;
}

BiasCorrectionMode ParseBiasCorrection(const std::string& name) {
  for (const BiasCorrectionMode mode :
       {BiasCorrectionMode::kAuto, BiasCorrectionMode::kOff, BiasCorrectionMode::kFast,
        BiasCorrectionMode::kFull, BiasCorrectionMode::kRegression}) {
    if (name == Name(mode)) return mode;
  }
  Fail(ErrorCode::kInvalidInput, "bias correction is '", name,
       "', expected auto, off, fast, full or regression");
}

BiasCorrection CorrectBiases(const Graph& floating, const CalibrationTable& table,
                             const QuantizeOptions& options, const Dataset& samples,
                             BiasCorrectionMode mode, int threads, const ProgressFunction& progress,
                             NodeWeights weights) {
  return Corrector(floating, table, options, samples, threads, progress, std::move(weights))
      .Run(mode);
}

}  // namespace rshift
