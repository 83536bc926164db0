// QuantizeLinear and DequantizeLinear. On activations they become nodes, and the integer tensor
// holds the parameters. Of a constant only the result is left: DequantizeLinear gives an f32
// constant that remembers its integers (Value::origin).
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "graph/fold/fold.h"
#include "graph/onnx/blocks.h"
#include "graph/onnx/nibbles.h"
#include "graph/onnx/quant_parameters.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// Which scale belongs to each element of `shape`.
template <typename F>
void ForEachElement(const Shape& shape, int64_t axis, F f) {
  const int64_t count = NumElements(shape);
  const int64_t behind = axis < 0 ? 1 : Strides(shape)[axis];
  for (int64_t i = 0; i < count; ++i) f(i, axis < 0 ? 0 : i / behind % shape[axis]);
}

// A constant with one element for each index of the axis, to broadcast along the others.
ValueId AlongAxis(OnnxNode& node, const QuantParameters& p, std::span<const float> elements) {
  Shape shape(node.ShapeOf(0).size() - static_cast<size_t>(p.axis), 1);
  shape[0] = static_cast<int64_t>(elements.size());
  Value constant;
  constant.shape = std::move(shape);
  constant.constant = MakeConstant(elements);
  return node.Add(std::move(constant));
}

// The parameters of the bytes of an activation. With scales along an axis they count in units of
// the channel's scale: NUMERICS.md section 20.
QuantParams ActivationParams(const QuantParameters& p) {
  if (p.axis < 0) return {p.scales[0], p.zero_points[0]};
  return {1.0f, SharesZero(p) ? p.zero_points[0] : 0};
}

// What the Quantize of those units reads: x / scale, with zero points of channels rounded and
// moved by them.
ValueId InUnits(OnnxNode& node, const QuantParameters& p) {
  const ValueId x = node.Input(0);
  if (p.axis < 0) return x;
  const ValueId units = node.Broadcasted(BinaryOp::kDiv, x, AlongAxis(node, p, p.scales));
  if (SharesZero(p)) return units;
  const ValueId rounded = node.Applied(UnaryOp::kRound, units);
  const std::vector<float> zeros(p.zero_points.begin(), p.zero_points.end());
  return node.Broadcasted(BinaryOp::kAdd, rounded, AlongAxis(node, p, zeros));
}

bool IsWide(DType type) { return type == DType::kS16 || type == DType::kU16; }

int32_t CentreOf(DType type) { return type == DType::kU16 ? 32768 : 0; }

// Integers of 4 bits, whose type here is that of 8.
bool QuantizesToNibbles(OnnxNode& node) {
  const bool zero = node.HasInput(2) && node.state().nibbles.count(node.proto().input(2)) > 0;
  return zero || IsNibbles(static_cast<int>(node.Int("output_dtype", 0)));
}

// The least and the greatest integer that a QuantizeLinear gives.
std::pair<float, float> Limits(OnnxNode& node, DType type) {
  const bool is_signed = type == DType::kS8 || type == DType::kS16;
  const float levels = IsWide(type) ? 65536.0f : QuantizesToNibbles(node) ? 16.0f : 256.0f;
  const float lo = is_signed ? -levels / 2 : 0.0f;
  return {lo, lo + levels - 1};
}

// s8, u8, s16 or u16: that of the zero point, else `output_dtype`, else u8.
DType QuantizedType(const OnnxNode& node) {
  DType type = DType::kU8;
  const int64_t wanted = node.Int("output_dtype", 0);
  if (IsNibbles(static_cast<int>(wanted))) {
    type = wanted == kOnnxInt4 ? DType::kS8 : DType::kU8;
  } else if (wanted != 0) {
    type = ImportDType(static_cast<int>(wanted), node.where());
    node.Check(!node.HasInput(2) || node.TypeOf(2) == type, "attribute 'output_dtype' is ",
               Name(type), ", but the zero point has type ",
               node.HasInput(2) ? Name(node.TypeOf(2)) : "");
  }
  if (node.HasInput(2)) type = node.TypeOf(2);
  node.CheckSupported(type == DType::kS8 || type == DType::kU8 || IsWide(type), "quantizes to ",
                      Name(type), "; only s8, u8, s16 and u16 are supported");
  return type;
}

// round(x / scale) + zero, ties to even, saturated.
Value QuantizeConstant(OnnxNode& node, const Value& x, const QuantParameters& p, DType type) {
  const std::pair<float, float> limits = Limits(node, type);
  const float lo = limits.first, hi = limits.second;
  const auto in = x.constant->As<float>();
  std::vector<int64_t> integers(in.size());
  ForEachElement(x.shape, p.axis, [&](int64_t i, int64_t channel) {
    node.Check(!std::isnan(in[i]), "constant ", Quoted(x.name),
               " holds NaN, expected numbers; repair the model");
    const auto zero = static_cast<float>(p.zero_points[channel]);
    const float v = std::min(std::max(in[i] / p.scales[channel], lo - zero), hi - zero);
    integers[i] = static_cast<int64_t>(std::nearbyint(v) + zero);
  });
  Value result;
  result.dtype = type;
  result.shape = x.shape;
  result.constant = StoreInts(integers, type);
  return result;
}

// round(x / scale) + zero, as f32 numbers.
ValueId Integers(OnnxNode& node, ValueId x, const QuantParameters& p) {
  const auto zero = static_cast<float>(p.zero_points[0]);
  const ValueId units = node.Broadcasted(BinaryOp::kDiv, x, node.Scalar(p.scales[0]));
  const ValueId q = node.Applied(UnaryOp::kRound, units);
  return zero == 0 ? q : node.Broadcasted(BinaryOp::kAdd, q, node.Scalar(zero));
}

// q - zero.
ValueId Differences(OnnxNode& node, ValueId q, const QuantParameters& p) {
  const auto zero = static_cast<float>(p.zero_points[0]);
  return zero == 0 ? q : node.Broadcasted(BinaryOp::kSub, q, node.Scalar(zero));
}

// (q - zero) scale.
ValueId Reals(OnnxNode& node, ValueId q, const QuantParameters& p) {
  return node.Broadcasted(BinaryOp::kMul, Differences(node, q, p), node.Scalar(p.scales[0]));
}

// x as the model's 16-bit integers stand for it: a pair of QuantizeLinear and DequantizeLinear, in
// the form that an integer program is made from.
ValueId RoundTrip(OnnxNode& node, ValueId x, const QuantParameters& p, DType type) {
  const Shape shape = node.At(x).shape;
  if (p.zero_points[0] == CentreOf(type)) {
    const ValueId q = node.Emit(Quantize{}, {x}, DType::kS16, shape);
    node.SetQuant(q, {p.scales[0], 0});
    return node.Emit(Dequantize{}, {q}, DType::kF32, shape);
  }
  const auto [lo, hi] = Limits(node, type);
  const ValueId q = node.Emit(Clip{{lo, hi}}, {Integers(node, x, p)}, DType::kF32, shape);
  return Reals(node, q, p);
}

bool IsOutput(OnnxNode& node) {
  const auto& outputs = node.state().model->graph().output();
  return std::any_of(outputs.begin(), outputs.end(), [&](const onnx::ValueInfoProto& output) {
    return output.name() == node.proto().output(0);
  });
}

// Tensors of s16 have no other zero point than 0 (codegen/FORMAT.md).
bool HasQuant(const QuantParameters& p, DType type) {
  return type == DType::kU16 || p.zero_points[0] == 0;
}

// Who reads the integers that a QuantizeLinear gives. Readers are nodes of the outermost graph.
struct Readers {
  int dequantize = 0;   // DequantizeLinear
  int as_integers = 0;  // what moves or converts integers, and the model's outputs
  bool all = false;     // there are no others
};

Readers ReadersOf(OnnxNode& node) {
  static const std::set<std::string> kMoving = {
      "Cast",   "Concat",   "DepthToSpace", "Expand",    "Flatten",
      "Gather", "Identity", "Reshape",      "Slice",     "SpaceToDepth",
      "Split",  "Squeeze",  "Tile",         "Transpose", "Unsqueeze"};
  const std::string& name = node.proto().output(0);
  Readers readers;
  readers.as_integers = IsOutput(node) ? 1 : 0;
  int shape = 0;  // readers of the shape alone
  for (const onnx::NodeProto& reader : node.state().model->graph().node()) {
    const auto reads = static_cast<int>(std::ranges::count(reader.input(), name));
    if (reads == 0) continue;
    if (reader.op_type() == "DequantizeLinear") readers.dequantize += reads;
    if (kMoving.contains(reader.op_type())) readers.as_integers += reads;
    if (reader.op_type() == "Shape" || reader.op_type() == "Size") shape += reads;
  }
  const auto uses = node.state().uses.find(name);
  const int known = readers.dequantize + readers.as_integers + shape;
  readers.all = known > 0 && uses != node.state().uses.end() && uses->second == known;
  return readers;
}

// Integers of 16 bits about their zero point, as commands hold them: those of u16 less 32768, which
// no reader but DequantizeLinear knows; those of s16 as they are.
bool IsCentred(OnnxNode& node, const QuantParameters& p, DType type) {
  if (!IsWide(type) || p.axis >= 0 || p.zero_points[0] != CentreOf(type)) return false;
  const Readers readers = ReadersOf(node);
  return readers.all && (readers.as_integers == 0 || type == DType::kS16);
}

// Whether the integers themselves are wanted, of the model's type.
bool IsGiven(OnnxNode& node) {
  const Readers readers = ReadersOf(node);
  return readers.all && readers.as_integers > 0;
}

// Integers of 16 or 4 bits as f32 numbers (NUMERICS.md section 20). Their parameters stand at the
// value until the import ends. An output of the model has the integers themselves.
void QuantizeWide(OnnxNode& node, const QuantParameters& p, DType type) {
  node.CheckSupported(p.axis < 0, "quantizes to ", Name(type), " with ", p.scales.size(),
                      " scales; one scale is supported");
  const bool given = !QuantizesToNibbles(node) && IsGiven(node);
  node.CheckSupported(!IsOutput(node) || !QuantizesToNibbles(node),
                      "gives integers of type int4 to an output of the model; only s8, u8, s16 and "
                      "u16 are supported");
  const std::pair<float, float> limits = Limits(node, type);
  const Clip clip{{limits.first, limits.second}};
  if (given) {
    // Clipped again: an integer program's own steps may end beyond the model's last integer.
    const ValueId integers = Integers(node, RoundTrip(node, node.Input(0), p, type), p);
    const ValueId q = node.Emit(clip, {integers}, DType::kF32, node.ShapeOf(0));
    node.Output(Cast{type}, {q}, type, node.ShapeOf(0));
    if (HasQuant(p, type)) node.SetOutputQuant(ActivationParams(p));
    return;
  }
  const ValueId q = Integers(node, node.Input(0), p);
  node.Output(clip, {q}, DType::kF32, node.ShapeOf(0));
  node.SetOutputQuant({p.scales[0], p.zero_points[0]});
}

// Whether the value holds what QuantizeWide made.
bool HoldsWide(const Value& value) { return value.dtype == DType::kF32 && value.quant; }

void DequantizeWide(OnnxNode& node) {
  const DType type = node.HasInput(2) ? node.TypeOf(2) : DType::kS16;
  const QuantParameters p = ReadQuantParameters(node, node.ShapeOf(0), type);
  const ValueId q = node.Input(0);
  node.SetQuant(q, {p.scales[0], p.zero_points[0]});
  node.OutputBinary(BinaryOp::kMul, Differences(node, q, p), node.Scalar(p.scales[0]));
}

// Integers of 16 bits that are an input of the model or computed as such. Those of s16 about 0 are
// read as they are; others are rounded once more, which changes none of them.
void DequantizeGiven(OnnxNode& node, DType type) {
  const QuantParameters p = ReadQuantParameters(node, node.ShapeOf(0), type);
  node.CheckSupported(p.axis < 0, "dequantizes ", Quoted(node.At(node.Input(0)).name), " of type ",
                      Name(type), " with ", p.scales.size(), " scales; one scale is supported");
  if (HasQuant(p, type)) node.SetQuant(node.Input(0), ActivationParams(p));
  if (type == DType::kU16 || p.zero_points[0] != 0) {
    const ValueId x = Reals(node, node.Converted(node.Input(0), DType::kF32), p);
    return node.OutputReshaped(RoundTrip(node, x, p, type), node.ShapeOf(0));
  }
  node.Output(Dequantize{}, {node.Input(0)}, DType::kF32, node.ShapeOf(0));
}

void ImportQuantizeLinear(OnnxNode& node) {
  node.RequireFloat(0);
  const DType type = QuantizedType(node);
  const Shape shape = node.ShapeOf(0);
  if (node.Int("block_size", 0) != 0) {
    node.CheckSupported(!QuantizesToNibbles(node),
                        "has block_size and integers of 4 bits; expected 8");
    return QuantizeBlocks(node, type, Limits(node, type));
  }
  const QuantParameters p = ReadQuantParameters(node, shape, type);
  const Value x = node.At(node.Input(0));
  if (x.is_constant()) {
    if (QuantizesToNibbles(node)) node.state().nibbles.insert(node.proto().output(0));
    return node.OutputConstant(QuantizeConstant(node, x, p, type));
  }
  if (IsCentred(node, p, type)) {
    if (type == DType::kU16) node.state().centred.insert(node.proto().output(0));
    node.Output(Quantize{}, {node.Input(0)}, DType::kS16, shape);
    return node.SetOutputQuant({p.scales[0], 0});
  }
  if (IsWide(type) || QuantizesToNibbles(node)) return QuantizeWide(node, p, type);
  node.Output(Quantize{}, {InUnits(node, p)}, type, shape);
  node.SetOutputQuant(ActivationParams(p));
}

// (q - zero) * scale: exact difference, one rounding, as ONNX Runtime does it.
Value DequantizeConstant(const Value& q, const QuantParameters& p, int bits) {
  const std::vector<int64_t> integers = IntElements(q);
  std::vector<float> reals(integers.size());
  ForEachElement(q.shape, p.axis, [&](int64_t i, int64_t channel) {
    // What a scale near the largest number makes infinite (masks of attention) stays a number.
    constexpr float kMost = std::numeric_limits<float>::max();
    const float real = static_cast<float>(integers[i] - p.zero_points[channel]) * p.scales[channel];
    reals[i] = std::clamp(real, -kMost, kMost);
  });
  Value result;
  result.shape = q.shape;
  result.constant = MakeConstant<float>(reals);
  auto origin = std::make_shared<QuantizedOrigin>();
  origin->dtype = q.dtype;
  origin->bits = bits;
  origin->axis = p.axis;
  origin->scales = p.scales;
  origin->zero_points = p.zero_points;
  origin->integers = q.constant;
  result.origin = std::move(origin);
  return result;
}

// Whether the value holds what a centred QuantizeLinear made.
bool HoldsInt16(const Value& value) {
  return value.dtype == DType::kS16 && value.quant && !value.is_constant();
}

void DequantizeInt16(OnnxNode& node) {
  const std::string& name = node.proto().input(0);
  const DType own = node.state().centred.count(name) > 0 ? DType::kU16 : DType::kS16;
  const DType type = node.HasInput(2) ? node.TypeOf(2) : own;
  node.CheckSupported(type == own, "dequantizes ", Quoted(name), " of type ", Name(own),
                      " with a zero point of type ", Name(type));
  const QuantParameters p = ReadQuantParameters(node, node.ShapeOf(0), type);
  node.CheckSupported(p.axis < 0 && node.Int("block_size", 0) == 0, "dequantizes ", Quoted(name),
                      " with several scales, which was quantized with one");
  const int32_t zero = p.zero_points[0] - CentreOf(type);
  node.SetQuant(node.Input(0), {p.scales[0], zero});
  node.Output(Dequantize{}, {node.Input(0)}, DType::kF32, node.ShapeOf(0));
}

void ImportDequantizeLinear(OnnxNode& node) {
  if (HoldsWide(node.At(node.Input(0)))) return DequantizeWide(node);
  if (HoldsInt16(node.At(node.Input(0)))) return DequantizeInt16(node);
  if (node.Int("block_size", 0) != 0) return DequantizeBlocks(node);
  const DType type = node.TypeOf(0);
  node.CheckSupported(
      type == DType::kS8 || type == DType::kU8 || type == DType::kS32 || IsWide(type),
      "dequantizes ", Quoted(node.At(node.Input(0)).name), " of type ", Name(type),
      "; only s8, u8, s16, u16 and s32 are supported");
  if (IsWide(type) && !node.At(node.Input(0)).is_constant()) return DequantizeGiven(node, type);
  const Shape shape = node.ShapeOf(0);
  const QuantParameters p = ReadQuantParameters(node, shape, type);
  const Value q = node.At(node.Input(0));
  if (q.is_constant()) {
    const int bits = node.state().nibbles.count(node.proto().input(0)) > 0 ? 4 : 8;
    return node.OutputConstant(DequantizeConstant(q, p, bits));
  }
  if (type == DType::kS32) {
    const ValueId scale = p.axis < 0 ? node.Scalar(p.scales[0]) : AlongAxis(node, p, p.scales);
    return node.OutputBinary(BinaryOp::kMul, node.Converted(node.Input(0), DType::kF32), scale);
  }
  node.SetQuant(node.Input(0), ActivationParams(p));
  if (p.axis < 0) return node.Output(Dequantize{}, {node.Input(0)}, DType::kF32, shape);
  ValueId units = node.Emit(Dequantize{}, {node.Input(0)}, DType::kF32, shape);
  if (!SharesZero(p)) {
    const std::vector<float> zeros(p.zero_points.begin(), p.zero_points.end());
    units = node.Broadcasted(BinaryOp::kSub, units, AlongAxis(node, p, zeros));
  }
  node.OutputBinary(BinaryOp::kMul, units, AlongAxis(node, p, p.scales));
}

// Of TensorFlow Lite's 16x8 (graph/tflite/model.h).
void ImportTfliteQuantizeLinear(OnnxNode& node) {
  node.RequireFloat(0);
  const Shape shape = node.ShapeOf(0);
  const QuantParameters p = ReadQuantParameters(node, shape, DType::kS16);
  const Value x = node.At(node.Input(0));
  if (x.is_constant()) return node.OutputConstant(QuantizeConstant(node, x, p, DType::kS16));
  node.Output(Quantize{}, {node.Input(0)}, DType::kS16, shape);
  node.SetOutputQuant({p.scales[0], 0});
  if (node.Int("shifts_operands", 0) != 0) node.SetShiftsOperands();
}

void ImportTfliteDequantizeLinear(OnnxNode& node) {
  const Value q = node.At(node.Input(0));
  const Shape shape = node.ShapeOf(0);
  const QuantParameters p = ReadQuantParameters(node, shape, q.dtype);
  if (q.is_constant()) return node.OutputConstant(DequantizeConstant(q, p, 8));
  node.CheckSupported(q.dtype == DType::kS16, "dequantizes ", Quoted(q.name), " of type ",
                      Name(q.dtype), ", which is computed; expected a constant");
  node.SetQuant(node.Input(0), {p.scales[0], 0});
  node.Output(Dequantize{}, {node.Input(0)}, DType::kF32, shape);
}

constexpr ImportEntry kQuantImports[] = {
    {"QuantizeLinear", ImportQuantizeLinear},
    {"DequantizeLinear", ImportDequantizeLinear},
    {"tflite:QuantizeLinear", ImportTfliteQuantizeLinear},
    {"tflite:DequantizeLinear", ImportTfliteDequantizeLinear},
};

}  // namespace

std::span<const ImportEntry> QuantImports() { return kQuantImports; }

}  // namespace rshift
