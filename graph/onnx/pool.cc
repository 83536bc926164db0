#include "graph/onnx/pool_indices.h"
#include "graph/onnx/table.h"
#include "graph/onnx/volume.h"
#include "graph/onnx/window.h"

namespace rshift {
namespace {

Shape AddHeight(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return shape;
}

void Finish(OnnxNode& node, Op op, const Shape& x, Size2 size) {
  const Shape out = WithSpatial(x[0], x[1], size, x.size());
  const DType type = node.TypeOf(0);
  if (x.size() == 4) return node.Output(std::move(op), {node.Input(0)}, type, out);
  const ValueId in = node.Reshaped(node.Input(0), AddHeight(x));
  node.OutputReshaped(node.Emit(std::move(op), {in}, type, AddHeight(out)), out);
}

struct PoolWindow {
  Shape x;
  Window window;
  Size2 size;
};

// Every window must hold a pixel of the image: the maximum and the mean of none is no number.
void CheckPixels(const OnnxNode& node, const char* side, int64_t size, int64_t kernel,
                 int64_t dilation, int64_t before, int64_t after) {
  const int64_t extent = (kernel - 1) * dilation + 1;
  node.Check(size >= 1, "the input's ", side, " is 0");
  node.Check(before < extent && after < extent, "the pads of the ", side, " are ", before, " and ",
             after, ", expected less than the window's ", extent,
             ": a window in the pads alone has no pixel; put a Pad before the node");
  node.Check(before == 0 || dilation <= size, "dilation ", dilation, " is larger than the ", side,
             " of ", size, ", which leaves windows without a pixel");
}

PoolWindow ReadPool(OnnxNode& node) {
  PoolWindow pool;
  pool.x = node.ShapeOf(0);
  const Size2 in = SpatialSize(node, pool.x);
  pool.window = ReadWindow(node, ReadKernelShape(node, pool.x.size()), pool.x.size());
  pool.size = ResolveWindow(node, pool.window, in, node.Int("ceil_mode", 0) != 0);
  const Window& w = pool.window;
  CheckPixels(node, "height", in.h, w.kernel_h, w.dilation_h, w.pad_top, w.pad_bottom);
  CheckPixels(node, "width", in.w, w.kernel_w, w.dilation_w, w.pad_left, w.pad_right);
  return pool;
}

// Once output 0 is there.
void GiveIndices(OnnxNode& node) {
  if (!node.OutputUsed(1)) return;
  const std::string& pooled = node.proto().output(0);
  node.Check(!pooled.empty(), "output 0 (Y) has no name, expected one beside Indices");
  const Shape shape = node.At(node.state().values.at(pooled)).shape;  // the value itself may move
  ImportPoolIndices(node, shape);
}

void ImportMaxPool(OnnxNode& node) {
  if (node.ShapeOf(0).size() == 5) {
    ImportVolumePool(node, "MaxPool");
    return GiveIndices(node);
  }
  const DType type = node.TypeOf(0);  // the greatest byte is the greatest real
  if (type != DType::kS8 && type != DType::kU8) node.RequireFloat(0);
  const PoolWindow pool = ReadPool(node);
  Finish(node, MaxPool{pool.window}, pool.x, pool.size);
  GiveIndices(node);
}

void ImportAveragePool(OnnxNode& node) {
  if (node.ShapeOf(0).size() == 5) return ImportVolumePool(node, "AveragePool");
  node.RequireFloat(0);
  const PoolWindow pool = ReadPool(node);
  const bool include_pad = node.Int("count_include_pad", 0) != 0;
  Finish(node, AveragePool{{pool.window, include_pad}, false}, pool.x, pool.size);
}

// All spatial dimensions at once: more or fewer than two of them are flattened to one row.
void ImportGlobal(OnnxNode& node, bool max) {
  node.RequireFloat(0);
  const Shape x = node.ShapeOf(0);
  node.Check(x.size() >= 3, "input has the shape ", ToString(x), ", expected [N, C, H, W]");
  Shape out(x.size(), 1);
  out[0] = x[0];
  out[1] = x[1];
  Shape image = x;
  if (x.size() != 4) image = {x[0], x[1], 1, NumElements(Shape(x.begin() + 2, x.end()))};
  node.Check(image[2] >= 1 && image[3] >= 1, "input has the shape ", ToString(x),
             ", which is empty");
  Window window;
  window.kernel_h = image[2];
  window.kernel_w = image[3];
  const Op op = max ? Op(MaxPool{window}) : Op(AveragePool{{window}, true});
  if (x.size() == 4) return node.Output(op, {node.Input(0)}, DType::kF32, out);
  const ValueId in = node.Reshaped(node.Input(0), image);
  node.OutputReshaped(node.Emit(op, {in}, DType::kF32, {x[0], x[1], 1, 1}), out);
}

constexpr ImportEntry kPoolImports[] = {
    {"MaxPool", ImportMaxPool},
    {"AveragePool", ImportAveragePool},
    {"GlobalAveragePool", [](OnnxNode& node) { ImportGlobal(node, false); }},
    {"GlobalMaxPool", [](OnnxNode& node) { ImportGlobal(node, true); }},
};

}  // namespace

std::span<const ImportEntry> PoolImports() { return kPoolImports; }

}  // namespace rshift
