// MaxUnpool: each element of the result asks the windows that cover it whether theirs is its
// maximum.
#include <algorithm>

#include "graph/onnx/entries.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

struct Windows {
  Shape in, out;  // of the pooled image and of the one that was pooled
  std::vector<int64_t> kernel, strides, pads;
};

// For every element of the image: the window in which it is tap `tap`, or `none`.
std::vector<int64_t> WindowsOf(const Windows& w, int64_t tap, int64_t none) {
  const Shape out = Strides(w.out), in = Strides(w.in), taps = Strides(w.kernel);
  std::vector<int64_t> windows(NumElements(w.out));
  for (size_t i = 0; i < windows.size(); ++i) {
    int64_t window = 0;
    bool found = true;
    for (size_t d = 0; d < w.out.size(); ++d) {
      const int64_t at =
          static_cast<int64_t>(i) / out[d] % w.out[d] + w.pads[d] - tap / taps[d] % w.kernel[d];
      found = found && at >= 0 && at % w.strides[d] == 0 && at / w.strides[d] < w.in[d];
      window += at / w.strides[d] * in[d];
    }
    windows[i] = found ? window : none;
  }
  return windows;
}

// The size that was pooled, if nothing else is said.
Windows ReadWindows(OnnxNode& node, const Shape& x) {
  const size_t dims = x.size() - 2;
  Windows w;
  node.Check(node.HasAttribute("kernel_shape"), "attribute 'kernel_shape' is missing");
  w.kernel = Entries(node, "kernel_shape", dims, 1, 1);
  w.strides = Entries(node, "strides", dims, 1, 1);
  w.pads = Entries(node, "pads", 2 * dims, 0, 0);
  for (size_t d = 0; d < dims; ++d) {
    w.in.push_back(x[d + 2]);
    w.out.push_back((x[d + 2] - 1) * w.strides[d] + w.kernel[d] - w.pads[d] - w.pads[dims + d]);
    node.Check(w.out[d] >= 1, "the pads crop everything");
  }
  return w;
}

void ImportMaxUnpool(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), places = In(node, 1);
  const Shape shape = x.shape();
  node.Check(shape.size() >= 3 && places.shape() == shape && places.type() == DType::kS64 &&
                 NumElements(shape) > 0,
             "input ", ToString(shape), " and indices ", Name(places.type()), " ",
             ToString(places.shape()), " do not fit");
  const Windows w = ReadWindows(node, shape);
  const int64_t images = shape[0] * shape[1], size = NumElements(w.out),
                windows = NumElements(w.in), taps = NumElements(w.kernel);
  CheckConstantSize(node, size);
  CheckConstantSize(node, taps);
  node.CheckSupported(taps <= 256, "has windows of ", taps, " elements, expected at most 256");
  // Behind the last window: one that has no element.
  const Expr values = Padded(Reshaped(x, {images, windows}), 1, 0, 1);
  const Expr owners = Padded(Reshaped(places, {images, windows}), 1, 0, 1, -1.0);
  const Expr own = Iota(node, size, 2, 1) + Iota(node, images, 2, 0) * static_cast<double>(size);
  Expr y = Filled(node, 0.0, {images, size});
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Expr from = Ints(node, {size}, WindowsOf(w, tap, windows));
    y = Select(Equal(Gathered(owners, from, 1), own), Gathered(values, from, 1), y);
  }
  Shape out{shape[0], shape[1]};
  out.insert(out.end(), w.out.begin(), w.out.end());
  y = Reshaped(y, out);
  if (node.HasInput(2)) {
    const auto wanted = node.ConstantInts(2, "output_shape");
    node.Check(wanted.size() == out.size() && wanted[0] == out[0] && wanted[1] == out[1],
               "output_shape is ", ToString(wanted), ", which does not fit ", ToString(out));
    for (size_t d = 2; d < out.size(); ++d) {
      node.Check(wanted[d] >= out[d], "output_shape is ", ToString(wanted),
                 ", expected no less than ", ToString(out));
      y = Padded(y, static_cast<int64_t>(d), 0, wanted[d] - out[d]);
    }
  }
  Give(y);
}

constexpr ImportEntry kUnpoolImports[] = {{"MaxUnpool", ImportMaxUnpool}};

}  // namespace

std::span<const ImportEntry> UnpoolImports() { return kUnpoolImports; }

}  // namespace rshift
