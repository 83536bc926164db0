// Transposed convolutions as convolutions of stride 1 (sub-pixel convolution), whose outputs are
// put between each other: [N, H', W', (row phase, column phase, C)] -> [N, H, W, C]. Which
// convolution computes which phases: subpixel_phases.h. The bias of a phase folds Z_x of its own
// taps, Z_w stands where the window of a part has taps that the phase has not: the sums are those
// of the definition, term by term.
#ifndef RSHIFT_CODEGEN_PASSES_SUBPIXEL_TRANSPOSE_H_
#define RSHIFT_CODEGEN_PASSES_SUBPIXEL_TRANSPOSE_H_

#include <optional>

#include "graph/graph.h"
#include "target/conv_forms.h"

namespace rshift {

// Every QConvTranspose. Without forms no product is computed but those of the definition.
Graph SubpixelTranspose(const Graph& graph, const std::optional<ConvForms>& forms);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_SUBPIXEL_TRANSPOSE_H_
