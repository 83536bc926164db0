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

// [N, C * taps, positions] -> [N, C, H, W]: a transposed convolution whose weight puts tap k to
// its place.
void ImportCol2Im(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const auto image = node.ConstantInts(1, "image_shape"),
             block = node.ConstantInts(2, "block_shape");
  node.CheckSupported(image.size() == 2 && block.size() == 2, "makes images of ", image.size(),
                      " dimensions, expected 2");
  for (int64_t extent : block) CheckConstantSize(node, extent);
  const int64_t taps = block[0] * block[1];
  node.Check(x.rank() == 3 && block[0] >= 1 && block[1] >= 1 && taps >= 1 && x.dim(1) % taps == 0,
             "input has the shape ", ToString(x.shape()), ", expected [N, C * ", taps,
             ", positions]");
  const auto entries = [&](const char* name, size_t count, int64_t fallback) {
    auto list = node.Ints(name);
    if (list.empty()) list.assign(count, fallback);
    node.Check(list.size() == count, "attribute '", name, "' has ", list.size(),
               " entries, expected ", count);
    return list;
  };
  const auto strides = entries("strides", 2, 1), dilations = entries("dilations", 2, 1);
  const auto pads = entries("pads", 4, 0);
  Shape positions(2), missing(2);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t extent = (block[d] - 1) * dilations[d] + 1;
    const int64_t room = image[d] + pads[d] + pads[d + 2] - extent;
    node.Check(room >= 0 && strides[d] >= 1, "blocks of ", extent, " do not fit into ", image[d]);
    positions[d] = room / strides[d] + 1;
    missing[d] = room % strides[d];  // rows behind the last block
  }
  node.Check(NumElements(positions) == x.dim(2), "has ", x.dim(2), " positions, expected ",
             NumElements(positions));
  const int64_t channels = x.dim(1) / taps;
  CheckConstantSize(node, NumElements({channels, taps, taps}));
  std::vector<float> weight(channels * taps * taps, 0.0f);
  for (int64_t c = 0; c < channels * taps; ++c) weight[c * taps + c % taps] = 1.0f;
  const Expr columns = Reshaped(x, {x.dim(0), x.dim(1), positions[0], positions[1]});
  NodeAttributes attributes{IntAttribute("group", channels), IntsAttribute("strides", strides),
                            IntsAttribute("dilations", dilations),
                            IntsAttribute("pads", {0, 0, 0, 0})};
  Expr y = Called(node, "ConvTranspose",
                  {columns, Floats(node, {x.dim(1), 1, block[0], block[1]}, weight)}, attributes);
  for (size_t d = 0; d < 2; ++d) {
    const auto axis = static_cast<int64_t>(d + 2);
    y = Padded(y, axis, -pads[d], missing[d] - pads[d + 2]);
  }
  Give(y);
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
