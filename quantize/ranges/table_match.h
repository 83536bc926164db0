// Which tensors a table must hold, and looking them up.
#ifndef RSHIFT_QUANTIZE_RANGES_TABLE_MATCH_H_
#define RSHIFT_QUANTIZE_RANGES_TABLE_MATCH_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/ranges/table.h"

namespace rshift {

// TPU-MLIR calls tensors "<ONNX name>_<operator>": the ONNX name.
std::string WithoutOperator(const std::string& name);

// For each value: the value whose table entry it uses. Itself; for layout copies the value they are
// made from; invalid for constants and values that are not f32.
std::vector<ValueId> TableSources(const Graph& graph);

// For each value: the entry it uses, null where TableSources is invalid. Throws kInvalidInput
// naming the tensors that the table lacks, and those it has that the model lacks.
std::vector<const TensorRange*> MatchTable(const Graph& graph, const CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_TABLE_MATCH_H_
