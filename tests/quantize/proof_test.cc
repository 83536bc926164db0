#include "quantize/proof.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/error.h"
#include "isa/attributes.h"

namespace rshift {
namespace {

ValueId Tensor(Graph& graph, const std::string& name, Shape shape, DType dtype, int32_t zero) {
  Value value{name,    dtype,  std::move(shape), Layout::kPlain, QuantParams{0.1f, zero},
              nullptr, nullptr};
  return graph.AddValue(std::move(value));
}

// One matrix product with weights [K, N].
Graph Product(const QMatMul& op, const std::vector<int8_t>& weights, int64_t k, int64_t n) {
  Graph graph;
  const ValueId x = Tensor(graph, "x", {1, k}, DType::kS8, -3);
  const ValueId w = graph.AddConstant("w", DType::kS8, {k, n}, std::span<const int8_t>(weights));
  const ValueId y = Tensor(graph, "y", {1, n}, DType::kS8, 0);
  graph.inputs = {x};
  graph.outputs = {y};
  graph.AddNode({"fc", op, {x, w}, {y}});
  return graph;
}

TEST(ProofTest, AccountsForEveryChannelOfAProduct) {
  QMatMul op;
  op.channels = {{1000, 1 << 30, 35}, {-2000, 2147483647, 33}, {7, 0, 0}};
  op.zero_w = {0, 0, 3};
  // Columns: 10, -20 | -128, 127 | 3, 3.
  const Graph graph = Product(op, {10, -128, 3, -20, 127, 3}, 2, 3);
  const std::vector<LayerProof> proofs = ProveIntegers(graph);
  ASSERT_EQ(proofs.size(), 1u);
  const LayerProof& p = proofs[0];
  EXPECT_EQ(p.node, "fc");
  EXPECT_EQ(p.op, "QMatMul");
  EXPECT_EQ(p.channels, 3);
  EXPECT_EQ(p.accumulator, 2000 + 255 * 255);  // the second channel; the third's weights are zero
  EXPECT_EQ(p.largest_bias, 2000);
  EXPECT_EQ(p.min_multiplier, 1 << 30);
  EXPECT_EQ(p.max_multiplier, 2147483647);
  EXPECT_EQ(p.min_rshift, 33);
  EXPECT_EQ(p.max_rshift, 35);
  EXPECT_EQ(p.flushed, 1);
}

TEST(ProofTest, RefusesAnAccumulatorThatCouldOverflow) {
  QMatMul op;
  op.channels = {{2147483647 - 255 * 100, 1 << 30, 35}};
  EXPECT_EQ(ProveIntegers(Product(op, {-100}, 1, 1))[0].accumulator, 2147483647);
  EXPECT_THROW(ProveIntegers(Product(op, {-101}, 1, 1)), Error);
}

TEST(ProofTest, RefusesMultipliersOutOfRange) {
  QMatMul op;
  op.channels = {{0, (1 << 30) - 1, 35}};
  EXPECT_THROW(ProveIntegers(Product(op, {1}, 1, 1)), Error);
  op.channels = {{0, 1 << 30, 63}};
  EXPECT_THROW(ProveIntegers(Product(op, {1}, 1, 1)), Error);
}

TEST(ProofTest, SaysWhenAFloatConversionRounds) {
  QMatMul op;
  op.rounding = Rounding::kFloatEven;
  op.channels = {{1 << 24, std::bit_cast<int32_t>(0.25f), 0}};
  EXPECT_TRUE(ProveIntegers(Product(op, {0}, 1, 1))[0].exact_in_float);
  EXPECT_FALSE(ProveIntegers(Product(op, {1}, 1, 1))[0].exact_in_float);
  op.channels[0].multiplier = std::bit_cast<int32_t>(-0.25f);
  EXPECT_THROW(ProveIntegers(Product(op, {1}, 1, 1)), Error);
}

TEST(ProofTest, KnowsTheInt16FormOfAdd) {
  Graph graph;
  const ValueId a = Tensor(graph, "a", {4}, DType::kS8, 0);
  const ValueId b = Tensor(graph, "b", {4}, DType::kU8, 0);
  const ValueId y = Tensor(graph, "y", {4}, DType::kS8, 0);
  graph.inputs = {a, b};
  graph.outputs = {y};
  const isa::Add op{.multiplier = 100, .multiplier2 = 70, .rshift = 7};
  graph.AddNode({"add", op, {a, b}, {y}});
  const LayerProof narrow = ProveIntegers(graph)[0];
  EXPECT_EQ(narrow.accumulator, 128 * 100 + 255 * 70 + 64);
  EXPECT_EQ(narrow.limit, 32767);
  std::get<isa::Add>(graph.nodes()[0].op).multiplier = 9000;
  EXPECT_EQ(ProveIntegers(graph)[0].limit, 2147483647);
}

}  // namespace
}  // namespace rshift
