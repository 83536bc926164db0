// Convolutions of few output channels, which the kernels would pad to 16: neighbouring pixels of a
// row become channels of one.
//
//   y[h][x pixels + j][oc] = y'[h][x][j oc_count + oc],  0 <= j < pixels
//
// y' is the convolution with the stride `pixels`, whose window is pixels - 1 columns wider; channel
// (j, oc) has the weights of oc from its column j on, and Z_w elsewhere, which adds 0. In memory,
// y' is y.
#ifndef RSHIFT_CODEGEN_PASSES_UNROLL_WIDTH_H_
#define RSHIFT_CODEGEN_PASSES_UNROLL_WIDTH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "target/conv_forms.h"

namespace rshift {

// Every QConv of one group but those with an addend or an f32 result.
Graph UnrollWidth(const Graph& graph, const ConvForms& forms);

// How many pixels make the convolution of weights [OC, IC, KH, KW] to y [N, H, W, OC] cheapest; 1
// where nothing is gained, or little, of a small image.
int64_t PixelsPerCommand(const ConvForms& forms, const QConv& op, const Shape& weights,
                         const Shape& y);

// The window that computes `pixels` of them over `in` columns, for `width` output columns or the
// next multiple.
Window WidenWindow(const Window& window, int64_t pixels, int64_t in, int64_t width);

// Weights [OC, IC, KH, KW] -> [pixels OC, IC, KH, KW + pixels - 1]. fill: Z_w, one for
// each OC, or empty for 0.
std::vector<int8_t> WidenWeights(std::span<const int8_t> weights, const Shape& shape,
                                 int64_t pixels, std::span<const int32_t> fill);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_UNROLL_WIDTH_H_
