// Operators that a search gives one type: a product or a sum of tensors, and what follows it
// element by element.
#ifndef RSHIFT_PIPELINE_SEARCH_GROUPS_H_
#define RSHIFT_PIPELINE_SEARCH_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"

namespace rshift {

struct OperatorGroup {
  std::vector<std::string> tensors;  // that its operators make, in graph order
  std::vector<std::string> ops;      // "Conv", by tensor
  std::vector<std::string> inputs;   // of the model, read here first
  std::vector<bool> wide;            // by tensor: it can have 16 bits
  std::vector<bool> wide_inputs;     // likewise
  std::vector<size_t> readers;       // groups that read its results
  int64_t macs = 0;                  // multiply-accumulates
  int64_t elements = 0;              // of its tensors
  bool can_widen() const;
};

// In graph order. Operators that have no integer form, those whose type the configuration says, and
// names that --config would take for wildcards are in none. `floating`: after RunPasses and
// Equalize.
std::vector<OperatorGroup> GroupOperators(const Graph& floating, const CalibrationTable& table,
                                          const QuantizeOptions& options);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_GROUPS_H_
