// A scale set, given to a model in place of a calibration table.
#ifndef RSHIFT_INTEROP_APPLY_SCALES_H_
#define RSHIFT_INTEROP_APPLY_SCALES_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "interop/scale_set.h"
#include "quantize/config.h"
#include "quantize/ranges/ranges.h"
#include "quantize/ranges/table.h"

namespace rshift {

struct AppliedScales {
  CalibrationTable table;          // holds every tensor that the graph wants
  std::vector<std::string> notes;  // what could not be taken as it is, one line each
};

// `imported`: the graph of the ONNX file. `graph`: the same after RunPasses; its weights get the
// set's integers (Value::origin) where the set has scales for them. `base`: a table for what the
// set does not say; null: none. `config` gets the operators that stay in F32; what it says already
// wins.
//
// A scale is taken as it is: symmetric signed integers keep it to the last bit, all others within
// two units of the last place, zero points exactly. A threshold is a threshold of our own
// (S = threshold / 128). Tensors without entry get theirs from the tensors whose values they are
// (Reshape, MaxPool), else from `base`, else from the operators around them, as propagation would
// (ForwardCalibration, BackwardCalibration), else from the function that makes them (a Sigmoid has
// [0, 1]). At the model's end, where other tools leave results in floating point, the operators of
// tensors without scale stay in F32.
//
// Throws kInvalidInput: no name of the set is the model's; tensors within the model are left
// without a range, with the set's nearest names; weights with another number of channels.
AppliedScales ApplyScales(const ScaleSet& set, const Graph& imported, const CalibrationTable* base,
                          QuantMode mode, Graph* graph, QuantizeConfig* config);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_APPLY_SCALES_H_
