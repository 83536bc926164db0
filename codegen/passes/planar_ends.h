// Operators of floats between two Transposes, in the order in which the model has the elements.
#ifndef RSHIFT_CODEGEN_PASSES_PLANAR_ENDS_H_
#define RSHIFT_CODEGEN_PASSES_PLANAR_ENDS_H_

#include "graph/graph.h"

namespace rshift {

// Where a tensor in ONNX order is put into NHWC for operators that compute as well in ONNX order,
// and what they make is put back, both Transposes go: nearest Resize and the functions of two
// tensors take their dimensions in any order; a pool reads each channel as an image of one channel;
// convolutions with one filter for each channel, and of single pixels, are commands of their own.
// Other operators stay as they are, and so do these when one of their neighbours wants NHWC.
// The same bytes, but of a mean of a whole image, whose sum is in another order, and of
// convolutions on a CPU without AVX-512, where oneDNN adds the bias first.
Graph PlanarEnds(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_PLANAR_ENDS_H_
