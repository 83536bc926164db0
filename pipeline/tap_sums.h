// What a product with weights reads of its input, tap by tap: enough to know the mean of its
// outputs without computing one of them.
#ifndef RSHIFT_PIPELINE_TAP_SUMS_H_
#define RSHIFT_PIPELINE_TAP_SUMS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// Rows (or columns) of an image: first, first + step, ... `count` of them.
struct Progression {
  int64_t first = 0, step = 1, count = 0;
};

// Where the taps of a window meet the input; what lies in the pads is met by none.
struct TapGeometry {
  int64_t images = 1, height = 1, width = 1, channels = 0;  // of the input, in this order
  std::vector<Progression> rows, columns;                   // by row and column of the kernel
  int64_t positions = 0;                                    // of the output, of all images
  size_t taps() const { return rows.size() * columns.size(); }
  // How many elements of a channel tap `tap` (row-major) meets.
  int64_t Met(size_t tap) const {
    return images * rows[tap / columns.size()].count * columns[tap % columns.size()].count;
  }
};

// `node`: a Conv, ConvTranspose or MatMul of ReadProduct (quantize/equalize/product_weights.h).
TapGeometry TapGeometryOf(const Graph& graph, const Node& node);

// sums[tap * channels + channel] of what the taps meet. Integers exactly; floats in a fixed order.
std::vector<double> TapSums(const TapGeometry& geometry, const float* x);
std::vector<int64_t> TapSums(const TapGeometry& geometry, const int8_t* x);
std::vector<int64_t> TapSums(const TapGeometry& geometry, const uint8_t* x);
std::vector<int64_t> TapSums(const TapGeometry& geometry, const int16_t* x);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_TAP_SUMS_H_
