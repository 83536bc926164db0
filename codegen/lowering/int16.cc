// Operators that read or write 16-bit integers.
#include <vector>

#include "base/error.h"
#include "codegen/lowering/linear.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

const Value& WeightsOf(LoweringContext& context, const Node& node, size_t rank) {
  const Value& w = context.InputValue(node, 1);
  RSHIFT_REQUIRE(w.is_constant() && w.dtype == DType::kS8 && w.shape.size() == rank,
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' is ", Name(w.dtype),
                 " of shape ", ToString(w.shape), ", expected constant s8 of rank ", rank);
  return w;
}

// Matrices [rows, columns] behind one another, each as [columns, rows].
std::vector<int8_t> Transposed(std::span<const int8_t> all, int64_t rows, int64_t columns) {
  std::vector<int8_t> result(all.size());
  const int64_t size = rows * columns;
  for (int64_t at = 0; at < static_cast<int64_t>(all.size()); at += size) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) result[at + c * rows + r] = all[at + r * columns + c];
    }
  }
  return result;
}

template <typename C, typename Q>
void LowerProduct(LoweringContext& context, const Node& node, const Q& op,
                  const std::vector<int8_t>& weights, int64_t channels) {
  RequireOneEach(node, "requantization records", op.channels.size(), channels);
  C command = op;
  command.src = context.Input(node, 0);
  command.dst = context.Output(node);
  command.weights = context.AddWeights(node, weights);
  command.requant = context.AddNumbers(node.name + ".requant", DType::kBytes, op.channels);
  context.Emit(node, command);
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const QConvS16& op) {
  const Value& x = context.InputValue(node, 0);
  const Value& y = context.OutputValue(node);
  RequireNhwc(node, x);
  RequireNhwc(node, y);
  RequireWindow(node, op.window);
  const Value& w = WeightsOf(context, node, 4);
  const int64_t oc = y.shape[3];
  RSHIFT_REQUIRE(op.groups > 0 && x.shape[3] % op.groups == 0 && oc % op.groups == 0 &&
                     w.shape[0] == oc && w.shape[1] == x.shape[3] / op.groups,
                 ErrorCode::kInternal, Describe(node), ": weight '", w.name, "' of shape ",
                 ToString(w.shape), " does not fit ", x.shape[3], " input and ", oc,
                 " output channels in ", op.groups, " groups");
  LowerProduct<isa::ConvS16>(
      context, node, op, Transposed(w.constant->As<int8_t>(), w.shape[1], w.shape[2] * w.shape[3]),
      oc);
}

void Lower(LoweringContext& context, const Node& node, const QMatMulS16& op) {
  const Value& w = WeightsOf(context, node, 2);
  LowerProduct<isa::MatMulS16>(
      context, node, op, Transposed(w.constant->As<int8_t>(), w.shape[0], w.shape[1]), w.shape[1]);
}

void Lower(LoweringContext& context, const Node& node, const QTableS16& op) {
  auto command = Bound<isa::TableS16>(context, node, op);
  command.table = op.entries.empty()
                      ? context.AddNumbers(node.name + ".table", DType::kBytes, op.interpolated)
                      : context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QChannelTablesS16& op) {
  const Shape& shape = context.InputValue(node, 0).shape;
  RequireOneEach(node, "tables of channels", op.table_of_channel.size(), shape.back());
  auto command = Bound<isa::ChannelTablesS16>(context, node, op);
  command.src2 =
      context.AddNumbers(node.name + ".table_of_channel", DType::kU8, op.table_of_channel);
  command.table = context.AddNumbers(node.name + ".tables", DType::kBytes, op.interpolated);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QSoftmaxS16& op) {
  auto command = Bound<isa::SoftmaxS16>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QQuotientSoftmaxS16& op) {
  auto command = Bound<isa::QuotientSoftmaxS16>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const QPowS16& op) {
  auto command = Bound<isa::PowS16>(context, node, op);
  command.table = context.AddNumbers(node.name + ".table", DType::kBytes, op.entries);
  context.Emit(node, command);
}

}  // namespace rshift::lowering
