#include "graph/onnx/window.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

// An attribute with one entry per spatial dimension, as (h, w).
Size2 ReadPair(const OnnxNode& node, const char* name, size_t rank, int64_t fallback) {
  const auto values = node.Ints(name);
  if (values.empty()) return {rank == 3 ? 1 : fallback, fallback};
  node.Check(values.size() == rank - 2, "attribute '", name, "' has ", values.size(),
             " entries, expected ", rank - 2);
  for (int64_t v : values) {
    node.Check(v >= 1 && v < kLargest, "attribute '", name, "' holds ", v, ", expected 1 or more");
  }
  return rank == 3 ? Size2{1, values[0]} : Size2{values[0], values[1]};
}

struct Axis1D {
  int64_t in, kernel, stride, dilation;
  int64_t *before, *after;
};

int64_t Extent(const Axis1D& a) { return (a.kernel - 1) * a.dilation + 1; }

int64_t ResolveAxis(const OnnxNode& node, const Axis1D& a, const std::string& auto_pad,
                    bool ceil_mode) {
  const int64_t extent = Extent(a);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const int64_t out = (a.in + a.stride - 1) / a.stride;
    const int64_t total = std::max<int64_t>((out - 1) * a.stride + extent - a.in, 0);
    *a.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    *a.after = total - *a.before;
    return out;
  }
  const int64_t room = a.in + *a.before + *a.after - extent;
  // With ceil_mode one window may begin within the image and end behind it.
  const bool begins = room >= 0 || (ceil_mode && room + a.stride > 0);
  node.Check(begins, "the window of ", extent, " is larger than the padded input of ",
             a.in + *a.before + *a.after);
  if (!ceil_mode) return room / a.stride + 1;
  const int64_t out = (room + a.stride - 1) / a.stride + 1;
  // A window that would start behind the image, in the pads that ceil_mode adds, does not exist.
  return (out - 1) * a.stride >= a.in + *a.before ? out - 1 : out;
}

}  // namespace

Size2 SpatialSize(const OnnxNode& node, const Shape& x) {
  node.Check(x.size() >= 3, "input has the shape ", ToString(x), ", expected [N, C, H, W]");
  node.CheckSupported(x.size() <= 4, "input has the shape ", ToString(x),
                      "; only 1-D and 2-D windows are supported");
  for (size_t d = 2; d < x.size(); ++d) {
    node.Check(x[d] < kLargest, "input has the shape ", ToString(x),
               "; height and width must be below 2^31");
  }
  return x.size() == 3 ? Size2{1, x[2]} : Size2{x[2], x[3]};
}

Shape WithSpatial(int64_t n, int64_t c, Size2 size, size_t rank) {
  return rank == 3 ? Shape{n, c, size.w} : Shape{n, c, size.h, size.w};
}

Size2 ReadKernelShape(const OnnxNode& node, size_t rank) {
  node.Check(node.HasAttribute("kernel_shape"), "attribute 'kernel_shape' is missing");
  return ReadPair(node, "kernel_shape", rank, 1);
}

Window ReadWindow(const OnnxNode& node, Size2 kernel, size_t rank) {
  node.Check(kernel.h >= 1 && kernel.w >= 1 && kernel.h < kLargest && kernel.w < kLargest,
             "kernel is ", kernel.h, "x", kernel.w, ", expected 1x1 or more");
  const Size2 strides = ReadPair(node, "strides", rank, 1);
  const Size2 dilations = ReadPair(node, "dilations", rank, 1);
  Window window;
  window.kernel_h = kernel.h;
  window.kernel_w = kernel.w;
  window.stride_h = strides.h;
  window.stride_w = strides.w;
  window.dilation_h = dilations.h;
  window.dilation_w = dilations.w;
  node.Check(kernel.h * dilations.h < kLargest && kernel.w * dilations.w < kLargest,
             "kernel times dilation exceeds 2^31");

  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  node.Check(auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad == "SAME_UPPER" ||
                 auto_pad == "SAME_LOWER",
             "attribute 'auto_pad' is ", Quoted(auto_pad),
             ", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  const auto pads = node.Ints("pads");
  if (auto_pad != "NOTSET" || pads.empty()) return window;
  node.Check(pads.size() == 2 * (rank - 2), "attribute 'pads' has ", pads.size(),
             " entries, expected ", 2 * (rank - 2));
  for (int64_t p : pads) {
    node.Check(p >= 0 && p < kLargest, "attribute 'pads' holds ", p, ", expected 0 or more");
  }
  if (rank == 3) {
    window.pad_left = pads[0];
    window.pad_right = pads[1];
  } else {
    window.pad_top = pads[0];
    window.pad_left = pads[1];
    window.pad_bottom = pads[2];
    window.pad_right = pads[3];
  }
  return window;
}

Size2 ResolveWindow(const OnnxNode& node, Window& w, Size2 in, bool ceil_mode) {
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  const Axis1D rows{in.h, w.kernel_h, w.stride_h, w.dilation_h, &w.pad_top, &w.pad_bottom};
  const Axis1D columns{in.w, w.kernel_w, w.stride_w, w.dilation_w, &w.pad_left, &w.pad_right};
  return {ResolveAxis(node, rows, auto_pad, ceil_mode),
          ResolveAxis(node, columns, auto_pad, ceil_mode)};
}

}  // namespace rshift
