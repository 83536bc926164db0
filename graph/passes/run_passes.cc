// The one pass list. Change kPassListVersion with it.
#include "graph/passes/passes.h"

namespace rshift {

Graph RunPasses(Graph graph) {
  graph = RemoveIdentity(std::move(graph));
  graph = RemoveRedundantTransposes(std::move(graph));  // pairs that cancel stand in no fold's way
  graph = RecognizePatterns(
      std::move(graph));  // before constants and clips vanish into their neighbours
  graph = FoldBatchNorm(std::move(graph));
  graph = FoldAffine(std::move(graph));
  graph = FoldPad(std::move(graph));
  graph = FuseActivation(std::move(graph));
  graph = ToNhwc(graph);
  graph = RemoveIdentity(std::move(graph));
  graph.Check();
  return graph;
}

}  // namespace rshift
