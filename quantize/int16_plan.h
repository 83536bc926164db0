// Which activations are held in 16 bits: those of nodes that are asked for it (activation_bits),
// and of the residual stream (residual_bits). Profile tpu, models without integers of their own.
#ifndef RSHIFT_QUANTIZE_INT16_PLAN_H_
#define RSHIFT_QUANTIZE_INT16_PLAN_H_

#include <map>
#include <set>
#include <vector>

#include "graph/graph.h"
#include "quantize/ops/recurrent.h"
#include "quantize/options.h"
#include "quantize/ranges/ranges.h"
#include "quantize/report.h"
#include "quantize/types.h"

namespace rshift {

// Whether options or configuration ask for 16 bits anywhere.
bool AsksForInt16(const QuantizeOptions& options);

// Fills `types`' int16 and reads_int16. `ranges`: of all that calibration saw.
//
// A node is asked by `activation_bits: 16` of the configuration, or by --activation-bits 16 where
// the configuration does not say 8. Its result then has 16 bits, and it reads 16 bits where its
// inputs have them. With --residual-bits 16, so have the results of sums of two activations, and
// what those add, back through movements; convolutions and matrix products behind the stream read 8
// bits of it. Other operators of 16-bit form read 16 bits wherever they find them; all else reads 8
// bits, requantized.
//
// The results of nodes in F32 are quantized to 16 bits where such a node would have had them.
// Movements between a result of 16 bits and a node that is asked for them carry them.
//
// `bound`: nodes whose form is not theirs alone (fused operators): 8 bits. Of `cells` the outputs
// may have 16 bits, and what the reset gate leaves. A node that is asked by name or wildcard and
// has no 16-bit form is in the report's notes.
//
// `products`: of two activations, and the value behind a factor of theirs that they write in place
// of their own.
void PlanInt16(const Graph& graph, const QuantizationPlan& plan, const RangeResult& ranges,
               const QuantizeOptions& options, const RecurrentCells& cells,
               const std::set<size_t>& bound, const std::map<size_t, ValueId>& products,
               ValueTypes* types, QuantizeReport* report);

// Throws kInvalidInput where 16 bits are asked of a model or under a profile that has none.
void CheckInt16(const Graph& graph, const QuantizeOptions& options);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INT16_PLAN_H_
