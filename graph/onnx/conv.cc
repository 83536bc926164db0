#include <algorithm>

#include "graph/onnx/body.h"
#include "graph/onnx/table.h"
#include "graph/onnx/volume.h"
#include "graph/onnx/window.h"

namespace rshift {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

// Inputs of a convolution as [N, C, H, W], 1-D ones with height 1.
struct ConvInputs {
  size_t rank = 4;  // of x as written
  Shape x, w;       // as written
  std::vector<ValueId> ids;
};

Shape AddHeight(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

ConvInputs ReadInputs(OnnxNode& node, const char* weight_dims) {
  node.RequireFloat(0);
  node.RequireFloat(1);
  ConvInputs in{node.ShapeOf(0).size(), node.ShapeOf(0), node.ShapeOf(1), {}};
  SpatialSize(node, in.x);
  node.Check(in.w.size() == in.rank, "weight ", Quoted(node.At(node.Input(1)).name), " has ",
             in.w.size(), " dimensions, expected ", in.rank, " ", weight_dims);
  in.ids = {node.Reshaped(node.Input(0), AddHeight(in.x)),
            node.Reshaped(node.Input(1), AddHeight(in.w))};
  return in;
}

void AddBias(OnnxNode& node, ConvInputs& in, int64_t channels) {
  if (!node.HasInput(2)) return;
  node.RequireFloat(2);
  node.Check(node.ShapeOf(2) == Shape{channels}, "bias ", Quoted(node.At(node.Input(2)).name),
             " has the shape ", ToString(node.ShapeOf(2)), ", expected ", channels);
  in.ids.push_back(node.Input(2));
}

Window ConvWindow(OnnxNode& node, const ConvInputs& in) {
  const Size2 kernel = SpatialSize(node, in.w);
  if (node.HasAttribute("kernel_shape")) {
    const Size2 said = ReadKernelShape(node, in.rank);
    node.Check(said.h == kernel.h && said.w == kernel.w, "attribute 'kernel_shape' is ", said.h,
               "x", said.w, " but the weight has ", kernel.h, "x", kernel.w);
  }
  return ReadWindow(node, kernel, in.rank);
}

int64_t ReadGroups(const OnnxNode& node) {
  const int64_t groups = node.Int("group", 1);
  node.Check(groups >= 1 && groups < kLargest, "attribute 'group' is ", groups,
             ", expected 1 or more");
  return groups;
}

void Finish(OnnxNode& node, Op op, const ConvInputs& in, int64_t channels, Size2 size) {
  const Shape out = WithSpatial(in.x[0], channels, size, in.rank);
  if (in.rank == 4) return node.Output(std::move(op), in.ids, DType::kF32, out);
  node.OutputReshaped(node.Emit(std::move(op), in.ids, DType::kF32, AddHeight(out)), out);
}

void ImportConv(OnnxNode& node) {
  if (node.ShapeOf(0).size() == 5) return ImportVolumeConv(node);
  ConvInputs in = ReadInputs(node, "[OC, IC/group, KH, KW]");
  const int64_t groups = ReadGroups(node), channels = in.w[0];
  node.Check(in.x[1] % groups == 0 && in.x[1] / groups == in.w[1], "input has ", in.x[1],
             " channels, which does not fit the weight ", ToString(in.w),
             " [OC, IC/group, KH, KW] with group ", groups);
  node.Check(channels % groups == 0, "the weight has ", channels,
             " output channels, expected a multiple of group ", groups);
  Window window = ConvWindow(node, in);
  const Size2 size = ResolveWindow(node, window, SpatialSize(node, in.x), false);
  AddBias(node, in, channels);
  Finish(node, Conv{window, groups, {}}, in, channels, size);
}

struct TransposedAxis {
  const char* name;
  int64_t in, kernel, stride, dilation, output_pad, wanted;
  int64_t *before, *after;
};

// The output size; fills in the pads where output_shape or auto_pad determine them.
int64_t ResolveTransposed(const OnnxNode& node, const TransposedAxis& a,
                          const std::string& auto_pad) {
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const int64_t reached = a.stride * (a.in - 1) + (a.kernel - 1) * a.dilation + 1;
  const int64_t full = reached + a.output_pad;
  // A convolution with this stride would not make `in` elements of a longer output: what lies
  // beyond has no meaning in ONNX, and ONNX Runtime refuses it.
  node.Check(a.output_pad < std::max(a.stride, a.dilation), "output_padding ", a.output_pad,
             " along the ", a.name, ", expected less than the stride ", a.stride,
             " or the dilation ", a.dilation);
  node.CheckSupported(a.output_pad < a.stride, "output_padding ", a.output_pad, " along the ",
                      a.name, " is not less than the stride ", a.stride);
  node.Check(a.wanted < reached + a.stride, "output_shape ", a.wanted, " along the ", a.name,
             " cannot be made of ", a.in, " input elements: expected at most ",
             reached + a.stride - 1);
  const int64_t wanted = a.wanted > 0 ? a.wanted : same ? a.in * a.stride : 0;
  // By ONNX's formula the pads are negative here; implementations differ in what they do.
  node.CheckSupported(a.wanted > 0 || wanted <= full, "auto_pad ", auto_pad, " along the ", a.name,
                      ": the kernel is smaller than the stride; give the pads as numbers");
  if (wanted > 0) {
    const int64_t total = std::max<int64_t>(full - wanted, 0);
    *a.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    *a.after = total - *a.before;
    return wanted;
  }
  const int64_t out = full - *a.before - *a.after;
  node.Check(out >= 1, "the pads crop everything: ", full, " - ", *a.before, " - ", *a.after);
  return out;
}

// Rows and columns of an attribute, or zeros where it is missing; each entry is `least` or more.
Size2 ReadOptionalPair(const OnnxNode& node, const char* name, std::vector<int64_t> values,
                       size_t rank, int64_t least) {
  if (values.empty()) return {0, 0};
  node.Check(values.size() == rank - 2, "attribute '", name, "' has ", values.size(),
             " entries, expected ", rank - 2);
  for (int64_t v : values) {
    node.Check(v >= least && v < kLargest, "attribute '", name, "' holds ", v, ", expected ", least,
               " or more");
  }
  return rank == 3 ? Size2{0, values[0]} : Size2{values[0], values[1]};
}

// Old exporters bring N and C along.
Size2 ReadOutputShape(const OnnxNode& node, const ConvInputs& in, int64_t channels) {
  std::vector<int64_t> values = node.Ints("output_shape");
  if (values.size() == in.rank) {
    node.Check(values[0] == in.x[0] && values[1] == channels, "attribute 'output_shape' is ",
               ToString(values), ", but the output has batch ", in.x[0], " and ", channels,
               " channels; give rows and columns alone");
    values.erase(values.begin(), values.begin() + 2);
  }
  return ReadOptionalPair(node, "output_shape", values, in.rank, 1);
}

// output_padding beyond the stride, where the dilation allows it: less is cropped at the end, and
// where nothing is, more rows without an input follow, which hold the bias alone.
bool ImportMorePadded(OnnxNode& node) {
  const size_t dims = node.ShapeOf(0).size() - std::min<size_t>(node.ShapeOf(0).size(), 2);
  auto more = node.Ints("output_padding"), strides = node.Ints("strides"),
       dilations = node.Ints("dilations"), pads = node.Ints("pads");
  if (strides.empty()) strides.assign(dims, 1);
  if (dilations.empty()) dilations.assign(dims, 1);
  if (pads.empty()) pads.assign(2 * dims, 0);
  if (more.size() != dims || strides.size() != dims || dilations.size() != dims ||
      pads.size() != 2 * dims || node.HasAttribute("output_shape") ||
      node.String("auto_pad", "NOTSET") != "NOTSET") {
    return false;
  }
  std::vector<int64_t> behind(dims, 0);
  bool any = false;
  for (size_t d = 0; d < dims; ++d) {
    if (more[d] < strides[d]) continue;
    if (strides[d] < 1 || more[d] >= dilations[d]) return false;  // said below
    const int64_t beyond = more[d] - strides[d] + 1;
    const int64_t uncropped = std::clamp<int64_t>(pads[dims + d], 0, beyond);
    pads[dims + d] -= uncropped;
    behind[d] = beyond - uncropped;
    more[d] = strides[d] - 1;
    any = true;
  }
  if (!any) return false;
  NodeAttributes attributes = AttributesOf(node, {"group", "strides", "dilations", "kernel_shape"});
  attributes.push_back(IntsAttribute("pads", pads));
  attributes.push_back(IntsAttribute("output_padding", more));
  Expr y = Called(node, "ConvTranspose", {In(node, 0), In(node, 1)}, attributes);
  for (size_t d = 0; d < dims; ++d) y = Padded(y, static_cast<int64_t>(d + 2), 0, behind[d]);
  if (!node.HasInput(2)) return Give(y), true;
  Shape channels(dims + 2, 1);
  channels[1] = y.dim(1);
  Give(y + Reshaped(FloatIn(node, 2), channels));
  return true;
}

void ImportConvTranspose(OnnxNode& node) {
  if (ImportMorePadded(node)) return;
  if (node.ShapeOf(0).size() == 5) return ImportVolumeConvTranspose(node);
  ConvInputs in = ReadInputs(node, "[IC, OC/group, KH, KW]");
  const int64_t groups = ReadGroups(node);
  node.Check(in.x[1] == in.w[0], "input has ", in.x[1], " channels, but the weight ",
             ToString(in.w), " expects ", in.w[0]);
  node.Check(in.x[1] % groups == 0, "input has ", in.x[1],
             " channels, expected a multiple of group ", groups);
  node.Check(in.w[1] < kLargest, "the weight ", ToString(in.w), " is too large");
  const int64_t channels = in.w[1] * groups;
  Window window = ConvWindow(node, in);
  const Size2 x = SpatialSize(node, in.x);
  node.Check(x.h >= 1 && x.w >= 1, "input has the shape ", ToString(in.x), ", which is empty");
  const Size2 pad =
      ReadOptionalPair(node, "output_padding", node.Ints("output_padding"), in.rank, 0);
  const Size2 wanted = ReadOutputShape(node, in, channels);
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  const TransposedAxis rows{"rows", x.h,      window.kernel_h, window.stride_h,   window.dilation_h,
                            pad.h,  wanted.h, &window.pad_top, &window.pad_bottom};
  const TransposedAxis columns{"columns",         x.w,   window.kernel_w, window.stride_w,
                               window.dilation_w, pad.w, wanted.w,        &window.pad_left,
                               &window.pad_right};
  const Size2 size{ResolveTransposed(node, rows, auto_pad),
                   ResolveTransposed(node, columns, auto_pad)};
  AddBias(node, in, channels);
  Finish(node, ConvTranspose{window, groups, pad.h, pad.w, {}}, in, channels, size);
}

constexpr ImportEntry kConvImports[] = {{"Conv", ImportConv},
                                        {"ConvTranspose", ImportConvTranspose}};

}  // namespace

std::span<const ImportEntry> ConvImports() { return kConvImports; }

}  // namespace rshift
