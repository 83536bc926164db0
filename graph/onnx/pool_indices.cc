// Where in the flattened input each maximum of a MaxPool lies: the windows are gathered into rows,
// ArgMax finds the tap, a table says where it is.
#include "graph/onnx/pool_indices.h"

#include <algorithm>
#include <limits>

#include "graph/onnx/entries.h"
#include "graph/onnx/expr.h"

namespace rshift {
namespace {

struct Axis {
  int64_t in, out, kernel, stride, dilation, before;
  int64_t stride_in, stride_place;  // of one step in the image, and in what the indices count
};

std::vector<Axis> ReadAxes(const OnnxNode& node, const Shape& x, const Shape& out) {
  const size_t dims = x.size() - 2;
  const auto kernel = Entries(node, "kernel_shape", dims, 1, 1),
             strides = Entries(node, "strides", dims, 1, 1),
             dilations = Entries(node, "dilations", dims, 1, 1);
  const auto pads = Entries(node, "pads", 2 * dims, 0, 0);
  const std::string mode = node.String("auto_pad", "NOTSET");
  const bool columns = node.Int("storage_order", 0) != 0;
  std::vector<Axis> axes(dims);
  for (size_t d = 0; d < dims; ++d) {
    Axis& a = axes[d];
    a = {x[d + 2], out[d + 2], kernel[d], strides[d], dilations[d], pads[d], 1, 1};
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t extent = (a.kernel - 1) * a.dilation + 1;
      const int64_t all = std::max<int64_t>((a.out - 1) * a.stride + extent - a.in, 0);
      a.before = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    }
    for (size_t e = d + 1; e < dims; ++e) a.stride_in *= x[e + 2];
    for (size_t e = columns ? 0 : d + 1; e < (columns ? d : dims); ++e) a.stride_place *= x[e + 2];
  }
  return axes;
}

// For every tap of every window: the element of the image that it reads (`outside` in the pads),
// and its place.
void FillTaps(const std::vector<Axis>& axes, int64_t outside, std::vector<int64_t>& elements,
              std::vector<int64_t>& places) {
  Shape counts;
  for (const Axis& a : axes) counts.push_back(a.out);
  for (const Axis& a : axes) counts.push_back(a.kernel);
  const Shape strides = Strides(counts);
  const size_t dims = axes.size();
  for (int64_t i = 0; i < NumElements(counts); ++i) {
    int64_t element = 0, place = 0;
    bool inside = true;
    for (size_t d = 0; d < dims; ++d) {
      const Axis& a = axes[d];
      const int64_t window = i / strides[d] % a.out, tap = i / strides[dims + d] % a.kernel;
      const int64_t at = window * a.stride + tap * a.dilation - a.before;
      inside = inside && at >= 0 && at < a.in;
      element += at * a.stride_in;
      place += at * a.stride_place;
    }
    elements.push_back(inside ? element : outside);
    places.push_back(inside ? place : 0);
  }
}

}  // namespace

void ImportPoolIndices(OnnxNode& node, const Shape& out) {
  const Expr x = FloatIn(node, 0);
  const Shape shape = x.shape();
  const std::vector<Axis> axes = ReadAxes(node, shape, out);
  int64_t size = 1, windows = 1, taps = 1;
  for (const Axis& a : axes) {
    CheckConstantSize(node, a.kernel);
    size *= a.in;
    windows *= a.out;
    taps *= a.kernel;
    CheckConstantSize(node, taps);
    CheckConstantSize(node, windows);
  }
  CheckConstantSize(node, windows * taps);
  std::vector<int64_t> elements, places;
  FillTaps(axes, size, elements, places);
  const int64_t images = shape[0] * shape[1];
  // A window without a number above the least float chooses a tap in the image all the same, as the
  // pads' element is below it.
  const Expr padded =
      Padded(Reshaped(x, {images, size}), 1, 0, 1, -std::numeric_limits<double>::infinity());
  const Expr rows = Reshaped(Gathered(padded, Ints(node, {windows * taps}, elements), 1),
                             {images, windows, taps});
  const Expr tap = Reshaped(ArgMaxOf(rows, 2), {images, windows});
  const Expr at = tap + Iota(node, windows, 2, 1) * static_cast<double>(taps);
  const Expr place = Gathered(Ints(node, {windows * taps}, places), at, 0) +
                     Iota(node, images, 2, 0) * static_cast<double>(size);
  GiveReshaped(place, out, 1);
}

}  // namespace rshift
