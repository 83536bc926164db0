// The one pass list. Change kPassListVersion with it.
#include "graph/passes/onnx_order.h"
#include "graph/passes/passes.h"

namespace rshift {

Graph RunPassesInOnnxOrder(Graph graph) {
  graph = RemoveIdentity(std::move(graph));
  graph = RemoveRedundantTransposes(std::move(graph));  // pairs that cancel stand in no fold's way
  graph = RecognizePatterns(
      std::move(graph));  // before constants and clips vanish into their neighbours
  graph = FoldBatchNorm(std::move(graph));
  graph = FoldAffine(std::move(graph));
  graph = FoldPad(std::move(graph));
  return FuseActivation(std::move(graph));
}

Graph RunPasses(Graph graph) {
  graph = ToNhwc(RunPassesInOnnxOrder(std::move(graph)));
  graph = RemoveIdentity(std::move(graph));
  graph.Check();
  return graph;
}

}  // namespace rshift
