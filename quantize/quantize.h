// Float graph + ranges -> graph with integer operators. Formulas: quantize/NUMERICS.md.
#ifndef RSHIFT_QUANTIZE_QUANTIZE_H_
#define RSHIFT_QUANTIZE_QUANTIZE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cost_model.h"
#include "graph/graph.h"
#include "quantize/profile.h"
#include "quantize/ranges/ranges.h"
#include "quantize/ranges/table.h"

namespace rshift {

// What the chip can do: configs/targets/*.yaml.
struct Target {
  std::string name = "cpu";
  // Bits of the multiplier, sign included: Add (symmetric), LeakyRelu / PRelu slopes; 8 or 16.
  int add_multiplier_bits = 16, leaky_multiplier_bits = 16;
  // Of Conv, MatMul and their kin; 25 (which binary32 holds) or 32. Requantization always has 32.
  int conv_multiplier_bits = 25;
  bool per_channel_weights = true;
  CostModel cost;  // decides nothing but how many threads are worth waking
};
Target ReadTarget(const std::string& yaml_text, const std::string& where);

// --config: overrides by node name, output tensor name, wildcard or operator type. What wins over
// what: configs/README.md.
struct LayerConfig {
  std::optional<bool> float32;  // mode: f32
  std::optional<float> threshold, low, high;
  std::optional<bool> per_channel;
  std::optional<int> multiplier_bits;
  int line = 0;  // of the entry in its file; 0: not from a file
};
// An entry for every node and tensor whose name matches.
struct LayerPattern {
  std::string glob;                // `*`: any characters, also none and '/'; `?`: one
  std::vector<std::string> types;  // operators the node must be one of; empty: any
  LayerConfig layer;
};
struct QuantizeConfig {
  std::map<std::string, LayerConfig> layers;  // by exact name
  std::vector<LayerPattern> patterns;         // in the file's order: later ones win
  std::map<std::string, LayerConfig> types;   // by operator
  std::string where;                          // the file, for messages
};
// Throws kInvalidInput with line numbers; unknown keys are errors. Entries that the model has
// nothing for are found by QuantizeGraph.
QuantizeConfig ReadQuantizeConfig(const std::string& yaml_text, const std::string& where);

struct QuantizeOptions {
  QuantMode mode = QuantMode::kSymmetric;
  // A model with its own parameters decides the mode, unless the user did: then true.
  bool mode_given = false;
  Profile profile;
  Target target;
  QuantizeConfig config;
};

struct QuantizeReport {
  std::vector<RangeChange> range_changes;
  // Nodes left in F32: name, operator, why.
  struct FloatNode {
    std::string node, op, reason;
  };
  std::vector<FloatNode> float_nodes;
  // Integer nodes whose function integers follow badly (quantize/sensitive.h).
  struct Note {
    std::string node, op, text;
  };
  std::vector<Note> notes;
  // Channels repaired so that accumulator or bias fit int32, and, with equal scales, channels whose
  // multiplier was flushed to zero.
  struct Repair {
    std::string node;
    int64_t channel;
    std::string reason;
    float scale_before, scale_after;
  };
  std::vector<Repair> repairs;
  // Models with their own parameters: who gave each tensor its type.
  struct TypeSource {
    std::string tensor;
    DType dtype = DType::kS8;
    QuantParams quant;
    std::string source;  // "QuantizeLinear conv1_quant", "moved from t0_q"
  };
  std::vector<TypeSource> type_sources;
};

struct QuantizeResult {
  Graph graph;
  QuantizeReport report;
  QuantMode mode = QuantMode::kSymmetric;  // that of the options, or the model's own
};

// Whether the model holds its own quantization: QuantizeLinear or DequantizeLinear of activations.
bool HoldsQuantization(const Graph& graph);

// `graph`: float, after RunPasses. Graph inputs and outputs stay f32 (Quantize/Dequantize nodes
// inside). A graph with HoldsQuantization() keeps its own parameters: `table` must be empty.
QuantizeResult QuantizeGraph(const Graph& graph, const CalibrationTable& table,
                             const QuantizeOptions& options);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_QUANTIZE_H_
