// AffineGrid, Col2Im, CenterCropPad.
#include <algorithm>

#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Sample points of one dimension in [-1, 1]: at the corners, or in the middle of the pixels.
std::vector<float> Points(int64_t size, bool corners) {
  std::vector<float> points(size);
  for (int64_t i = 0; i < size; ++i) {
    const double at =
        corners ? (size > 1 ? 2.0 * i / (size - 1) - 1.0 : 0.0) : (2.0 * i + 1.0) / size - 1.0;
    points[i] = static_cast<float>(at);
  }
  return points;
}

// theta [N, 2, 3] or [N, 3, 4] times the points (x, y, [z,] 1).
void ImportAffineGrid(OnnxNode& node) {
  const Expr theta = FloatIn(node, 0);
  const auto size = node.ConstantInts(1, "size");
  const size_t dims = size.size() - std::min<size_t>(size.size(), 2);
  node.Check((dims == 2 || dims == 3) && theta.shape() == Shape{size[0], static_cast<int64_t>(dims),
                                                                static_cast<int64_t>(dims) + 1},
             "theta has the shape ", ToString(theta.shape()), " for the size ", ToString(size));
  const bool corners = node.Int("align_corners", 0) != 0;
  const Shape space(size.begin() + 2, size.end());
  Shape column = space;
  column.push_back(1);
  for (int64_t extent : space) {
    node.Check(extent >= 1, "the size ", ToString(size), " is empty");
    CheckConstantSize(node, extent);
  }
  std::vector<Expr> parts;
  for (size_t d = dims; d-- > 0;) {  // x belongs to the last dimension
    Shape along(dims + 1, 1);
    along[d] = space[d];
    parts.push_back(Expanded(Floats(node, along, Points(space[d], corners)), column));
  }
  parts.push_back(Filled(node, 1.0, column));
  const Expr points =
      Reshaped(Joined(parts, -1), {NumElements(space), column.back() + static_cast<int64_t>(dims)});
  Shape out{size[0]};
  out.insert(out.end(), space.begin(), space.end());
  out.push_back(static_cast<int64_t>(dims));
  GiveReshaped(Product(points, Swapped(theta)), out);
}

// Blocks along one dimension of the image that they are put into.
struct BlockLine {
  int64_t image, block, stride, dilation, before, after;
  int64_t room() const { return image + before + after - ((block - 1) * dilation + 1); }
  int64_t positions() const { return room() / stride + 1; }
};

// [N, C * taps, positions] -> [N, C, H, W]: a transposed convolution whose weight puts tap k to
// its place.
Expr PlacedBlocks(const Expr& x, const BlockLine& h, const BlockLine& w) {
  OnnxNode& node = x.node();
  const int64_t taps = h.block * w.block, channels = x.dim(1) / taps;
  CheckConstantSize(node, NumElements({channels, taps, taps}));
  std::vector<float> weight(channels * taps * taps, 0.0f);
  for (int64_t c = 0; c < channels * taps; ++c) weight[c * taps + c % taps] = 1.0f;
  const Expr columns = Reshaped(x, {x.dim(0), x.dim(1), h.positions(), w.positions()});
  NodeAttributes attributes{
      IntAttribute("group", channels), IntsAttribute("strides", {h.stride, w.stride}),
      IntsAttribute("dilations", {h.dilation, w.dilation}), IntsAttribute("pads", {0, 0, 0, 0})};
  Expr y = Called(node, "ConvTranspose",
                  {columns, Floats(node, {x.dim(1), 1, h.block, w.block}, weight)}, attributes);
  y = Padded(y, 2, -h.before, h.room() % h.stride - h.after);  // and rows behind the last block
  return Padded(y, 3, -w.before, w.room() % w.stride - w.after);
}

// [N, C * taps, positions] -> [N, C, elements of the image]. Beyond two dimensions the first one is
// placed after all others.
Expr PlacedIn(const Expr& x, const std::vector<BlockLine>& lines) {
  constexpr BlockLine kPoint{1, 1, 1, 1, 0, 0};
  const BlockLine& first = lines[0];
  if (lines.size() <= 2) {
    const Expr y =
        lines.size() == 1 ? PlacedBlocks(x, kPoint, first) : PlacedBlocks(x, first, lines[1]);
    return Reshaped(y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)});
  }
  const std::vector<BlockLine> others(lines.begin() + 1, lines.end());
  int64_t taps = 1, positions = 1;
  for (const BlockLine& line : others) {
    taps *= line.block;
    positions *= line.positions();
  }
  const int64_t batch = x.dim(0), channels = x.dim(1) / (first.block * taps);
  const int64_t own = first.positions();
  const Expr parts = Reshaped(x, {batch, channels * first.block, taps, own, positions});
  const Expr planes = PlacedIn(Reshaped(Transposed(parts, {0, 3, 1, 2, 4}),
                                        {batch * own, channels * first.block * taps, positions}),
                               others);
  const int64_t elements = planes.dim(2);
  const Expr columns =
      Transposed(Reshaped(planes, {batch, own, channels, first.block, elements}), {0, 2, 4, 3, 1});
  const Expr placed =
      PlacedIn(Reshaped(columns, {batch * channels * elements, first.block, own}), {first});
  const Expr turned =
      Transposed(Reshaped(placed, {batch, channels, elements, first.image}), {0, 1, 3, 2});
  return Reshaped(turned, {batch, channels, first.image * elements});
}

void ImportCol2Im(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const auto image = node.ConstantInts(1, "image_shape"),
             block = node.ConstantInts(2, "block_shape");
  const size_t dims = image.size();
  node.Check(dims >= 1 && dims <= 4 && block.size() == dims, "makes images of ", dims,
             " dimensions of blocks of ", block.size(), ", expected 1 to 4 of both");
  const auto entries = [&](const char* name, size_t count, int64_t fallback) {
    auto list = node.Ints(name);
    if (list.empty()) list.assign(count, fallback);
    node.Check(list.size() == count, "attribute '", name, "' has ", list.size(),
               " entries, expected ", count);
    return list;
  };
  const auto strides = entries("strides", dims, 1), dilations = entries("dilations", dims, 1);
  const auto pads = entries("pads", 2 * dims, 0);
  std::vector<BlockLine> lines;
  Shape taps, positions;
  for (size_t d = 0; d < dims; ++d) {
    CheckConstantSize(node, block[d]);
    lines.push_back({image[d], block[d], strides[d], dilations[d], pads[d], pads[d + dims]});
    node.Check(block[d] >= 1 && strides[d] >= 1 && dilations[d] >= 1 && lines[d].room() >= 0,
               "blocks of ", block[d], " do not fit into ", image[d]);
    taps.push_back(block[d]);
    positions.push_back(lines[d].positions());
  }
  node.Check(
      x.rank() == 3 && x.dim(1) % NumElements(taps) == 0 && x.dim(2) == NumElements(positions),
      "input has the shape ", ToString(x.shape()), ", expected [N, C * ", NumElements(taps), ",",
      NumElements(positions), "]");
  Shape out{x.dim(0), x.dim(1) / NumElements(taps)};
  out.insert(out.end(), image.begin(), image.end());
  GiveReshaped(PlacedIn(x, lines), out);
}

// The middle of a longer dimension; a shorter one gets zeros on both sides.
void ImportCenterCropPad(OnnxNode& node) {
  Expr x = In(node, 0);
  const auto wanted = node.ConstantInts(1, "shape");
  auto axes = node.Ints("axes");
  for (size_t d = axes.size(); axes.size() < wanted.size() && !node.HasAttribute("axes"); ++d) {
    axes.push_back(static_cast<int64_t>(d));
  }
  node.Check(axes.size() == wanted.size(), "has ", wanted.size(), " sizes for ", axes.size(),
             " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.Axis(axes[i], x.rank()), size = x.dim(axis);
    node.Check(wanted[i] >= 1 && wanted[i] < (int64_t{1} << 40), "size ", wanted[i],
               ", expected 1 or more");
    const int64_t more = wanted[i] - size, less = -more;
    x = more > 0 ? Padded(x, axis, more / 2, more - more / 2)
                 : Part(x, axis, less / 2, less / 2 + wanted[i]);
  }
  Give(x);
}

constexpr ImportEntry kSpatialImports[] = {{"AffineGrid", ImportAffineGrid},
                                           {"Col2Im", ImportCol2Im},
                                           {"CenterCropPad", ImportCenterCropPad}};

}  // namespace

std::span<const ImportEntry> SpatialImports() { return kSpatialImports; }

}  // namespace rshift
