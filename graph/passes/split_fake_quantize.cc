#include "graph/passes/split_fake_quantize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "graph/level_reading.h"
#include "graph/onnx/channel_scales.h"
#include "graph/passes/affine.h"
#include "graph/passes/fake_quantize_reading.h"
#include "graph/passes/util.h"
#include "isa/fake_quantize.h"

namespace rshift {
namespace {

class Splitter {
 public:
  Splitter(Graph graph, const SplitOptions& options)
      : options_(options), graph_(std::move(graph)), links_(graph_) {}

  SplitResult Run() {
    const size_t count = graph_.nodes().size();
    bool any = false;
    for (size_t n = 0; n < count; ++n) {
      if (!std::holds_alternative<FakeQuantize>(graph_.nodes()[n].op)) continue;
      any = true;
      while (TakeAffine(n)) {
      }
    }
    for (size_t n = 0; any && n < count; ++n) {
      if (std::holds_alternative<FakeQuantize>(graph_.nodes()[n].op)) Split(n);
    }
    result_.graph = any ? FoldChannelScales(Tidy(std::move(graph_))) : std::move(graph_);
    return std::move(result_);
  }

 private:
  // --- (FQ * a + b) * c ... : the output range takes what is behind it, where nobody else reads it

  bool TakeAffine(size_t n) {
    const Node node = graph_.nodes()[n];
    const ValueId y = node.outputs[0];
    const auto& op = std::get<FakeQuantize>(node.op);
    if (!links_.IsInternal(y)) return false;
    const NodeId behind = links_.Consumers(y)[0];
    const Node next = graph_.node(behind);
    const auto* binary = std::get_if<Binary>(&next.op);
    const Shape& shape = graph_.value(y).shape;
    const auto rows = graph_.value(node.inputs[1]).constant->As<FakeQuantizeRange>();
    const int64_t axis = rows.size() > 1 || shape.size() < 2 ? op.axis : 1;
    if (binary == nullptr || binary->clamp.active()) return false;
    if (graph_.value(next.outputs[0]).shape != shape) return false;
    const std::optional<AffineStep> step = ReadAffineStep(graph_, next, axis);
    if (!step || step->x != y) return false;
    const Affine& affine = step->affine;
    if (std::any_of(affine.scale.begin(), affine.scale.end(), [](double s) { return !(s > 0); }))
      return false;
    const auto equal = [](const std::vector<double>& v) {
      return std::all_of(v.begin(), v.end(), [&](double x) { return x == v[0]; });
    };
    const bool one = rows.size() == 1 && equal(affine.scale) && equal(affine.shift);
    std::vector<FakeQuantizeRange> taken;
    for (size_t c = 0; c < (one ? 1 : affine.scale.size()); ++c) {
      FakeQuantizeRange row = rows[rows.size() == 1 ? 0 : c];
      for (float* end : {&row.out_low, &row.out_high})
        *end = static_cast<float>(*end * affine.scale[c] + affine.shift[c]);
      taken.push_back(row);
    }
    // Only towards a range that has a scale and a zero point.
    if (!std::all_of(taken.begin(), taken.end(), [&](const FakeQuantizeRange& row) {
          return ReadLevels(row.out_low, row.out_high, op.levels).has_value();
        })) {
      return false;
    }
    Replace(n, behind, taken, axis);
    return true;
  }

  void Replace(size_t n, NodeId behind, const std::vector<FakeQuantizeRange>& rows, int64_t axis) {
    const NodeId id(static_cast<int32_t>(n));
    links_.Detach(id);
    links_.Detach(behind);
    Value ranges;
    ranges.name = links_.TakeName(graph_.nodes()[n].name + "__ranges");
    ranges.shape = {static_cast<int64_t>(rows.size()), 4};
    auto data = std::make_shared<ConstantData>();
    data->bytes.assign(reinterpret_cast<const uint8_t*>(rows.data()),
                       reinterpret_cast<const uint8_t*>(rows.data() + rows.size()));
    ranges.constant = std::move(data);
    const ValueId added = graph_.AddValue(std::move(ranges));
    Node& node = graph_.nodes()[n];
    Node& next = graph_.nodes()[behind.index()];
    node.inputs[1] = added;
    node.outputs = next.outputs;
    std::get<FakeQuantize>(node.op).axis = rows.size() > 1 ? axis : 0;
    Disconnect(next);
    links_.Attach(id);
  }

  // --- one FakeQuantize

  void Split(size_t n) {
    const Node node = graph_.nodes()[n];
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const Value out = graph_.value(y);
    auto reading =
        ReadFakeQuantize(std::get<FakeQuantize>(node.op), graph_.value(node.inputs[1]), out.name);
    if (!reading) return;
    if (options_.keep_ranges) ranges_ = TakeRanges(graph_.value(node.inputs[1]), &*reading);
    const bool drop = options_.drop_residual_round && BeforeResidual(x, y);
    result_.tuned.insert(result_.tuned.end(), reading->tuned.begin(), reading->tuned.end());
    const ValueId units = ToLevels(node, x, *reading, drop);
    if (drop) {
      result_.unrounded.push_back(out.name);
      graph_.nodes()[n] = {node.name, Identity{}, {units}, {y}};
      return;
    }
    const auto half = static_cast<int32_t>(reading->levels / 2);
    const bool is_signed =
        reading->SharesZero() && reading->zero[0] == half && (ranges_ == nullptr || !IsUnsigned(y));
    Value bytes = Like(out, "__q");
    bytes.ranges = std::exchange(ranges_, nullptr);
    bytes.dtype = is_signed ? DType::kS8 : DType::kU8;
    bytes.quant = QuantParams{static_cast<float>(reading->per_channel() ? 1 : reading->scale[0]),
                              is_signed               ? 0
                              : reading->SharesZero() ? reading->zero[0]
                                                      : 0};
    const ValueId q = graph_.AddValue(std::move(bytes));
    graph_.AddNode({node.name + "__quantize", Quantize{}, {units}, {q}});
    if (!reading->per_channel()) {
      graph_.nodes()[n] = {node.name, Dequantize{}, {q}, {y}};
      return;
    }
    ValueId levels = Emit(node, "__levels", Dequantize{}, {q}, out);
    if (!reading->SharesZero())
      levels = WithConstant(node, "__zero", BinaryOp::kSub, levels, Zeros(*reading), *reading, out);
    const ValueId scale = Constant(node, "__scale", reading->scale, *reading, out);
    graph_.nodes()[n] = {node.name, Binary{BinaryOp::kMul, {}}, {levels, scale}, {y}};
  }

  // The ranges, where their levels are the bytes themselves; `reading` gets OpenVINO's scales, the
  // binary32 quotients.
  static std::shared_ptr<const LevelRanges> TakeRanges(const Value& ranges,
                                                       FakeQuantizeReading* reading) {
    const bool axis = !reading->per_channel() || reading->axis == 1;
    if (reading->levels != 256 || !reading->tuned.empty() || !axis) return nullptr;
    auto taken = std::make_shared<LevelRanges>();
    std::vector<double> scales;
    for (const FakeQuantizeRange& row : ranges.constant->As<FakeQuantizeRange>()) {
      if (row.in_low != row.out_low || row.in_high != row.out_high) return nullptr;
      taken->low.push_back(row.in_low);
      taken->high.push_back(row.in_high);
      scales.push_back(static_cast<double>((row.in_high - row.in_low) / 255.0f));
    }
    reading->scale = reading->in_scale = scales;
    return taken;
  }

  static std::vector<double> Zeros(const FakeQuantizeReading& r) {
    return {r.zero.begin(), r.zero.end()};
  }

  // x as reals of the output range, per channel in levels, clipped where a byte has more of them.
  ValueId ToLevels(const Node& node, ValueId x, const FakeQuantizeReading& r, bool drop) {
    const Value& out = graph_.value(node.outputs[0]);
    const Value like = out;
    if (r.per_channel()) {
      x = WithConstant(node, "__units", BinaryOp::kDiv, x, r.in_scale, r, like);
      graph_.value(x).ranges = ranges_;
      x = Shifted(node, x, r.shift, r, like);
      if (!r.SharesZero()) {
        x = Emit(node, "__rounded", Unary{UnaryOp::kRound, 0, 0}, {x}, like);
        x = WithConstant(node, "__moved", BinaryOp::kAdd, x, Zeros(r), r, like);
      }
      return Clipped(node, x, r, like, 1, r.SharesZero() ? r.zero[0] : 0, drop);
    }
    const double ratio = r.scale[0] / r.in_scale[0];
    if (ratio != 1) x = WithConstant(node, "__rescaled", BinaryOp::kMul, x, {ratio}, r, like);
    x = Shifted(node, x, {r.shift[0] * r.scale[0]}, r, like);
    return Clipped(node, x, r, like, r.scale[0], r.zero[0], drop);
  }

  ValueId Shifted(const Node& node, ValueId x, const std::vector<double>& shift,
                  const FakeQuantizeReading& r, const Value& like) {
    if (std::all_of(shift.begin(), shift.end(), [](double s) { return s == 0; })) return x;
    return WithConstant(node, "__shifted", BinaryOp::kAdd, x, shift, r, like);
  }

  // 256 levels are all that a byte has: its saturation is the clip.
  ValueId Clipped(const Node& node, ValueId x, const FakeQuantizeReading& r, const Value& like,
                  double scale, int32_t zero, bool drop) {
    if (r.levels == 256 && !drop) return x;
    const Clamp clamp{static_cast<float>(-zero * scale),
                      static_cast<float>(static_cast<double>(r.levels - 1 - zero) * scale)};
    const ValueId clipped = Emit(node, "__clipped", Clip{clamp}, {x}, like);
    if (drop && !r.per_channel()) graph_.value(clipped).ranges = std::exchange(ranges_, nullptr);
    return clipped;
  }

  static bool MovesValues(const Node& node) {
    return std::holds_alternative<MaxPool>(node.op) || std::holds_alternative<Concat>(node.op) ||
           std::holds_alternative<Pad>(node.op) || std::holds_alternative<Reshape>(node.op) ||
           std::holds_alternative<Transpose>(node.op);
  }

  // Where OpenVINO has u8: a convolution reads it, or what moves its values, or it is a result.
  bool IsUnsigned(ValueId y) const {
    std::vector<ValueId> waiting = {y};
    std::set<ValueId> seen = {y};
    while (!waiting.empty()) {
      const ValueId value = waiting.back();
      waiting.pop_back();
      if (graph_.IsOutput(value)) return true;
      for (NodeId reader : links_.Consumers(value)) {
        const Node& node = graph_.node(reader);
        if (std::holds_alternative<Conv>(node.op) && node.inputs[0] == value) return true;
        if (MovesValues(node) && seen.insert(node.outputs[0]).second)
          waiting.push_back(node.outputs[0]);
      }
    }
    return false;
  }

  static bool IsActivation(const Node& node) {
    return std::holds_alternative<Clip>(node.op) || std::holds_alternative<LeakyRelu>(node.op) ||
           std::holds_alternative<PRelu>(node.op) || std::holds_alternative<Unary>(node.op);
  }

  // Whether a convolution or product makes it, constant factors, offsets and activations behind.
  bool IsBehindLinear(ValueId x) const {
    for (const Node* node = links_.Producer(x); node != nullptr; node = links_.Producer(x)) {
      if (std::holds_alternative<Conv>(node->op) || std::holds_alternative<MatMul>(node->op) ||
          std::holds_alternative<ConvTranspose>(node->op))
        return true;
      const auto* binary = std::get_if<Binary>(&node->op);
      const bool constant = binary != nullptr && graph_.value(node->inputs[1]).is_constant();
      if (!IsActivation(*node) && !constant) return false;
      x = node->inputs[0];
    }
    return false;
  }

  // FQ -> Add -> FQ, with an activation before the second or not. Of two operands one keeps its
  // bytes.
  bool BeforeResidual(ValueId x, ValueId y) {
    if (!links_.IsInternal(y) || (options_.keep_ranges && !IsBehindLinear(x))) return false;
    const NodeId reader = links_.Consumers(y)[0];
    const Node& add = graph_.node(reader);
    const auto* binary = std::get_if<Binary>(&add.op);
    if (binary == nullptr || binary->op != BinaryOp::kAdd || sums_.contains(reader)) return false;
    for (const ValueId id : add.inputs) {
      if (graph_.value(id).is_constant()) return false;
    }
    ValueId sum = add.outputs[0];
    if (!links_.IsInternal(sum)) return false;
    const Node* next = &graph_.node(links_.Consumers(sum)[0]);
    if (IsActivation(*next) && links_.IsInternal(next->outputs[0]))
      next = &graph_.node(links_.Consumers(next->outputs[0])[0]);
    if (!std::holds_alternative<FakeQuantize>(next->op)) return false;
    sums_.insert(reader);
    return true;
  }

  Value Like(const Value& value, const char* suffix) {
    Value made;
    made.name = links_.TakeName(value.name + suffix);
    made.shape = value.shape;
    return made;
  }

  ValueId Emit(const Node& node, const char* suffix, Op op, std::vector<ValueId> inputs,
               const Value& like) {
    const ValueId y = graph_.AddValue(Like(like, suffix));
    graph_.AddNode({node.name + suffix, std::move(op), std::move(inputs), {y}});
    return y;
  }

  ValueId Constant(const Node& node, const char* suffix, const std::vector<double>& numbers,
                   const FakeQuantizeReading& r, const Value& like) {
    Shape shape;
    if (numbers.size() > 1) {
      shape.assign(like.shape.size() - static_cast<size_t>(r.axis), 1);
      shape[0] = static_cast<int64_t>(numbers.size());
    }
    return AddFloats(graph_, links_, node.name + suffix, shape, numbers);
  }

  ValueId WithConstant(const Node& node, const char* suffix, BinaryOp op, ValueId x,
                       const std::vector<double>& numbers, const FakeQuantizeReading& r,
                       const Value& like) {
    const ValueId constant = Constant(node, suffix, numbers, r, like);
    return Emit(node, suffix, Binary{op, {}}, {x, constant}, like);
  }

  const SplitOptions options_;
  Graph graph_;
  Links links_;
  std::set<NodeId> sums_;                      // with an operand that is not rounded
  std::shared_ptr<const LevelRanges> ranges_;  // of the FakeQuantize that is split
  SplitResult result_;
};

}  // namespace

SplitResult SplitFakeQuantize(Graph graph, const SplitOptions& options) {
  return Splitter(std::move(graph), options).Run();
}

}  // namespace rshift
