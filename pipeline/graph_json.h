// Programs and models as graphs for a picture: what reads what, types, scales, memory.
#ifndef RSHIFT_PIPELINE_GRAPH_JSON_H_
#define RSHIFT_PIPELINE_GRAPH_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "codegen/container/image.h"
#include "codegen/memory/report.h"
#include "graph/graph.h"
#include "quantize/types.h"

namespace rshift {

// Both give {"facts": {name: text}, "tensors": [...], "nodes": [...], "edges": [[node, node,
// tensor]]}; numbers are indices, and nodes are in an order in which everything is made before it
// is read. A tensor has name, type, shape, and scale and zero_point where it is quantized. A node
// has name, op, kind (input, output, integer, float, move, boundary), makes (a tensor, -1 for
// outputs), and a reason where one is known.

// Nodes are inputs, commands in their order, outputs; boundary: Quantize and Dequantize. An edge
// says that a command has written bytes that the other reads. A command's constants are tensors,
// too: "constants". "memory" is MemoryJson.
nlohmann::json ProgramGraphJson(const ProgramImage& image);

// {"arena_bytes", with "slack_bytes" behind its last block, "lower_bound_bytes" and the "gap_bytes"
// that the blocks take beyond it, "blocks": [{name, offset, bytes, first_command, last_command}]}.
nlohmann::json MemoryJson(const MemoryReport& report);

// `graph` before quantization, and what `plan` makes of its nodes; constants that nodes read are
// "constants". move: has no f32 activation, and is copied as it is.
nlohmann::json ModelGraphJson(const Graph& graph, const QuantizationPlan& plan);

// Adds "layers", for each tensor the figures that `report` (model_deploy --report-json; `where` in
// messages) has of it. Throws kInvalidInput where it is no such report, or of another program.
void AddFigures(const nlohmann::ordered_json& report, const std::string& where,
                nlohmann::json& graph);

// The picture as one HTML page: the graph, and the memory map of a program.
std::string GraphHtml(const std::string& title, const nlohmann::json& graph);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_GRAPH_JSON_H_
