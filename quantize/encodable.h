// Whether a program can hold the numbers of an integer graph.
#ifndef RSHIFT_QUANTIZE_ENCODABLE_H_
#define RSHIFT_QUANTIZE_ENCODABLE_H_

#include "graph/graph.h"

namespace rshift {

// Throws kInvalidInput that names the node and the scales of its tensors when a factor or offset
// derived from them is infinite, not a number, or beyond what the command holds: ranges that are
// very far apart do that. What passes is accepted by the program's verifier.
void CheckEncodable(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_ENCODABLE_H_
