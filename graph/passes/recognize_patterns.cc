#include "graph/passes/functions.h"
#include "graph/passes/passes.h"
#include "graph/passes/patterns.h"

namespace rshift {

Graph RecognizePatterns(Graph graph) {
  graph = RecognizeFunctions(std::move(graph));
  Matcher norms(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (RecognizeLayerNorm(graph, norms, i) || RecognizeSoftmax(graph, norms, i)) continue;
    if (RecognizeLogSoftmax(graph, norms, i)) continue;
    DropSoftmaxGuard(graph, norms, i);
    DropEmptyMask(graph, norms, i);
  }
  return Tidy(std::move(graph));
}

}  // namespace rshift
