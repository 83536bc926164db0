// Float graph + ranges -> graph with integer operators. Formulas: quantize/NUMERICS.md.
#ifndef RSHIFT_QUANTIZE_QUANTIZE_H_
#define RSHIFT_QUANTIZE_QUANTIZE_H_

#include "graph/graph.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"
#include "quantize/report.h"
#include "quantize/types.h"

namespace rshift {

// `graph`: float, after RunPasses. Graph inputs and outputs stay f32 (Quantize/Dequantize nodes
// inside). A graph with HoldsQuantization() keeps its own parameters: `table` must be empty.
QuantizeResult QuantizeGraph(const Graph& graph, const CalibrationTable& table,
                             const QuantizeOptions& options);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_QUANTIZE_H_
