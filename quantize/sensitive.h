// Functions that integers cannot follow: poles, and steps that are large beside the output's range.
#ifndef RSHIFT_QUANTIZE_SENSITIVE_H_
#define RSHIFT_QUANTIZE_SENSITIVE_H_

#include <cstddef>
#include <set>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/plan.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Of the integer functions of one tensor (Tan, Log, Reciprocal, Div of a number by it, ...): those
// where, within what calibration saw of the input, the function has no finite value, one step of
// the input moves the output by more than an eighth of its range, or all of them together give less
// than an eighth of what calibration saw. In graph order. `of_cells`: nodes of recurrent cells,
// which have no functions of bytes.
std::vector<QuantizeReport::Note> FindSensitive(const Graph& graph, const QuantizationPlan& plan,
                                                const ValueTypes& types,
                                                const CalibrationTable& table,
                                                const std::set<size_t>& of_cells);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_SENSITIVE_H_
