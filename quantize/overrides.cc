#include "quantize/overrides.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "graph/conv_or_matmul.h"
#include "quantize/ascend_config.h"

namespace rshift {
namespace {

// A range is one setting: threshold, low and high are taken together or not at all.
void Complete(LayerConfig* layer, const LayerConfig& other) {
  if (layer->line == 0) layer->line = other.line;
  if (!layer->float32) layer->float32 = other.float32;
  if (!layer->threshold && !layer->low) {
    layer->threshold = other.threshold;
    layer->low = other.low;
    layer->high = other.high;
  }
  if (!layer->per_channel) layer->per_channel = other.per_channel;
  if (!layer->multiplier_bits) layer->multiplier_bits = other.multiplier_bits;
  if (!layer->activation_bits) layer->activation_bits = other.activation_bits;
  if (!layer->weight_bits) layer->weight_bits = other.weight_bits;
  if (!layer->profile) layer->profile = other.profile;
  if (layer->onednn.output_scales.empty()) {
    layer->onednn.mask = other.onednn.mask;
    layer->onednn.output_scales = other.onednn.output_scales;
  }
  layer->onednn.real_dst = layer->onednn.real_dst || other.onednn.real_dst;
  if (layer->onednn.post_ops.empty()) layer->onednn.post_ops = other.onednn.post_ops;
  CompleteAscend(&layer->ascend, other.ascend);
}

bool HasType(const LayerPattern& pattern, const Node& node) {
  return pattern.types.empty() || std::find(pattern.types.begin(), pattern.types.end(),
                                            OpName(node.op)) != pattern.types.end();
}

// What the model calls a tensor that may be scaled; a scaled input stands beside the model's.
std::string NameInModel(const Graph& graph, const std::string& tensor) {
  const std::string name = ModelName(tensor);
  return name != tensor && graph.FindValue(name).valid() ? tensor : name;
}

bool Matches(const LayerPattern& pattern, const Graph& graph, const Node& node) {
  const std::string& tensor = graph.value(node.outputs[0]).name;
  return HasType(pattern, node) && (MatchesGlob(pattern.glob, tensor) ||
                                    MatchesGlob(pattern.glob, NameInModel(graph, tensor)) ||
                                    MatchesGlob(pattern.glob, node.name));
}

// Inputs have no operator, so that an entry with a type is not about them.
bool MatchesInput(const LayerPattern& pattern, const std::string& input) {
  return pattern.types.empty() && MatchesGlob(pattern.glob, input);
}

ValueRange RangeOf(const LayerConfig& layer, bool is_signed, QuantMode mode) {
  ValueRange range;
  if (mode == QuantMode::kSymmetric) {
    range.is_signed = layer.low ? *layer.low < 0 : is_signed;
    range.threshold = layer.threshold ? *layer.threshold
                                      : std::max(std::fabs(*layer.low), std::fabs(*layer.high));
  } else {
    range.low = std::min(layer.low ? *layer.low : is_signed ? -*layer.threshold : 0.0f, 0.0f);
    range.high = std::max(layer.high ? *layer.high : *layer.threshold, 0.0f);
  }
  return range;
}

bool IsConvOrGemm(const Node& node) {
  return std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
}
bool HasMultipliers(const Node& node) {
  return std::holds_alternative<Binary>(node.op) || std::holds_alternative<LeakyRelu>(node.op);
}

// What an entry is about: keys that would change nothing of it are mistakes, for the user believes
// that they do.
struct Subjects {
  int nodes = 0, inputs = 0, convs_or_gemms = 0, with_constant_weights = 0, with_multipliers = 0;
  void Add(const Graph& graph, const Node& node) {
    ++nodes;
    convs_or_gemms += IsConvOrGemm(node);
    with_constant_weights += HasConstantWeights(graph, node);
    with_multipliers += HasMultipliers(node);
  }
};

void CheckEntry(const Subjects& s, const std::string& entry, const LayerConfig& layer) {
  RSHIFT_REQUIRE(s.nodes > 0 || (!layer.float32 && !layer.per_channel && !layer.multiplier_bits &&
                                 !layer.weight_bits && !layer.profile && layer.ascend.empty()),
                 ErrorCode::kInvalidInput, entry,
                 " is an input of the model: it can have a range; mode, per_channel, "
                 "multiplier_bits, weight_bits, profile and ascend belong to the nodes that read "
                 "it");
  RSHIFT_REQUIRE(layer.onednn.empty() || s.convs_or_gemms > 0, ErrorCode::kInvalidInput, entry,
                 ": onednn is for Conv, Gemm and MatMul; leave it out");
  RSHIFT_REQUIRE(layer.ascend.empty() || s.convs_or_gemms > 0, ErrorCode::kInvalidInput, entry,
                 ": ascend is for Conv, Gemm and MatMul (Conv2D, DepthwiseConv2D, "
                 "FullyConnection), which alone take scales; leave it out");
  RSHIFT_REQUIRE(!layer.per_channel || s.with_constant_weights > 0, ErrorCode::kInvalidInput, entry,
                 ": per_channel is for Conv, ConvTranspose, Gemm and MatMul with constant weights; "
                 "leave it out");
  RSHIFT_REQUIRE(!layer.weight_bits || s.with_constant_weights > 0, ErrorCode::kInvalidInput, entry,
                 ": weight_bits is for Conv, ConvTranspose, Gemm and MatMul with constant weights; "
                 "leave it out");
  RSHIFT_REQUIRE(!layer.multiplier_bits || s.with_multipliers > 0, ErrorCode::kInvalidInput, entry,
                 ": multiplier_bits is for Add and LeakyRelu; leave it out");
}

// "q.yaml:3: 'conv1'", or "configuration: 'conv1'" of entries that are not from a file.
std::string EntryName(const QuantizeConfig& config, const LayerConfig& layer,
                      const std::string& name) {
  return Cat(EntryPlace(config, layer), ": '", name, "'");
}

void CheckExactEntries(const Graph& graph, const QuantizeConfig& config) {
  std::map<std::string, Subjects> subjects;
  for (ValueId id : graph.inputs) ++subjects[graph.value(id).name].inputs;
  for (const Node& node : graph.nodes()) {
    const std::string& tensor = graph.value(node.outputs[0]).name;
    for (const std::string& name : {node.name, tensor, NameInModel(graph, tensor)})
      subjects[name].Add(graph, node);
  }
  for (const auto& [name, layer] : config.layers) {
    const auto found = subjects.find(name);
    if (found == subjects.end()) {
      std::set<std::string> names;
      for (const auto& subject : subjects) names.insert(subject.first);
      const std::string close = CloseNames(names, name);
      Fail(ErrorCode::kInvalidInput, EntryPlace(config, layer),
           ": the model has no layer or tensor '", name,
           close.empty() ? "'; --dump-graph passes lists the names"
                         : "'; did you mean " + close + "?");
    }
    CheckEntry(found->second, EntryName(config, layer, name), layer);
  }
}

std::set<std::string> Operators(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes()) names.insert(OpName(node.op));
  return names;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void CheckOperator(const std::set<std::string>& operators, const std::string& type,
                   const std::string& place) {
  RSHIFT_REQUIRE(operators.contains(type), ErrorCode::kInvalidInput, place,
                 ": the model has no operator of type '", type,
                 "' after fusion; its types are: ", Joined(operators),
                 type == "LSTM" || type == "GRU" || type == "RNN"
                     ? "; a recurrent layer is unrolled into these: ask for it by name under layers"
                     : "");
}

void CheckPatterns(const Graph& graph, const QuantizeConfig& config) {
  const std::set<std::string> operators = Operators(graph);
  for (const LayerPattern& pattern : config.patterns) {
    const std::string place = EntryPlace(config, pattern.layer);
    for (const std::string& type : pattern.types) CheckOperator(operators, type, place);
    Subjects subjects;
    for (ValueId id : graph.inputs) subjects.inputs += MatchesInput(pattern, graph.value(id).name);
    for (const Node& node : graph.nodes()) {
      if (Matches(pattern, graph, node)) subjects.Add(graph, node);
    }
    RSHIFT_REQUIRE(subjects.nodes + subjects.inputs > 0, ErrorCode::kInvalidInput, place, ": '",
                   pattern.glob, "' matches no layer or tensor",
                   pattern.types.empty() ? "" : " of that type",
                   "; --dump-graph passes lists the names");
    CheckEntry(subjects, EntryName(config, pattern.layer, pattern.glob), pattern.layer);
  }
  for (const auto& [type, layer] : config.types) {
    CheckOperator(operators, type, EntryPlace(config, layer));
    Subjects subjects;
    for (const Node& node : graph.nodes()) {
      if (type == OpName(node.op)) subjects.Add(graph, node);
    }
    CheckEntry(subjects, EntryName(config, layer, type), layer);
  }
}

}  // namespace

std::string EntryPlace(const QuantizeConfig& config, const LayerConfig& layer) {
  return layer.line == 0 ? "configuration" : Cat(config.where, ":", layer.line);
}

// Ranges and scales are of the model's tensors, and the table has others in their place.
void CheckScaledTensors(const Graph& graph, const QuantizeConfig& config) {
  const auto scaled = [&](ValueId id) {
    return id.valid() && graph.value(id).name.ends_with(kEqualizedSuffix);
  };
  for (const Node& node : graph.nodes()) {
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(), scaled);
    if (!reads && !scaled(node.outputs[0])) continue;
    const std::string& tensor = graph.value(node.outputs[0]).name;
    const LayerConfig layer = LayerOf(graph, node, config);
    const bool range = (layer.threshold || layer.low) && scaled(node.outputs[0]);
    const bool scales =
        (!layer.ascend.empty() || !layer.onednn.empty()) && (reads || scaled(node.outputs[0]));
    RSHIFT_REQUIRE(!(range || scales) || config.layers.contains(tensor), ErrorCode::kInvalidInput,
                   EntryPlace(config, layer), ": '", NameInModel(graph, tensor), "' has ",
                   range ? "a range" : "scales",
                   " there, and the calibration table scales channels that it ",
                   range ? "holds" : "reads or makes", "; give --equalize off");
  }
}

void CheckLayers(const Graph& graph, const QuantizeConfig& config) {
  CheckExactEntries(graph, config);
  CheckPatterns(graph, config);
  CheckScaledTensors(graph, config);
}

LayerConfig LayerOf(const Graph& graph, const Node& node, const QuantizeConfig& config) {
  LayerConfig layer;
  const std::string& tensor = graph.value(node.outputs[0]).name;
  auto by_tensor = config.layers.find(tensor);
  if (by_tensor == config.layers.end()) by_tensor = config.layers.find(NameInModel(graph, tensor));
  if (by_tensor != config.layers.end()) layer = by_tensor->second;
  const auto by_node = config.layers.find(node.name);
  if (by_node != config.layers.end()) Complete(&layer, by_node->second);
  for (size_t i = config.patterns.size(); i-- > 0;) {  // the last of the file wins
    const LayerPattern& pattern = config.patterns[i];
    if (Matches(pattern, graph, node)) Complete(&layer, pattern.layer);
  }
  const auto by_type = config.types.find(OpName(node.op));
  if (by_type != config.types.end()) Complete(&layer, by_type->second);
  return layer;
}

Profile ProfileOf(const Graph& graph, const Node& node, const QuantizeConfig& config,
                  const Profile& profile) {
  return config.empty() ? profile : LayerOf(graph, node, config).profile.value_or(profile);
}

bool HasConstantWeights(const Graph& graph, const Node& node) {
  const bool stack =
      std::holds_alternative<MatMul>(node.op) && graph.value(node.inputs[1]).shape.size() != 2;
  return IsConvOrMatMul(node.op) && !stack && !graph.value(node.inputs[0]).is_constant() &&
         graph.value(node.inputs[1]).is_constant();
}

LayerConfig InputOf(const std::string& input, const QuantizeConfig& config) {
  LayerConfig layer;
  const auto exact = config.layers.find(input);
  if (exact != config.layers.end()) layer = exact->second;
  for (size_t i = config.patterns.size(); i-- > 0;) {
    if (MatchesInput(config.patterns[i], input)) Complete(&layer, config.patterns[i].layer);
  }
  return layer;
}

std::map<std::string, ValueRange> FixedRanges(const Graph& graph, const CalibrationTable& table,
                                              const QuantizeConfig& config, QuantMode mode) {
  std::map<std::string, ValueRange> fixed;
  const auto add = [&](const std::string& tensor, const LayerConfig& layer) {
    if (!layer.threshold && !layer.low) return;
    const TensorRange* entry = table.Find(tensor);
    fixed[tensor] = RangeOf(layer, entry == nullptr || entry->min < 0, mode);
  };
  for (ValueId id : graph.inputs) {
    add(graph.value(id).name, InputOf(graph.value(id).name, config));
  }
  for (const Node& node : graph.nodes()) {
    add(graph.value(node.outputs[0]).name, LayerOf(graph, node, config));
  }
  return fixed;
}

}  // namespace rshift
