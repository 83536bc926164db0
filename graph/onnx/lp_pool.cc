// LpPool and GlobalLpPool: (sum of |x|^p)^(1/p) over a window.
#include <numeric>

#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

int64_t ReadPower(const OnnxNode& node) {
  const int64_t p = node.Int("p", 2);
  node.Check(p >= 1, "attribute 'p' is ", p, ", expected 1 or more");
  return p;
}

Expr ToPower(const Expr& x, int64_t p) {
  if (p == 2) return Square(x);
  const Expr positive = Abs(x);
  if (p == 1) return positive;
  return Apply(BinaryOp::kPow, positive, Number(x.node(), static_cast<double>(p)));
}

Expr Root(const Expr& x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return Sqrt(x);
  return Apply(BinaryOp::kPow, x, Number(x.node(), 1.0 / static_cast<double>(p)));
}

// The sum over a window is a convolution with ones, each channel on its own.
void ImportLpPool(OnnxNode& node) {
  const int64_t p = ReadPower(node);
  const Expr x = FloatIn(node, 0);
  const Shape shape = x.shape();
  const auto kernel = node.Ints("kernel_shape");
  node.Check(shape.size() >= 3 && kernel.size() == shape.size() - 2,
             "attribute 'kernel_shape' has ", kernel.size(), " entries for the input ",
             ToString(shape));
  node.CheckSupported(node.Int("ceil_mode", 0) == 0,
                      "attribute 'ceil_mode' = 1 is not supported; export with pads in its place");
  Shape alone = shape, ones(kernel.begin(), kernel.end());
  alone[0] = shape[0] * shape[1];
  alone[1] = 1;
  ones.insert(ones.begin(), 2, 1);
  const Expr sum =
      Called(node, "Conv", {Reshaped(ToPower(x, p), alone), Filled(node, 1.0, ones)},
             AttributesOf(node, {"auto_pad", "dilations", "kernel_shape", "pads", "strides"}));
  Shape out = sum.shape();
  out[0] = shape[0];
  out[1] = shape[1];
  GiveReshaped(Root(sum, p), out);
}

void ImportGlobalLpPool(OnnxNode& node) {
  const int64_t p = ReadPower(node);
  const Expr x = FloatIn(node, 0);
  node.Check(x.rank() >= 3, "input has the shape ", ToString(x.shape()), ", expected [N, C, H, W]");
  std::vector<int64_t> axes(x.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  Give(Root(Reduced(ReduceOp::kSum, ToPower(x, p), axes), p));
}

constexpr ImportEntry kLpPoolImports[] = {{"LpPool", ImportLpPool},
                                          {"GlobalLpPool", ImportGlobalLpPool}};

}  // namespace

std::span<const ImportEntry> LpPoolImports() { return kLpPoolImports; }

}  // namespace rshift
