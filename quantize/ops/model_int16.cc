// Operators on 16-bit integers that a model brings, beside weights of 8 bits: LiteRT's 16x8.
// NUMERICS.md section 30. Convolutions and matrix products are written by conv.cc and matmul.cc.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "graph/conv_or_matmul.h"
#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/softmax_int16.h"
#include "quantize/numerics/tflite_int16.h"
#include "quantize/ops/operand.h"
#include "quantize/ops/ops.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {

namespace {

// --- convolutions and matrix products ---

// Product k of channel c is weight c channel_stride + (k / run) k_stride + k % run.
struct Products {
  int64_t channels = 0, count = 0, channel_stride = 0, k_stride = 1, run = 1;
};

// The products of each output channel.
Products ProductsOf(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  if (std::holds_alternative<MatMul>(node.op)) return {w[1], w[0], 1, w[1]};
  if (std::holds_alternative<Conv>(node.op)) {
    const int64_t count = w[0] == 0 ? 0 : NumElements(w) / w[0];
    return {w[0], count, count, 1};
  }
  const int64_t taps = w[2] * w[3];  // a ConvTranspose: [IC, OC / groups, KH, KW], of all groups
  return {w[1], w[0] * taps, taps, w[1] * taps, taps};
}

// What the products of a channel with s16 reach.
double ReachOf(const QuantizedOrigin& weights, const Products& p, int64_t channel) {
  const auto w = weights.integers->As<int8_t>();
  int64_t magnitudes = 0;
  for (int64_t k = 0; k < p.count; ++k)
    magnitudes +=
        std::abs(int64_t{w[channel * p.channel_stride + k / p.run * p.k_stride + k % p.run]});
  return static_cast<double>(numerics::kInt16Magnitude * magnitudes);
}

// The largest |bias + sum of x w| of any channel. bias: s64, or null.
double LargestSum(const QuantizedOrigin& weights, const QuantizedOrigin* bias, const Products& p) {
  double largest = 0;
  for (int64_t c = 0; c < p.channels; ++c) {
    double sum = ReachOf(weights, p, c);
    if (bias != nullptr) sum += std::fabs(static_cast<double>(bias->integers->As<int64_t>()[c]));
    largest = std::max(largest, sum);
  }
  return largest;
}

bool FitsInt32(const QuantizedOrigin& bias) {
  const auto q = bias.integers->As<int64_t>();
  return std::all_of(q.begin(), q.end(),
                     [](int64_t v) { return std::abs(v) <= numerics::kInt32Limit; });
}

std::string WhyNotProduct(const Graph& graph, const Node& node, bool narrow) {
  const Products p = ProductsOf(graph, node);
  const QuantizedOrigin* weights = graph.value(node.inputs[1]).origin.get();
  const bool plain = weights != nullptr && weights->dtype == DType::kS8 &&
                     std::all_of(weights->zero_points.begin(), weights->zero_points.end(),
                                 [](int32_t zero) { return zero == 0; });
  if (!plain) return "its weights are not s8 with zero point 0";
  const QuantizedOrigin* bias = nullptr;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    bias = graph.value(node.inputs[2]).origin.get();
    if (bias == nullptr || bias->dtype != DType::kS64)
      return "its bias is not s64, as beside activations of 16 bits";
    if (!FitsInt32(*bias)) return "its bias does not fit 32 bits";
  }
  const double limit = static_cast<double>(
      narrow && bias == nullptr ? numerics::kInt32Limit : numerics::kInt16AccumulatorLimit);
  const double most = LargestSum(*weights, bias, p);
  if (most > limit) return Cat("its sums may reach ", most, ", more than ", limit);
  return "";
}

// --- under rules that hold 16 bits in the forms of NUMERICS.md section 29 ---

// Weights of the model's own scales, whose bias and sums are what they are.
std::string WhyNotScaledProduct(const Graph& graph, const Node& node, const IntType& x) {
  const Value& value = graph.value(node.inputs[1]);
  const QuantizedOrigin* weights = value.origin.get();
  if (weights == nullptr) return "its weights are not quantized to 8 bits";
  const Products p = ProductsOf(graph, node);
  const int64_t axis = std::holds_alternative<Conv>(node.op) ? 0 : 1;
  const bool each = weights->scales.size() != 1;
  if (each && (weights->axis != axis || static_cast<int64_t>(weights->scales.size()) != p.channels))
    return "its weights have scales along a dimension that is not its result's";
  const bool biased = node.inputs.size() > 2 && node.inputs[2].valid();
  if (biased && !graph.value(node.inputs[2]).is_constant()) return "its bias is not constant";
  std::span<const float> bias;
  if (biased) bias = graph.value(node.inputs[2]).constant->As<float>();
  double most = 0, most_bias = 0;
  for (int64_t c = 0; c < p.channels; ++c) {
    const float scale = weights->scales[each ? static_cast<size_t>(c) : 0];
    const double unit = static_cast<double>(x.quant.scale) * static_cast<double>(scale);
    double own = 0;  // of the groups of a ConvTranspose, whose channels have one scale
    for (size_t b = static_cast<size_t>(c); b < bias.size(); b += static_cast<size_t>(p.channels))
      own = std::max(own, std::fabs(static_cast<double>(bias[b])) / unit);
    most_bias = std::max(most_bias, own);
    most = std::max(most, own + ReachOf(*weights, p, c));
  }
  if (!(most_bias < 0x1p31 - 1)) return "its bias does not fit 32 bits";
  if (most > static_cast<double>(numerics::kInt16AccumulatorLimit))
    return Cat("its sums may reach ", most, ", more than ", numerics::kInt16AccumulatorLimit);
  return "";
}

// A constant that has no integers: -inf of a mask, say.
bool ReadsNonFinite(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    if (!id.valid() || !graph.value(id).is_constant() || graph.value(id).dtype != DType::kF32)
      return false;
    const auto numbers = graph.value(id).constant->As<float>();
    return !std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
  });
}

std::string WhyNotInt16Form(const Graph& graph, const Node& node, const IntType& x) {
  if (!HasInt16Form(graph, node)) return "it has no 16-bit form";
  if (ReadsNonFinite(graph, node)) return "a constant holds numbers that are not finite";
  const bool product = IsConvOrMatMul(node.op) &&
                       (!std::holds_alternative<MatMul>(node.op) || HasConstantMatrix(graph, node));
  return product ? WhyNotScaledProduct(graph, node, x) : "";
}

// LiteRT's multiplier has 7 bits above 1.
std::string WhyNotScale(const QuantizedOrigin& weights, const IntType& x, const IntType& y) {
  for (const float w : weights.scales) {
    const double scale = numerics::TfLiteScaleDouble(x.quant.scale, w, y.quant.scale);
    if (scale >= numerics::kMostTfLiteWideScale)
      return Cat("its factor is ", scale, ", LiteRT's are below 128");
  }
  return "";
}

// Of Conv and ConvTranspose; LiteRT's has one group.
std::string WhyNotConv(const Graph& graph, const Node& node, const IntType& x, const IntType& y) {
  const std::string why = WhyNotProduct(graph, node, false);
  return why.empty() ? WhyNotScale(*graph.value(node.inputs[1]).origin, x, y) : why;
}

std::string WhyNotBatchedMatMul(const Graph& graph, const Node& node,
                                std::span<const IntType> types, const IntType& y) {
  for (size_t i = 0; i < 2; ++i) {
    if (graph.value(node.inputs[i]).is_constant()) return "a factor is constant, and not of 8 bits";
  }
  const int64_t k = graph.value(node.inputs[0]).shape.back();
  if (k > numerics::kMostInt16Products)
    return Cat("sums of ", k, " products of 16-bit integers, expected at most ",
               numerics::kMostInt16Products);
  const double scale =
      numerics::TfLiteScaleProduct(types[0].quant.scale, types[1].quant.scale, y.quant.scale);
  if (scale >= numerics::kMostTfLiteWideScale)
    return Cat("its factor is ", scale, ", LiteRT's are below 128");
  return "";
}

std::string WhyNotMatMul(const Graph& graph, const Node& node, const ModelInt16Rules& rules,
                         std::span<const IntType> types, const IntType& y) {
  if (!HasConstantMatrix(graph, node)) return WhyNotBatchedMatMul(graph, node, types, y);
  return WhyNotProduct(graph, node, rules.HasNarrowSums());
}

// --- others ---

std::string WhyNotBinary(const Graph& graph, const Node& node, const Binary& op,
                         std::span<const IntType> types, const IntType& y) {
  const bool extremum = op.op == BinaryOp::kMax || op.op == BinaryOp::kMin;
  if (!IsSumOrProduct(op.op) && !extremum) return "it has no 16-bit form here";
  std::vector<float> scales;
  for (size_t i = 0; i < 2; ++i) {
    const Value& value = graph.value(node.inputs[i]);
    if (value.is_constant() && !IsInt16Constant(value)) return "its constant is not s16";
    scales.push_back(value.is_constant() ? value.origin->scales[0] : types[i].quant.scale);
  }
  if (extremum && (scales[0] != y.quant.scale || scales[1] != y.quant.scale))
    return "LiteRT compares 16-bit integers without changing their scale";
  if (op.op == BinaryOp::kMul || extremum || !y.shifts_operands) return "";
  const float larger = std::max(scales[0], scales[1]);
  if (larger != y.quant.scale)
    return "LiteRT shifts its operands, and neither has the scale of its result";
  return "";
}

std::string WhyNotPool(const AveragePool& op, const IntType& x, const IntType& y) {
  const Window& w = op.window;
  const bool pads = w.pad_top > 0 || w.pad_left > 0 || w.pad_bottom > 0 || w.pad_right > 0;
  if (pads && op.count_include_pad) return "it counts pads";
  if (!(x == y)) return "LiteRT's 16-bit average has one scale for what it reads and writes";
  return "";
}

std::string WhyNotReduce(const Graph& graph, const Node& node, const Reduce& op, const IntType& x,
                         const IntType& y) {
  if (op.op == ReduceOp::kMax || op.op == ReduceOp::kMin)
    return x == y ? "" : "LiteRT compares 16-bit integers without changing their scale";
  if (op.op == ReduceOp::kProd) return "";
  if (op.op != ReduceOp::kMean) return "LiteRT's 16-bit form of it is not reproduced";
  const auto size = [&](ValueId id) { return NumElements(graph.value(id).shape); };
  const int64_t reduced = size(node.inputs[0]) / std::max<int64_t>(size(node.outputs[0]), 1);
  if (reduced > numerics::kMostTwoStepTaps)
    return Cat("sums of ", reduced, " 16-bit integers may leave 32 bits");
  return "";
}

std::string WhyNotSoftmax(const Graph& graph, const Node& node, const Softmax& op,
                          const IntType& y) {
  const Shape& shape = graph.value(node.inputs[0]).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (op.log) return "LiteRT has no 16-bit form of it";
  if (op.axis != -1 && op.axis != rank - 1) return "it is not over the last dimension";
  if (y.quant.scale != 0x1p-15f) return "the scale of its 16-bit result is not 1/32768";
  if (shape.back() > numerics::kMostSoftmaxInt16)
    return Cat("its rows have more than ", numerics::kMostSoftmaxInt16, " elements");
  return "";
}

Operand OperandOf(Emitter& emitter, const Node& node, ValueId old_id) {
  const Value& value = emitter.old().value(old_id);
  return value.is_constant() ? OwnInt16(emitter, node, value) : MakeOperand(emitter, node, old_id);
}

void EmitPair(Emitter& emitter, const Node& node, const Binary& op) {
  BinaryLayer layer;
  layer.op = op.op;
  layer.y = emitter.Type(node.outputs[0]);
  layer.clamp = op.clamp;
  Operand a = OperandOf(emitter, node, node.inputs[0]);
  const Operand b = OperandOf(emitter, node, node.inputs[1]);
  layer.a = a.type;
  layer.b = b.type;
  // The command repeats its second operand alone.
  const Value &first = emitter.old().value(node.inputs[0]),
              &y = emitter.old().value(node.outputs[0]);
  if (first.is_constant() && first.shape != y.shape) {
    const ValueId expanded = emitter.Temporary(node.outputs[0], "__first", a.type);
    emitter.AddNode(node.name + "__first", Expand{}, {a.id}, expanded);
    a.id = expanded;
  }
  emitter.AddNode(node.name, RulesOf(emitter).MakeBinary(layer), {a.id, b.id},
                  emitter.DefineInt(node.outputs[0]));
}

std::string WhyNotPRelu(const Graph& graph, const Node& node) {
  const QuantizedOrigin* slope = graph.value(node.inputs[1]).origin.get();
  const bool plain = slope != nullptr && slope->dtype == DType::kS8 && slope->scales.size() == 1 &&
                     (slope->zero_points.empty() || slope->zero_points[0] == 0);
  return plain ? "" : "its slope is not s8 of one scale with zero point 0, as LiteRT reads it";
}

// max(x, 0) and slope min(x, 0), each rescaled and rounded; one of them is 0, so their sum is
// exact.
void EmitModelPRelu(Emitter& emitter, const Node& node) {
  const Arithmetic& rules = RulesOf(emitter);
  const Value& slope = emitter.old().value(node.inputs[1]);
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const Value &x = emitter.old().value(old_x), &y = emitter.old().value(old_y);
  BinaryLayer product;
  product.op = BinaryOp::kMul;
  product.a = emitter.Type(old_x);
  product.y = emitter.Type(old_y);
  const ValueId input = emitter.Int(old_x);
  const ValueId positive = emitter.AddStep(
      node, "__positive", rules.MakeClip({product.a, product.y}, {0, product.y.qmax()}), input,
      old_y, product.y, y.shape, y.layout);
  const isa::RequantizeS16 below{.words = {}, .clamp = {product.a.qmin(), 0}};
  const ValueId negative =
      emitter.AddStep(node, "__negative", below, input, old_x, product.a, x.shape, x.layout);
  const auto bytes = slope.origin->integers->As<int8_t>();
  product.b = {DType::kS16, {slope.origin->scales[0], 0}};
  const std::vector<int16_t> numbers(bytes.begin(), bytes.end());
  const Operand slopes = Int16Numbers(emitter, node, slope, product.b, numbers);
  const ValueId scaled = emitter.Temporary(old_y, "__scaled", product.y);
  emitter.AddNode(node.name + "__scaled", rules.MakeBinary(product), {negative, slopes.id}, scaled);
  const isa::AddS16 sum{
      .multiplier = 1, .multiplier2 = 1, .clamp = {product.y.qmin(), product.y.qmax()}};
  emitter.AddNode(node.name, sum, {positive, scaled}, emitter.DefineInt(old_y));
}

// A command of one operand.
void EmitOne(Emitter& emitter, const Node& node, Op op) {
  const ValueId x = emitter.Int(node.inputs[0]);
  emitter.AddNode(node.name, std::move(op), {x}, emitter.DefineInt(node.outputs[0]));
}

}  // namespace

std::string WhyNotModelInt16(const Graph& graph, const Node& node, const Arithmetic& rules,
                             std::span<const IntType> types, const IntType& y) {
  const ModelInt16Rules* int16 = rules.ModelInt16();
  if (int16 == nullptr && rules.HoldsModelInt16()) return WhyNotInt16Form(graph, node, types[0]);
  if (int16 == nullptr) return "this profile has no 16-bit integers of a model's own";
  bool all = y.is_s16();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool activation = node.inputs[i].valid() && types[i].quant.scale > 0;
    all = all && (!activation || types[i].is_s16());
  }
  if (!all) return "it reads or writes integers of 8 bits beside those of 16";
  const IntType& x = types[0];
  const auto why = Overloaded{
      [&](const Conv&) { return WhyNotConv(graph, node, x, y); },
      [&](const ConvTranspose&) { return WhyNotConv(graph, node, x, y); },
      [&](const MatMul&) { return WhyNotMatMul(graph, node, *int16, types, y); },
      [&](const Binary& op) { return WhyNotBinary(graph, node, op, types, y); },
      [&](const Unary& op) { return int16->WhyNot(op, x, y); },
      [&](const AveragePool& op) { return WhyNotPool(op, x, y); },
      [&](const Reduce& op) { return WhyNotReduce(graph, node, op, x, y); },
      [&](const Softmax& op) { return WhyNotSoftmax(graph, node, op, y); },
      [&](const Resize& op) {
        const bool moves = op.mode == ResizeMode::kNearest;
        if (x == y) return std::string();
        return std::string(moves ? "LiteRT moves 16-bit integers without changing their scale"
                                 : "LiteRT interpolates 16-bit integers in one scale");
      },
      [](const LeakyRelu&) { return std::string(); },
      [&](const PRelu&) { return WhyNotPRelu(graph, node); },
      [](const Clip&) { return std::string(); },
      [&](const auto&) {
        const bool moves = MovesInput(graph, node) || std::holds_alternative<MaxPool>(node.op) ||
                           std::holds_alternative<Concat>(node.op);
        if (!moves) return std::string("it has no 16-bit form here");
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          if (types[i].is_s16() && !(types[i] == y))
            return std::string("LiteRT moves 16-bit integers without changing their scale");
        }
        return std::string();
      }};
  return std::visit(why, node.op);
}

bool EmitModelInt16(Emitter& emitter, const Node& node) {
  const ModelInt16Rules& rules = *RulesOf(emitter).ModelInt16();
  const auto type = [&](ValueId id) { return emitter.Type(id); };
  const auto emit = Overloaded{
      [&](const Binary& op) {
        EmitPair(emitter, node, op);
        return true;
      },
      [&](const Unary& op) {
        EmitOne(emitter, node, rules.MakeUnary(type(node.inputs[0]), type(node.outputs[0]), op));
        return true;
      },
      [&](const MatMul&) {
        if (HasConstantMatrix(emitter.old(), node)) return false;
        const ValueId a = node.inputs[0], b = node.inputs[1];
        const ValueId first = emitter.Int(a), second = emitter.Int(b);
        emitter.AddNode(node.name, rules.MakeBatchedMatMul(type(a), type(b), type(node.outputs[0])),
                        {first, second}, emitter.DefineInt(node.outputs[0]));
        return true;
      },
      [&](const LeakyRelu& op) {
        EmitOne(emitter, node,
                rules.MakeLeakyRelu(type(node.inputs[0]), type(node.outputs[0]), op.alpha));
        return true;
      },
      [&](const PRelu&) {
        EmitModelPRelu(emitter, node);
        return true;
      },
      [&](const AveragePool& op) {
        isa::AveragePoolS16 pool = rules.MakePool();
        pool.window = op.window;
        EmitOne(emitter, node, pool);
        return true;
      },
      [&](const Softmax&) {
        EmitOne(emitter, node, rules.MakeSoftmax(type(node.inputs[0])));
        return true;
      },
      [](const auto&) { return false; }};
  return std::visit(emit, node.op);
}

}  // namespace rshift
