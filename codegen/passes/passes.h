// Graph -> Graph, between quantization and Compile: integer convolutions get the shape in which the
// target computes the same bytes soonest.
#ifndef RSHIFT_CODEGEN_PASSES_PASSES_H_
#define RSHIFT_CODEGEN_PASSES_PASSES_H_

#include "graph/graph.h"
#include "target/target.h"

namespace rshift {

// The passes of this folder in their order. Values that the graph had before keep their names,
// nodes between them are named `node__together`, `node__phase0` and so on. Afterwards no
// QConvTranspose is left, which Compile has no command for; a graph without convolutions of
// integers stays as it is.
Graph RunTargetPasses(const Graph& graph, const Target& target);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_PASSES_H_
