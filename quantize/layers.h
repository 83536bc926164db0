// The --config entries, resolved against a graph.
#ifndef RSHIFT_QUANTIZE_LAYERS_H_
#define RSHIFT_QUANTIZE_LAYERS_H_

#include <map>
#include <string>

#include "graph/graph.h"
#include "quantize/quantize.h"

namespace rshift {

// Throws kInvalidInput for a name that is neither a node nor a tensor, listing those that look like
// it, and for keys that mean nothing where they stand (per_channel without weights, the mode of an
// input).
void CheckLayers(const Graph& graph, const QuantizeConfig& config);

// What the configuration says about a node: its entry under the output's name, completed by that
// under the node's name.
LayerConfig LayerOf(const Graph& graph, const Node& node, const QuantizeConfig& config);

// Ranges of the entries, by tensor name. low/high and threshold stand in for each other in the
// other mode.
std::map<std::string, ValueRange> FixedRanges(const Graph& graph, const CalibrationTable& table,
                                              const QuantizeConfig& config, QuantMode mode);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_LAYERS_H_
