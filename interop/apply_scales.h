// A scale set, given to a model in place of a calibration table.
#ifndef RSHIFT_INTEROP_APPLY_SCALES_H_
#define RSHIFT_INTEROP_APPLY_SCALES_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "interop/model_names.h"
#include "interop/scale_set.h"
#include "quantize/config.h"
#include "quantize/ranges/ranges.h"
#include "quantize/ranges/table.h"

namespace rshift {

// For the report: what became of the names of a set.
struct ScalesTrace {
  std::string file, format, sha256;                         // filled by the caller: file, sha256
  std::vector<std::string> used;                            // in the set's order
  std::vector<std::pair<std::string, std::string>> unused;  // name and why, likewise
};

struct AppliedScales {
  CalibrationTable table;          // holds every tensor that the graph wants
  std::vector<std::string> notes;  // what could not be taken as it is, one line each
  ScalesTrace trace;
};

// `imported`: the graph of the ONNX file; `names`: of the same file. `graph`: the same after
// RunPasses; its weights get the set's integers (Value::origin) where the set has scales for them.
// `base`: a table for what the set does not say; null: none. `config` gets the operators that stay
// in F32; what it says already wins.
//
// A scale is taken as it is, to the last bit wherever a range of floats gives it (interop/
// entry_range.h), zero points exactly. A threshold is a threshold of our own (S = threshold / 128).
// Tensors and weights in floating point keep the operators that make and read them in F32. Tensors
// without entry get theirs from the tensors whose values they are (Reshape, MaxPool), else from
// `base`, else from the operators around them, as propagation would (ForwardCalibration,
// BackwardCalibration), else from the function that makes them (a Sigmoid has [0, 1]). At the
// model's end, where other tools leave results in floating point, the operators of tensors without
// scale stay in F32.
//
// Throws kInvalidInput: no name of the set, or no operator of a set of precisions, is the model's;
// tensors within the model are left without a range, with the set's nearest names; weights with
// another number of channels.
AppliedScales ApplyScales(const ScaleSet& set, const Graph& imported, const ModelNames& names,
                          const CalibrationTable* base, QuantMode mode, Graph* graph,
                          QuantizeConfig* config);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_APPLY_SCALES_H_
