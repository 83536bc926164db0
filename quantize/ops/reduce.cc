// Reductions over any axes as a pool over one window: the reduced elements stand under each other.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "quantize/numerics/int16_terms.h"
#include "quantize/numerics/squares.h"
#include "quantize/numerics/table.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

// Sums of 255 |q| fit 32 bits; the window's bound in a command.
constexpr int64_t kMostReduced = int64_t{1} << 20;
// Neighbours for which a pool is worth its call.
constexpr int64_t kFewChannels = 16;

// x as [outer, reduced, 1, inner], its dimensions in this order.
struct Arrangement {
  std::vector<int64_t> perm;
  bool moves = false;
  int64_t outer = 1, reduced = 1, inner = 1;
};

Arrangement Arrange(const Shape& x, const std::vector<int64_t>& axes) {
  Arrangement result;
  std::vector<bool> is_reduced(x.size());
  for (const int64_t axis : axes) is_reduced[static_cast<size_t>(axis)] = true;
  int64_t first = static_cast<int64_t>(x.size()), last = -1;
  for (size_t d = 0; d < x.size(); ++d) {
    if (!is_reduced[d]) continue;
    result.reduced *= x[d];
    first = std::min(first, static_cast<int64_t>(d));
    last = static_cast<int64_t>(d);
  }
  const bool together = last - first + 1 == static_cast<int64_t>(axes.size());
  for (size_t d = 0; d < x.size(); ++d) {
    if (!is_reduced[d]) (static_cast<int64_t>(d) < first ? result.outer : result.inner) *= x[d];
  }
  result.perm.resize(x.size());
  std::iota(result.perm.begin(), result.perm.end(), 0);
  if (together && (result.inner >= kFewChannels || result.outer == 1)) return result;
  std::stable_partition(result.perm.begin(), result.perm.end(),
                        [&](int64_t d) { return is_reduced[static_cast<size_t>(d)]; });
  result.moves = true;
  result.inner *= result.outer;
  result.outer = 1;
  return result;
}

std::vector<int64_t> AxesOf(const Reduce& op, size_t rank) {
  std::vector<int64_t> axes;
  for (const int64_t axis : op.axes) {
    axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  }
  return axes;
}

struct Integers {
  ValueId id;  // new
  IntType type;
};

// entry(q) for each byte, on the way from `x` to a tensor of type `type`.
Integers Mapped(Emitter& emitter, const Node& node, const Integers& x, const char* suffix,
                const IntType& type, const std::function<int32_t(int32_t)>& entry) {
  const Value& value = emitter.old().value(node.inputs[0]);
  const ValueId made = emitter.AddStep(node, suffix, TableOf(x.type, entry), x.id, node.inputs[0],
                                       type, value.shape, value.layout);
  return {made, type};
}

ValueId Arranged(Emitter& emitter, const Node& node, const Integers& x, const Arrangement& a) {
  const Value& value = emitter.old().value(node.inputs[0]);
  ValueId at = x.id;
  if (a.moves) {
    Shape moved;
    for (const int64_t d : a.perm) moved.push_back(value.shape[static_cast<size_t>(d)]);
    at = emitter.AddStep(node, "__reduced_first", Transpose{a.perm}, at, node.inputs[0], x.type,
                         moved, Layout::kPlain);
  }
  return emitter.AddStep(node, "__columns", Reshape{}, at, node.inputs[0], x.type,
                         {a.outer, a.reduced, 1, a.inner}, Layout::kNhwc);
}

Window WindowOf(int64_t rows) {
  Window window;
  window.kernel_h = rows;
  return window;
}

// Their sum, or its root, where y's scale is the one for it.
isa::ReduceSquares SquaresOf(const IntType& x, const IntType& y, bool root) {
  const double by_x = static_cast<double>(x.quant.scale), by_y = static_cast<double>(y.quant.scale);
  isa::ReduceSquares squares{.root = root,
                             .words = numerics::SquaresWords((root ? by_x : by_x * by_x) / by_y)};
  squares.clamp = {y.qmin(), y.qmax()};
  return squares;
}

// A sum, mean or product of the rows.
Op PoolOf(Emitter& emitter, const Reduce& op, const IntType& x, const IntType& y,
          const Arrangement& a) {
  if (op.op == ReduceOp::kL2 || op.op == ReduceOp::kSumSquare)
    return SquaresOf(x, y, op.op == ReduceOp::kL2);
  if (op.op == ReduceOp::kProd) return RulesOf(emitter).MakeProduct(x, y, a.reduced);
  if (x.is_s16()) {
    isa::AveragePoolS16 wide;
    if (const ModelInt16Rules* own = RulesOf(emitter).ModelInt16()) {
      wide = own->MakeMean(x, y, a.reduced);
    } else {
      const double ratio = static_cast<double>(x.quant.scale) / static_cast<double>(y.quant.scale);
      const bool mean = op.op == ReduceOp::kMean;
      wide.words =
          numerics::AverageInt16Words(mean ? ratio : ratio * static_cast<double>(a.reduced));
      wide.clamp = {y.qmin(), y.qmax()};
    }
    wide.window = WindowOf(a.reduced);
    return wide;
  }
  isa::AveragePool pool = RulesOf(emitter).MakeReduction(
      {.x = x, .y = y, .rows = a.reduced, .mean = op.op == ReduceOp::kMean});
  pool.window = WindowOf(a.reduced);
  return pool;
}

int32_t Mirrored(const IntType& type, int32_t q) { return type.qmin() + type.qmax() - q; }

// A function of s16 with straight lines between every 128th number.
template <typename F>
QTableS16 LinesOfInt16(const F& function) {
  QTableS16 table;
  table.clamp = {-32768, 32767};
  for (int32_t i = 0; i <= numerics::kTableSteps; ++i) {
    const int32_t q = i * (1 << numerics::kTableStepBits) - 32768;
    table.interpolated.push_back(function(q) * (1 << numerics::kTableFractionBits));
  }
  return table;
}

QTableS16 MirrorOfInt16() {
  return LinesOfInt16([](int32_t q) { return -1 - q; });
}

// As EmitExtreme().
void EmitExtremeInt16(Emitter& emitter, const Node& node, const Integers& x, const Arrangement& a,
                      bool min) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const Value &from = emitter.old().value(old_x), &to = emitter.old().value(old_y);
  Integers source = x;
  if (min) {
    source.id = emitter.AddStep(node, "__mirrored", MirrorOfInt16(), x.id, old_x, x.type,
                                from.shape, from.layout);
  }
  const ValueId pooled = emitter.AddStep(node, "__pooled", MaxPool{.window = WindowOf(a.reduced)},
                                         Arranged(emitter, node, source, a), old_y, x.type,
                                         {a.outer, 1, 1, a.inner}, Layout::kNhwc);
  const IntType y = emitter.Type(old_y);
  if (!min && x.type == y) {
    emitter.AddNode(node.name, Reshape{}, {pooled}, emitter.DefineInt(old_y));
    return;
  }
  ValueId at =
      emitter.AddStep(node, "__shaped", Reshape{}, pooled, old_y, x.type, to.shape, to.layout);
  if (min && x.type == y)
    return emitter.AddNode(node.name, MirrorOfInt16(), {at}, emitter.DefineInt(old_y));
  if (min) {
    at = emitter.AddStep(node, "__least", MirrorOfInt16(), at, old_y, x.type, to.shape, to.layout);
  }
  emitter.AddRequantize(node.name, at, x.type, emitter.DefineInt(old_y), y, {y.qmin(), y.qmax()});
}

// The least byte by way of the greatest of their mirror images.
void EmitExtreme(Emitter& emitter, const Node& node, const Integers& x, const Arrangement& a,
                 bool min) {
  const ValueId old_y = node.outputs[0];
  const IntType y = emitter.Type(old_y);
  const auto mirror = [&](int32_t q) { return Mirrored(x.type, q); };
  const Integers source = min ? Mapped(emitter, node, x, "__mirrored", x.type, mirror) : x;
  const ValueId columns = Arranged(emitter, node, source, a);
  const Shape pooled = {a.outer, 1, 1, a.inner};
  const Value& value = emitter.old().value(old_y);
  ValueId at = emitter.AddStep(node, "__pooled", MaxPool{.window = WindowOf(a.reduced)}, columns,
                               old_y, x.type, pooled, Layout::kNhwc);
  if (!min && x.type == y) {
    return emitter.AddNode(node.name, Reshape{}, {at}, emitter.DefineInt(old_y));
  }
  at = emitter.AddStep(node, "__shaped", Reshape{}, at, old_y, x.type, value.shape, value.layout);
  if (!min) {
    return emitter.AddRequantize(node.name, at, x.type, emitter.DefineInt(old_y), y,
                                 {y.qmin(), y.qmax()});
  }
  const Op rescale = RulesOf(emitter).MakeRescale({x.type, y}, {y.qmin(), y.qmax()});
  const auto* by_table = std::get_if<QTable>(&rescale);
  const QTable back = TableOf(x.type, [&](int32_t q) {
    const int32_t least = mirror(q);
    if (x.type == y) return least;
    if (by_table != nullptr) return int32_t{by_table->entries[static_cast<uint8_t>(least)]};
    const double real = static_cast<double>(x.type.quant.scale) * (least - x.type.quant.zero_point);
    return numerics::QuantizeReal(real, y.quant.scale, y.quant.zero_point, y.qmin(), y.qmax());
  });
  emitter.AddNode(node.name, back, {at}, emitter.DefineInt(old_y));
}

}  // namespace

OpSupport SupportReduction(const Graph& graph, const Node& node, const Reduce& op,
                           const Arithmetic& rules) {
  const std::string none = Cat(OpName(node.op), " has no integer form");
  if (!rules.HasReduction(op.op)) {
    const std::string why = rules.WhyFloatSums();
    return {OpKind::kFloat, why.empty() ? none : Cat(none, ": ", why)};
  }
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (NumElements(x) == 0 || op.axes.empty()) return {OpKind::kFloat, "it reduces nothing"};
  const int64_t reduced = Arrange(x, AxesOf(op, x.size())).reduced;
  if (op.op == ReduceOp::kProd && reduced == 1)
    return {OpKind::kFloat,
            "its one factor is rescaled in one of LiteRT's ways, and not in others"};
  if (reduced > kMostReduced) {
    return {OpKind::kFloat, Cat("it reduces ", reduced, " elements, more than ", kMostReduced)};
  }
  return {OpKind::kFunction, ""};
}

void EmitReduction(Emitter& emitter, const Node& node, const Reduce& op) {
  const ValueId old_x = node.inputs[0], old_y = node.outputs[0];
  const Shape& shape = emitter.old().value(old_x).shape;
  const Arrangement a = Arrange(shape, AxesOf(op, shape.size()));
  const bool wide = emitter.HasInt16(node);
  Integers x{wide ? emitter.Int16(old_x, 1) : emitter.Int(old_x),
             wide ? emitter.Int16Type(old_x, 1) : emitter.Type(old_x)};
  if (op.op == ReduceOp::kMax || op.op == ReduceOp::kMin) {
    const auto emit = x.type.is_s16() ? EmitExtremeInt16 : EmitExtreme;
    return emit(emitter, node, x, a, op.op == ReduceOp::kMin);
  }
  if (op.op == ReduceOp::kL1 && x.type.is_s16()) {
    const Value& from = emitter.old().value(old_x);
    x.id = emitter.AddStep(node, "__magnitude", LinesOfInt16([](int32_t q) { return std::abs(q); }),
                           x.id, old_x, x.type, from.shape, from.layout);
  } else if (op.op == ReduceOp::kL1) {  // |q - Z| is a byte
    const int32_t zero = x.type.quant.zero_point;
    x = Mapped(emitter, node, x, "__magnitude", {DType::kU8, {x.type.quant.scale, 0}},
               [&](int32_t q) { return q < zero ? zero - q : q - zero; });
  }
  const IntType y = emitter.Type(old_y);
  const ValueId columns = Arranged(emitter, node, x, a);
  const ValueId pooled =
      emitter.AddStep(node, "__pooled", PoolOf(emitter, op, x.type, y, a), columns, old_y, y,
                      {a.outer, 1, 1, a.inner}, Layout::kNhwc);
  emitter.AddNode(node.name, Reshape{}, {pooled}, emitter.DefineInt(old_y));
}

}  // namespace rshift
