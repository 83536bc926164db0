#include "pipeline/layer_weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "pipeline/bias_layers.h"
#include "pipeline/paired_choice.h"
#include "pipeline/sample_runs.h"
#include "pipeline/weight_solver.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/qparams.h"
#include "quantize/overrides.h"

namespace rshift {
namespace {

// Of the mean second moment of a layer's inputs: what is added to each, so that inputs which hardly
// vary together on the samples are not played off against each other. Rows that are few beside the
// inputs say little of how those vary together: as much more.
double Damping(const InputGram& gram) {
  constexpr double kLeast = 0.01;  // OPTQ's
  return kLeast +
         static_cast<double>(gram.inputs) / static_cast<double>(std::max<int64_t>(gram.rows, 1));
}

// Where output o's k-th weight is.
size_t Place(const WeightLayer& layer, int64_t o, int64_t k) {
  return static_cast<size_t>(layer.inputs_first ? k * layer.outputs + o
                                                : o * layer.rows.inputs() + k);
}

SecondMoments MomentsOf(const InputGram& gram, int64_t group) {
  const int64_t n = gram.inputs;
  const auto rows = static_cast<double>(std::max<int64_t>(gram.rows, 1));
  const int64_t* products = gram.products.data() + group * n * n;
  SecondMoments moments{n, std::vector<double>(static_cast<size_t>(n * n))};
  for (int64_t a = 0; a < n; ++a) {
    for (int64_t b = a; b < n; ++b) {
      const double value = static_cast<double>(products[a * n + b]) / rows;
      moments.values[static_cast<size_t>(a * n + b)] = value;
      moments.values[static_cast<size_t>(b * n + a)] = value;
    }
  }
  return moments;
}

// Weights of some outputs of a group, [outputs, inputs], at scales of their own.
struct Rows {
  std::vector<int64_t> outputs;
  std::vector<float> scales;
  std::vector<int8_t> integers;
  std::vector<double> errors;  // of the sums, as reals (in steps of x)
};

std::vector<float> FloatRow(const WeightLayer& layer, int64_t output) {
  std::vector<float> row;
  row.reserve(static_cast<size_t>(layer.rows.inputs()));
  for (int64_t k = 0; k < layer.rows.inputs(); ++k)
    row.push_back(layer.weights[Place(layer, output, k)]);
  return row;
}

double Most(const WeightLayer& layer) { return numerics::LargestWeight(layer.nearest.bits); }

// Rounds to the scales that the rows have.
void Round(const WeightLayer& layer, const SecondMoments& moments, double damping,
           WeightRounding rounding, Rows* rows) {
  std::vector<double> weights;
  for (size_t r = 0; r < rows->outputs.size(); ++r) {
    for (const float w : FloatRow(layer, rows->outputs[r]))
      weights.push_back(static_cast<double>(w) / static_cast<double>(rows->scales[r]));
  }
  if (rounding == WeightRounding::kGptq) {
    rows->integers =
        RoundTogether(moments, damping, weights, numerics::LargestWeight(layer.nearest.bits));
  } else {
    rows->integers.clear();
    for (const double w : weights)
      rows->integers.push_back(
          static_cast<int8_t>(std::clamp(numerics::RoundHalfEven(w), -Most(layer), Most(layer))));
  }
}

void SetErrors(const WeightLayer& layer, const SecondMoments& moments, Rows* rows) {
  std::vector<double> d;
  size_t at = 0;
  for (size_t r = 0; r < rows->outputs.size(); ++r) {
    const auto scale = static_cast<double>(rows->scales[r]);
    for (const float w : FloatRow(layer, rows->outputs[r]))
      d.push_back(static_cast<double>(w) - scale * rows->integers[at++]);
  }
  rows->errors = SquaredErrors(moments, d);
}

// The bias grows as the scale shrinks: neither it nor an accumulator may leave its bounds.
bool Fits(const WeightLayer& layer, int64_t output, float scale, std::span<const int8_t> row) {
  double magnitudes = 0;
  for (const int8_t q : row) magnitudes += std::abs(static_cast<int>(q));
  const double bias = layer.bias.empty() ? 0 : static_cast<double>(layer.bias[output]);
  const double step = static_cast<double>(layer.quant.scale) / (layer.reads_s16 ? 256 : 1);
  const double unit = step * static_cast<double>(scale);
  const double folded = std::fabs(bias / unit) + 1 + std::abs(layer.quant.zero_point) * magnitudes;
  const auto most = static_cast<double>(numerics::kInt32Limit);
  if (!layer.reads_s16) return numerics::LargestAccumulator(folded, magnitudes) <= most;
  return folded <= most && folded + static_cast<double>(numerics::kInt16Magnitude) * magnitudes <=
                               static_cast<double>(numerics::kInt16AccumulatorLimit);
}

class LayerChooser {
 public:
  LayerChooser(const WeightLayer& layer, const InputGram& gram, const WeightMethods& methods)
      : layer_(layer), gram_(gram), methods_(methods) {
    choice_.chosen = layer.nearest;
  }

  LayerChoice Result() {
    for (int64_t group = 0; group < gram_.groups; ++group) ChooseGroup(group);
    choice_.gain_db = BoundedDecibels(before_, after_);
    if (before_ == 0) choice_.gain_db = 0;
    return std::move(choice_);
  }

 private:
  void ChooseGroup(int64_t group) {
    const SecondMoments moments = MomentsOf(gram_, group);
    Rows now = RowsOf(group);
    SetErrors(layer_, moments, &now);
    Rows rounded = now;
    Round(layer_, moments, Damping(gram_), methods_.rounding, &rounded);
    SetErrors(layer_, moments, &rounded);
    for (const double error : now.errors) before_ += error;
    TakeBetter(rounded, &now);
    if (methods_.clipping == WeightClipping::kMse && layer_.per_channel) {
      Rows clipped = ClippedRows(group, now);
      Round(layer_, moments, Damping(gram_), methods_.rounding, &clipped);
      SetErrors(layer_, moments, &clipped);
      TakeBetter(clipped, &now);
    }
    for (const double error : now.errors) after_ += error;
    Store(now);
  }

  // As they are. Channels without weights hold their bias alone.
  Rows RowsOf(int64_t group) const {
    Rows rows;
    const int64_t count = layer_.outputs / gram_.groups;
    for (int64_t o = group * count; o < (group + 1) * count; ++o) {
      std::vector<int8_t> row;
      for (int64_t k = 0; k < gram_.inputs; ++k)
        row.push_back(layer_.nearest.integers[Place(layer_, o, k)]);
      if (std::all_of(row.begin(), row.end(), [](int8_t q) { return q == 0; })) continue;
      rows.outputs.push_back(o);
      rows.scales.push_back(layer_.nearest.scales[layer_.nearest.scales.size() == 1 ? 0 : o]);
      rows.integers.insert(rows.integers.end(), row.begin(), row.end());
    }
    return rows;
  }

  // Those of `now` that a smaller scale might suit better.
  Rows ClippedRows(int64_t group, const Rows& now) const {
    std::vector<double> squares;
    for (int64_t k = 0; k < gram_.inputs; ++k)
      squares.push_back(static_cast<double>(
          gram_.products[static_cast<size_t>((group * gram_.inputs + k) * gram_.inputs + k)]));
    Rows rows;
    for (size_t r = 0; r < now.outputs.size(); ++r) {
      const std::vector<float> weights = FloatRow(layer_, now.outputs[r]);
      const int bits = layer_.nearest.bits;
      const double clip = BestClip(weights, squares, numerics::LargestWeight(bits));
      const float scale = numerics::WeightScale(static_cast<float>(clip), bits);
      if (!(scale < now.scales[r])) continue;
      rows.outputs.push_back(now.outputs[r]);
      rows.scales.push_back(scale);
    }
    return rows;
  }

  // `rows`: some or all outputs of `now`, in the same order.
  void TakeBetter(const Rows& rows, Rows* now) const {
    const auto n = static_cast<size_t>(gram_.inputs);
    size_t to = 0;
    for (size_t r = 0; r < rows.outputs.size(); ++r, ++to) {
      while (now->outputs[to] != rows.outputs[r]) ++to;
      const std::span<const int8_t> row(rows.integers.data() + r * n, n);
      if (!(rows.errors[r] < now->errors[to]) ||
          !Fits(layer_, rows.outputs[r], rows.scales[r], row))
        continue;
      now->errors[to] = rows.errors[r];
      now->scales[to] = rows.scales[r];
      std::copy(row.begin(), row.end(), now->integers.begin() + static_cast<int64_t>(to * n));
    }
  }

  void Store(const Rows& rows) {
    size_t at = 0;
    for (size_t r = 0; r < rows.outputs.size(); ++r) {
      const int64_t o = rows.outputs[r];
      if (layer_.per_channel) {
        float& scale = choice_.chosen.scales[static_cast<size_t>(o)];
        choice_.channels += scale != rows.scales[r];
        scale = rows.scales[r];
      }
      for (int64_t k = 0; k < gram_.inputs; ++k) {
        int8_t& q = choice_.chosen.integers[Place(layer_, o, k)];
        choice_.weights += q != rows.integers[at];
        q = rows.integers[at++];
      }
    }
  }

  const WeightLayer& layer_;
  const InputGram& gram_;
  const WeightMethods& methods_;
  LayerChoice choice_;
  double before_ = 0, after_ = 0;
};

std::optional<WeightLayer> LayerOf(const Graph& floating, const Node& node, const BiasLayer& found,
                                   const QuantizeOptions& options) {
  const std::optional<WindowRows> rows = WindowRowsOf(floating, node);
  if (!rows || rows->inputs() > kMostInputs || rows->rows() == 0 ||
      floating.value(node.inputs[1]).origin != nullptr)
    return std::nullopt;
  const LayerConfig config = LayerOf(floating, node, options.config);
  if (!config.onednn.empty()) return std::nullopt;
  WeightLayer layer;
  layer.node = node.name;
  layer.x = found.x;
  layer.dtype = found.dtype;
  layer.quant = found.quant;
  layer.reads_s16 = found.dtype == DType::kS16;
  if (layer.reads_s16) {  // 8 bits of it are enough to weigh errors by
    layer.dtype = DType::kS8;
    layer.quant.scale *= 256;
  }
  layer.rows = *rows;
  layer.outputs = found.product.outputs;
  layer.inputs_first = found.inputs_first;
  layer.per_channel = config.per_channel.value_or(options.target.per_channel_weights);
  layer.weights = found.weights;
  layer.bias = found.bias;
  layer.nearest.bits = found.bits;
  layer.nearest.scales = found.scales;
  layer.nearest.integers.assign(found.integers.begin(), found.integers.end());
  if (layer.per_channel) return layer;
  // One scale for all, unless a channel has been repaired.
  for (const float scale : found.scales) {
    if (scale != found.scales[0]) return std::nullopt;
  }
  layer.nearest.scales.resize(1);
  return layer;
}

}  // namespace

std::vector<WeightLayer> FindWeightLayers(const Graph& floating, const Graph& integer,
                                          const QuantizeOptions& options) {
  std::map<std::string, const Node*> nodes;
  for (const Node& node : floating.nodes()) {
    if (ReadProduct(floating, node)) nodes.emplace(node.name, &node);
  }
  std::vector<WeightLayer> layers;
  for (const BiasLayer& found : FindBiasLayers(floating, integer)) {
    std::optional<WeightLayer> layer = LayerOf(floating, *nodes.at(found.node), found, options);
    if (layer) layers.push_back(std::move(*layer));
  }
  return layers;
}

InputGram GramOf(const WeightLayer& layer, std::span<const std::byte> floats,
                 const SomeRows& some) {
  const std::span<const float> x(reinterpret_cast<const float*>(floats.data()),
                                 floats.size() / sizeof(float));
  return GramOf(layer.rows, layer.dtype, layer.quant.zero_point,
                IntegersOf(layer.dtype, layer.quant, x), some);
}

LayerChoice ChooseLayer(const WeightLayer& layer, const InputGram& gram,
                        const WeightMethods& methods) {
  return LayerChooser(layer, gram, methods).Result();
}

}  // namespace rshift
