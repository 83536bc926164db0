// The second moments of what a product with weights reads: X^T X over the rows that its windows
// make of a tensor, enough to know how much any change of the weights changes the outputs.
#ifndef RSHIFT_PIPELINE_INPUT_GRAM_H_
#define RSHIFT_PIPELINE_INPUT_GRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// A tensor [images, height, width, channels] as rows, one for each position of the output: a row
// has channels / groups * taps numbers, channel by channel, each with its taps row by row, as a
// Conv's weights have; 0 where a tap lies in the pads.
struct WindowRows {
  int64_t images = 1, height = 1, width = 1, channels = 0;
  int64_t out_height = 1, out_width = 1;
  Window window;  // default: one tap
  int64_t groups = 1;
  int64_t taps() const { return window.kernel_h * window.kernel_w; }
  int64_t inputs() const { return channels / groups * taps(); }  // numbers in a row
  int64_t rows() const { return images * out_height * out_width; }
};

// Where a tap of an output position reads, as an index of a channel 0; negative: in the pads.
int64_t TapPlace(const WindowRows& rows, int64_t position, int64_t tap);

// Of a Conv or MatMul of ReadProduct; nothing for any other operator.
std::optional<WindowRows> WindowRowsOf(const Graph& graph, const Node& node);

// Exact sums over rows: the order in which they are added changes nothing.
struct InputGram {
  int64_t groups = 0, inputs = 0, rows = 0;
  std::vector<int64_t> products;  // [groups, inputs, inputs]; filled where the second <= the third
  void Add(const InputGram& other);  // to an empty one: as `other`
};
// The bytes that one takes.
size_t GramBytes(const WindowRows& rows);

// Every `step`-th row, from `first` on.
struct SomeRows {
  int64_t first = 0, step = 1;
  int64_t Of(int64_t rows) const { return first < rows ? (rows - first - 1) / step + 1 : 0; }
};
// How many rows are multiplied where there are so many: some more, which are 0.
int64_t MultipliedRows(int64_t rows);

// Of integers q - zero_point: `x` holds rows' tensor in s8 or u8.
InputGram GramOf(const WindowRows& rows, DType dtype, int32_t zero_point,
                 std::span<const std::byte> x, const SomeRows& some = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_INPUT_GRAM_H_
