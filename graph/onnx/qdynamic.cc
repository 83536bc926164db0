// Dynamic quantization: the scale comes from the tensor while the program runs. Products with
// constant weights are commands on integers, others compute with integers as F32 numbers.
// NUMERICS.md section 21.
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/onnx/dynamic_product.h"
#include "graph/onnx/number_product.h"
#include "graph/onnx/table.h"
#include "graph/onnx/window.h"

namespace rshift {
namespace {

// The record and the bytes of an f32 input.
struct Dynamic {
  ValueId record, bytes;
};

Dynamic QuantizeDynamically(OnnxNode& node, int i) {
  node.RequireFloat(i);
  const ValueId x = node.Input(i);
  const Shape shape = node.At(x).shape;
  node.CheckSupported(NumElements(shape) > 0, "input ", Quoted(node.At(x).name), " is empty");
  const ValueId record = node.Emit(DynamicRange{}, {x}, DType::kF32, {2});
  return {record, node.Emit(DynamicQuantize{}, {x, record}, DType::kU8, shape)};
}

void ImportDynamicQuantizeLinear(OnnxNode& node) {
  const Dynamic d = QuantizeDynamically(node, 0);
  node.Output(Identity{}, {d.bytes}, DType::kU8, node.ShapeOf(0));
  node.Output(Identity{}, {PartOfRecord(node, d.record, 0)}, DType::kF32, {}, 1);
  node.Output(Cast{DType::kU8}, {PartOfRecord(node, d.record, 1)}, DType::kU8, {}, 2);
}

void CheckMatrices(const OnnxNode& node) {
  node.CheckSupported(node.ShapeOf(0).size() >= 2 && node.ShapeOf(1).size() >= 2,
                      "an input is a vector; only matrices are supported");
}

bool IsByte(DType type) { return type == DType::kS8 || type == DType::kU8; }

ValueId InputOrNone(const OnnxNode& node, int i) {
  return node.HasInput(i) ? node.Input(i) : ValueId();
}

bool IsOneNumber(const OnnxNode& node, ValueId id) {
  return !id.valid() || NumElements(node.At(id).shape) == 1;
}

// A product as one command: bytes, their record, constant weights.
struct Factors {
  ValueId x, record;
  DynamicWeights weights;
};

Shape ProductShape(const OnnxNode& node, const Factors& f) {
  Shape shape = node.At(f.x).shape;
  shape.back() = node.At(f.weights.bytes).shape[1];
  return shape;
}

// The weights [K, N] of input `w`, zero points of input `zero`; nothing where no command has them.
std::optional<DynamicWeights> MatMulWeights(OnnxNode& node, const Shape& a, int w, int zero) {
  const Shape b = node.ShapeOf(w);
  if (b.size() != 2 || a.size() < 2 || NumElements(a) == 0) return std::nullopt;
  node.Check(a.back() == b[0], "inputs have the shapes ", ToString(a), " and ", ToString(b),
             ": inner dimensions ", a.back(), " and ", b[0], " differ");
  return ReadDynamicWeights(node, node.Input(w), InputOrNone(node, zero), 1);
}

bool MultiplyIntegers(OnnxNode& node) {
  const ValueId zero = InputOrNone(node, 2);
  if (!IsByte(node.TypeOf(0)) || !IsOneNumber(node, zero)) return false;
  const auto weights = MatMulWeights(node, node.ShapeOf(0), 1, 3);
  if (!weights) return false;
  const Factors f{node.Input(0), RecordOf(node, ValueId(), zero), *weights};
  DynamicMatMul op;
  op.zero_w = f.weights.zero_w;
  node.Output(op, {f.x, f.weights.bytes, f.record}, DType::kS32, ProductShape(node, f));
  return true;
}

void ImportMatMulInteger(OnnxNode& node) {
  CheckMatrices(node);
  if (MultiplyIntegers(node)) return;
  Expansion e(node);
  const std::string a = Centered(e, e.In(0), e.In(2)), b = Centered(e, e.In(1), e.In(3));
  e.Give("Identity", {ProductOf(e, a, b)});
}

// 1-D convolutions have height 1.
ValueId AsImage(OnnxNode& node, ValueId id) {
  Shape shape = node.At(id).shape;
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return node.Reshaped(id, shape);
}

bool ConvolveIntegers(OnnxNode& node) {
  const Shape x = node.ShapeOf(0), w = node.ShapeOf(1);
  const ValueId zero = InputOrNone(node, 2);
  const bool image = x.size() == 3 || x.size() == 4;
  if (!image || NumElements(x) == 0 || !IsByte(node.TypeOf(0)) || !IsOneNumber(node, zero))
    return false;
  node.Check(w.size() == x.size(), "weight ", Quoted(node.At(node.Input(1)).name), " has ",
             w.size(), " dimensions, expected ", x.size());
  const int64_t groups = node.Int("group", 1);
  node.Check(groups >= 1 && x[1] % groups == 0 && x[1] / groups == w[1] && w[0] % groups == 0,
             "input has ", x[1], " channels, which does not fit the weight ", ToString(w),
             " with group ", groups);
  const auto weights = ReadDynamicWeights(node, node.Input(1), InputOrNone(node, 3), 0);
  if (!weights) return false;
  const Size2 kernel = SpatialSize(node, w);
  DynamicConv op;
  op.window = ReadWindow(node, kernel, x.size());
  op.groups = groups;
  op.zero_w = weights->zero_w;
  const Size2 size = ResolveWindow(node, op.window, SpatialSize(node, x), false);
  const std::vector<ValueId> inputs{AsImage(node, node.Input(0)), AsImage(node, weights->bytes),
                                    RecordOf(node, ValueId(), zero)};
  const Shape out = WithSpatial(x[0], w[0], size, x.size());
  if (x.size() == 4) {
    node.Output(op, inputs, DType::kS32, out);
  } else {
    const Shape wide = WithSpatial(x[0], w[0], size, 4);
    node.OutputReshaped(node.Emit(op, inputs, DType::kS32, wide), out);
  }
  return true;
}

void ImportConvInteger(OnnxNode& node) {
  if (!ConvolveIntegers(node)) GiveConvOfNumbers(node);
}

// One for each of `n` columns.
std::optional<std::vector<float>> ColumnConstants(const OnnxNode& node, int i, int64_t n) {
  if (!node.At(node.Input(i)).is_constant()) return std::nullopt;
  std::vector<float> numbers = node.ConstantFloats(i, "numbers of columns");
  if (numbers.size() == 1) numbers.resize(static_cast<size_t>(n), numbers[0]);
  const bool fit =
      static_cast<int64_t>(numbers.size()) == n &&
      std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
  return fit ? std::optional(numbers) : std::nullopt;
}

// The f32 result of a product; inputs `scale` and `bias` are those of the columns.
bool GiveScaledProduct(OnnxNode& node, const Factors& f, int scale, int bias) {
  const Shape shape = ProductShape(node, f);
  const auto scales = ColumnConstants(node, scale, shape.back());
  const bool has_bias = node.HasInput(bias);
  const auto biases = has_bias ? ColumnConstants(node, bias, shape.back()) : std::nullopt;
  if (!scales || (has_bias && !biases)) return false;
  if (std::any_of(scales->begin(), scales->end(), [](float v) { return std::signbit(v); }))
    return false;
  DynamicMatMul op;
  op.scales = *scales;
  if (has_bias) op.bias = *biases;
  op.zero_w = f.weights.zero_w;
  node.Output(op, {f.x, f.weights.bytes, f.record}, DType::kF32, shape);
  return true;
}

// A, B, scale of B, zero point of B, bias.
void ImportDynamicQuantizeMatMul(OnnxNode& node) {
  CheckMatrices(node);
  const Dynamic d = QuantizeDynamically(node, 0);
  if (const auto weights = MatMulWeights(node, node.ShapeOf(0), 1, 3)) {
    if (GiveScaledProduct(node, {d.bytes, d.record, *weights}, 2, 4)) return;
  }
  Expansion e(node);
  const auto named = [&](ValueId id) {
    std::string name = node.At(id).name;
    node.state().values[name] = id;
    return name;
  };
  const std::string zero = named(PartOfRecord(node, d.record, 1));
  const std::string real = CastTo(e, named(d.bytes), onnx::TensorProto::FLOAT);
  const std::string a = e.Make("Sub", {real, zero}), b = Centered(e, e.In(1), e.In(3));
  const std::string scale = e.Make("Mul", {named(PartOfRecord(node, d.record, 0)), e.In(2)});
  GiveReal(e, ProductOf(e, a, b), scale, e.In(4));
}

bool MultiplyToFloat(OnnxNode& node) {
  const ValueId scale = node.Input(2), zero = InputOrNone(node, 4);
  if (!IsByte(node.TypeOf(0)) || !IsOneNumber(node, scale) || !IsOneNumber(node, zero))
    return false;
  const auto weights = MatMulWeights(node, node.ShapeOf(0), 1, 5);
  if (!weights) return false;
  return GiveScaledProduct(node, {node.Input(0), RecordOf(node, scale, zero), *weights}, 3, 6);
}

// A, B, their scales, their zero points, bias.
void ImportMatMulIntegerToFloat(OnnxNode& node) {
  CheckMatrices(node);
  if (MultiplyToFloat(node)) return;
  Expansion e(node);
  const std::string a = Centered(e, e.In(0), e.In(4)), b = Centered(e, e.In(1), e.In(5));
  const std::string scale = e.Make("Mul", {e.In(2), e.In(3)});
  GiveReal(e, ProductOf(e, a, b), scale, e.In(6));
}

constexpr ImportEntry kDynamicQuantizationImports[] = {
    {"DynamicQuantizeLinear", ImportDynamicQuantizeLinear},
    {"MatMulInteger", ImportMatMulInteger},
    {"ConvInteger", ImportConvInteger},
    {"com.microsoft:DynamicQuantizeMatMul", ImportDynamicQuantizeMatMul},
    {"com.microsoft:MatMulIntegerToFloat", ImportMatMulIntegerToFloat},
};

}  // namespace

std::span<const ImportEntry> DynamicQuantizationImports() { return kDynamicQuantizationImports; }

}  // namespace rshift
