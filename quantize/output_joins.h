// Where a model's outputs are joined from tensors whose ranges lie far apart: boxes in pixels
// beside scores between 0 and 1.
#ifndef RSHIFT_QUANTIZE_OUTPUT_JOINS_H_
#define RSHIFT_QUANTIZE_OUTPUT_JOINS_H_

#include <vector>

#include "graph/graph.h"
#include "quantize/ops/ops.h"
#include "quantize/ranges/table.h"

namespace rshift {

// A join is far apart when its widest input is more than so many times as wide as its narrowest: of
// 255 steps the narrow one would have fewer than 32.
inline constexpr double kFarApart = 8;

// By node: a Concat behind which no convolution or matrix product stands, before which one does,
// and which joins what a Sigmoid or Softmax made with values whose observed range is wider than
// kFarApart; or which only moves on to the model's outputs and whose inputs' observed ranges lie
// far apart, as scores of two feature maps. `kinds`: by node, kFloat where it reads or writes no
// f32 activation. Tensors that the table lacks count for nothing.
std::vector<bool> OutputJoins(const Graph& graph, const std::vector<OpKind>& kinds,
                              const CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OUTPUT_JOINS_H_
