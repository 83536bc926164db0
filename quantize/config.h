// --config: overrides for single nodes and tensors. What wins over what: configs/README.md.
#ifndef RSHIFT_QUANTIZE_CONFIG_H_
#define RSHIFT_QUANTIZE_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quantize/ascend_attributes.h"
#include "quantize/onednn_config.h"
#include "quantize/profile.h"

namespace rshift {

// What an entry says. Entries are by node name, output tensor name, wildcard or operator type.
struct LayerConfig {
  std::optional<bool> float32;  // mode: f32
  std::optional<float> threshold, low, high;
  std::optional<bool> per_channel;
  std::optional<int> multiplier_bits;
  std::optional<int> activation_bits;  // 8 or 16, of the result (quantize/int16_plan.h)
  std::optional<int> weight_bits;      // 8 or 4 (quantize/weight_bits.h)
  std::optional<Profile> profile;      // this node's arithmetic, in place of --profile
  OneDnnConfig onednn{};               // profile onednn
  AscendConfig ascend{};               // profile ascend
  int line = 0;                        // of the entry in its file; 0: not from a file
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
  bool empty() const { return layers.empty() && patterns.empty() && types.empty(); }
};
// Files it names (ascend_records) are beside `where`.
// Throws kInvalidInput with line numbers; unknown keys are errors. Entries that the model has
// nothing for are found by QuantizeGraph.
QuantizeConfig ReadQuantizeConfig(const std::string& yaml_text, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_CONFIG_H_
