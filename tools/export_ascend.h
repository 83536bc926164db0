// The constants of a quantized model as the files of the CANN document: for each layer const_0.bin
// (s8 weights), const_1.bin (s32 bias), const_2.bin (deq_scale), and its scales.
#ifndef RSHIFT_TOOLS_EXPORT_ASCEND_H_
#define RSHIFT_TOOLS_EXPORT_ASCEND_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace rshift {

struct AscendFiles {
  nlohmann::ordered_json manifest;
  std::string records;                                       // scale_d, offset_d, scale_w as text
  std::vector<std::pair<std::string, std::string>> content;  // path in the folder, bytes
};

// Of a graph that QuantizeGraph has made under profile ascend. Throws kInvalidInput when no layer
// is quantized.
AscendFiles ExportAscend(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_EXPORT_ASCEND_H_
