// The --config entries, resolved against a graph.
#ifndef RSHIFT_QUANTIZE_OVERRIDES_H_
#define RSHIFT_QUANTIZE_OVERRIDES_H_

#include <map>
#include <string>

#include "graph/graph.h"
#include "quantize/config.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

// "q.yaml:3", or "configuration" of an entry that is not from a file: how messages begin.
std::string EntryPlace(const QuantizeConfig& config, const LayerConfig& layer);

// Throws kInvalidInput for an entry that the model has nothing for, listing the names or operators
// that look like it, and for keys that mean nothing where they stand (per_channel without weights,
// the mode of an input).
void CheckLayers(const Graph& graph, const QuantizeConfig& config);

// What the configuration says about a node, key by key: its entry under the output's name, else
// under the node's name, else the last wildcard that matches either, else its operator's.
LayerConfig LayerOf(const Graph& graph, const Node& node, const QuantizeConfig& config);

// A convolution or matrix product of an activation with constant weights.
bool HasConstantWeights(const Graph& graph, const Node& node);

// What it says about an input of the model.
LayerConfig InputOf(const std::string& input, const QuantizeConfig& config);

// The node's own profile, or `profile`.
Profile ProfileOf(const Graph& graph, const Node& node, const QuantizeConfig& config,
                  const Profile& profile);

// Ranges of the entries, by tensor name. low/high and threshold stand in for each other in the
// other mode.
std::map<std::string, ValueRange> FixedRanges(const Graph& graph, const CalibrationTable& table,
                                              const QuantizeConfig& config, QuantMode mode);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OVERRIDES_H_
