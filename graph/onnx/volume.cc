// Operators over [D, H, W]: convolutions are sums of 2-D ones over the kernel's planes, pools are
// pools over [H, W] and then over D.
#include "graph/onnx/volume.h"

#include <algorithm>

#include "graph/onnx/entries.h"

namespace rshift {
namespace {

constexpr int64_t kMostPlanes = 256;

// Pads of dimension d: given, or of a SAME form.
std::pair<int64_t, int64_t> DepthPads(const OnnxNode& node, int64_t size, int64_t extent,
                                      int64_t stride) {
  const std::string mode = node.String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    const int64_t out = (size + stride - 1) / stride;
    const int64_t all = std::max<int64_t>((out - 1) * stride + extent - size, 0);
    const int64_t less = all / 2;
    return mode == "SAME_UPPER" ? std::pair(less, all - less) : std::pair(all - less, less);
  }
  if (mode == "VALID") return {0, 0};
  const auto pads = Entries(node, "pads", 6, 0, 0);
  return {pads[0], pads[3]};
}

// The attributes of the last two dimensions, or of the first one (as rows of [D, H * W]).
NodeAttributes PartOf(const OnnxNode& node, bool plane, const std::pair<int64_t, int64_t>& depth) {
  NodeAttributes part;
  for (const char* name : {"strides", "dilations", "kernel_shape"}) {
    if (!node.HasAttribute(name)) continue;
    const auto list = Entries(node, name, 3, 1, 1);
    part.push_back(IntsAttribute(
        name, plane ? std::vector<int64_t>{list[1], list[2]} : std::vector<int64_t>{list[0], 1}));
  }
  if (!plane) {
    part.push_back(IntsAttribute("pads", {depth.first, 0, depth.second, 0}));
  } else if (node.String("auto_pad", "NOTSET") != "NOTSET") {
    for (const auto& attribute : AttributesOf(node, {"auto_pad"})) part.push_back(attribute);
  } else {
    const auto pads = Entries(node, "pads", 6, 0, 0);
    part.push_back(IntsAttribute("pads", {pads[1], pads[2], pads[4], pads[5]}));
  }
  return part;
}

// [N, C, D, H, W] <-> [N * D, C, H, W]
Expr Planes(const Expr& x) {
  const Shape s = x.shape();
  return Reshaped(Transposed(x, {0, 2, 1, 3, 4}), {s[0] * s[2], s[1], s[3], s[4]});
}
Expr FromPlanes(const Expr& planes, int64_t n, int64_t d) {
  const Shape s = planes.shape();
  return Transposed(Reshaped(planes, {n, d, s[1], s[2], s[3]}), {0, 2, 1, 3, 4});
}

}  // namespace

void ImportVolumeConv(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), w = FloatIn(node, 1);
  const Shape kernel = w.shape();
  node.Check(w.rank() == 5, "weight ", Quoted(w.value().name), " has the shape ", ToString(kernel),
             ", expected [OC, IC/group, KD, KH, KW]");
  node.CheckSupported(kernel[2] >= 1 && kernel[2] <= kMostPlanes, "the kernel is ", kernel[2],
                      " deep, expected 1 to ", kMostPlanes);
  const int64_t stride = Entries(node, "strides", 3, 1, 1)[0];
  const int64_t dilation = Entries(node, "dilations", 3, 1, 1)[0];
  const int64_t extent = (kernel[2] - 1) * dilation + 1, n = x.dim(0);
  const auto [before, after] = DepthPads(node, x.dim(2), extent, stride);
  const Expr padded = Padded(x, 2, before, after);
  const int64_t room = padded.dim(2) - extent;
  node.Check(room >= 0, "the window of ", extent, " is larger than the padded depth of ",
             padded.dim(2));
  const int64_t depth = room / stride + 1;
  NodeAttributes attributes = PartOf(node, true, {});
  std::erase_if(attributes, [](const auto& a) { return a.name() == "kernel_shape"; });
  attributes.push_back(IntAttribute("group", node.Int("group", 1)));
  std::optional<Expr> sum;
  for (int64_t k = 0; k < kernel[2]; ++k) {
    const int64_t first = k * dilation;
    const Expr rows = Part(padded, 2, first, first + (depth - 1) * stride + 1, stride);
    const Expr plane = Reshaped(At(w, 2, k), {kernel[0], kernel[1], kernel[3], kernel[4]});
    const Expr bias(node, k == 0 && node.HasInput(2) ? node.Input(2) : ValueId());
    const Expr part = Called(node, "Conv", {Planes(rows), plane, bias}, attributes);
    sum = sum ? *sum + part : part;
  }
  Give(FromPlanes(*sum, n, depth));
}

namespace {

// The last three dimensions of a ConvTranspose's output, where the model says them; old exporters
// bring N and C along.
Shape OutputShape(const OnnxNode& node) {
  Shape wanted = node.Ints("output_shape");
  if (wanted.size() == 5) wanted.erase(wanted.begin(), wanted.begin() + 2);
  node.Check(wanted.empty() || wanted.size() == 3, "attribute 'output_shape' has ", wanted.size(),
             " entries, expected 3");
  for (const int64_t size : wanted)
    node.Check(size >= 1, "attribute 'output_shape' holds ", size, ", expected 1 or more");
  return wanted;
}

// Planes of a transposed convolution that are cut off at both ends, and those behind the last that
// hold the bias alone.
struct Cropped {
  int64_t before = 0, after = 0, beyond = 0;
};

// `same`: what auto_pad SAME makes of the depth; `wanted`: 0 where output_shape is missing.
Cropped CroppedDepth(const OnnxNode& node, int64_t same, int64_t full, int64_t wanted) {
  const std::string mode = node.String("auto_pad", "NOTSET");
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (wanted == 0 && is_same) {
    node.CheckSupported(same <= full, "auto_pad ", mode,
                        " along the depth: the kernel is smaller than the stride; give the pads "
                        "as numbers");
    wanted = same;
  }
  if (wanted == 0 && mode != "NOTSET") return {};
  if (wanted == 0) {
    const auto pads = Entries(node, "pads", 6, 0, 0);
    return {pads[0], pads[3], 0};
  }
  const int64_t total = std::max<int64_t>(full - wanted, 0);
  const int64_t before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  return {before, total - before, std::max<int64_t>(wanted - full, 0)};
}

}  // namespace

// Each plane of the kernel makes planes of the result that are `stride` apart.
void ImportVolumeConvTranspose(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), w = FloatIn(node, 1);
  const Shape kernel = w.shape();
  node.Check(w.rank() == 5, "weight ", Quoted(w.value().name), " has the shape ", ToString(kernel),
             ", expected [IC, OC/group, KD, KH, KW]");
  const Shape said = node.Ints("kernel_shape");
  node.Check(said.empty() || said == Shape(kernel.begin() + 2, kernel.end()),
             "attribute 'kernel_shape' is ", ToString(said), ", but the weight is ",
             ToString(kernel));
  node.CheckSupported(kernel[2] >= 1 && kernel[2] <= kMostPlanes, "the kernel is ", kernel[2],
                      " deep, expected 1 to ", kMostPlanes);
  const auto more = Entries(node, "output_padding", 3, 0, 0);
  const int64_t stride = Entries(node, "strides", 3, 1, 1)[0];
  const int64_t dilation = Entries(node, "dilations", 3, 1, 1)[0];
  node.Check(more[0] < std::max(stride, dilation), "output_padding ", more[0],
             " along the depth, expected less than the stride ", stride, " or the dilation ",
             dilation);
  const int64_t n = x.dim(0), spread = (x.dim(2) - 1) * stride + 1;
  const int64_t full = spread + (kernel[2] - 1) * dilation + more[0];
  const Shape wanted = OutputShape(node);
  const Cropped depth = CroppedDepth(node, x.dim(2) * stride, full, wanted.empty() ? 0 : wanted[0]);
  node.Check(x.dim(2) >= 1 && full - depth.before - depth.after >= 1,
             "the pads crop everything: ", full, " - ", depth.before, " - ", depth.after);
  node.Check(depth.beyond < stride, "output_shape ", full + depth.beyond,
             " along the depth cannot be made of ", x.dim(2), " input elements");
  NodeAttributes attributes = PartOf(node, true, {});
  std::erase_if(attributes, [](const auto& a) { return a.name() == "kernel_shape"; });
  attributes.push_back(IntAttribute("group", node.Int("group", 1)));
  attributes.push_back(IntsAttribute("output_padding", {more[1], more[2]}));
  if (!wanted.empty()) attributes.push_back(IntsAttribute("output_shape", {wanted[1], wanted[2]}));
  std::optional<Expr> sum;
  for (int64_t k = 0; k < kernel[2]; ++k) {
    const Expr plane = Reshaped(At(w, 2, k), {kernel[0], kernel[1], kernel[3], kernel[4]});
    const Expr made = Called(node, "ConvTranspose", {Planes(x), plane}, attributes);
    const Expr rows = FromPlanes(made, n, x.dim(2));
    const Shape s = rows.shape();
    const Expr apart = Padded(Reshaped(rows, {n, s[1], s[2], 1, s[3] * s[4]}), 3, 0, stride - 1);
    const Expr cut = Part(Reshaped(apart, {n, s[1], s[2] * stride, s[3], s[4]}), 2, 0, spread);
    const int64_t first = k * dilation;
    const Expr part = Padded(cut, 2, first, full - spread - first);
    sum = sum ? *sum + part : part;
  }
  const Expr result = Padded(Part(*sum, 2, depth.before, full - depth.after), 2, 0, depth.beyond);
  if (!node.HasInput(2)) return Give(result);
  const Expr bias = FloatIn(node, 2);
  node.Check(bias.shape() == Shape{result.dim(1)}, "bias has the shape ", ToString(bias.shape()),
             ", expected ", result.dim(1));
  Give(result + Reshaped(bias, {1, result.dim(1), 1, 1, 1}));
}

void ImportVolumePool(OnnxNode& node, const char* op_type) {
  const Expr x = FloatIn(node, 0);
  const Shape s = x.shape();
  node.Check(node.HasAttribute("kernel_shape"), "attribute 'kernel_shape' is missing");
  const int64_t kernel = Entries(node, "kernel_shape", 3, 1, 1)[0];
  const int64_t dilation = Entries(node, "dilations", 3, 1, 1)[0];
  const int64_t stride = Entries(node, "strides", 3, 1, 1)[0];
  const auto pads = DepthPads(node, s[2], (kernel - 1) * dilation + 1, stride);
  NodeAttributes plane = PartOf(node, true, pads), column = PartOf(node, false, pads);
  for (const auto& shared : AttributesOf(node, {"ceil_mode", "count_include_pad"})) {
    plane.push_back(shared);
    column.push_back(shared);
  }
  const Expr pooled = FromPlanes(Called(node, op_type, {Planes(x)}, plane), s[0], s[2]);
  const int64_t h = pooled.dim(3), w = pooled.dim(4);
  const Expr rows = Reshaped(pooled, {s[0], s[1], s[2], h * w});
  const Expr result = Called(node, op_type, {rows}, column);
  GiveReshaped(result, {s[0], s[1], result.dim(2), h, w});
}

}  // namespace rshift
