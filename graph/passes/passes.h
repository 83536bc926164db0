// Graph -> Graph functions, one per file. Every pass keeps the names of the values that survive.
#ifndef RSHIFT_GRAPH_PASSES_PASSES_H_
#define RSHIFT_GRAPH_PASSES_PASSES_H_

#include "graph/graph.h"

namespace rshift {

// Bumped when the list or its order changes: a calibration table names the version it was made
// with.
inline constexpr int kPassListVersion = 5;

Graph RemoveIdentity(
    Graph graph);  // Identity, Dropout, Cast to the same type, Reshape/Transpose that do nothing
Graph FoldBatchNorm(
    Graph graph);  // into the Conv/ConvTranspose/MatMul before it; else Mul + Add (per channel)
Graph FoldAffine(
    Graph graph);  // constant per-channel Mul/Add behind Conv/MatMul into weights and bias
Graph FoldPad(Graph graph);            // Pad into Conv, AveragePool and MaxPool windows
Graph FuseActivation(Graph graph);     // single-use Clip into Conv, ConvTranspose, MatMul, Add
Graph RecognizePatterns(Graph graph);  // SiLU, GELU, LayerNorm, Softmax from what they are made of
Graph RemoveRedundantTransposes(Graph graph);

// Spatial operators read and write NHWC (see base/layout.h). Transposes are inserted where a plain
// tensor is needed, merged and cancelled; weights behind Flatten are permuted instead. Graph inputs
// and outputs stay in ONNX order.
Graph ToNhwc(const Graph& graph);
// Transpose nodes that move data (not those that are reshapes): printed per model.
int CountTransposes(const Graph& graph);

// All of the above in the order that every tool uses.
Graph RunPasses(Graph graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_PASSES_PASSES_H_
