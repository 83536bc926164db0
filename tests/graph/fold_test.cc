// Operators over constants, by worked examples (those of the ONNX operator pages where they have
// some).
#include "graph/fold/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

template <typename T>
Value Make(DType type, Shape shape, std::vector<T> elements) {
  Value v;
  v.dtype = type;
  v.shape = std::move(shape);
  v.constant = MakeConstant<T>(elements);
  return v;
}
Value Floats(Shape shape, std::vector<float> elements) {
  return Make(DType::kF32, shape, elements);
}
Value Ints(Shape shape, std::vector<int64_t> elements) {
  return Make(DType::kS64, shape, elements);
}

template <typename T>
std::vector<T> Fold(const Op& op, const std::vector<Value>& inputs, const Shape& out) {
  std::vector<const Value*> pointers;
  for (const Value& v : inputs) pointers.push_back(&v);
  const auto result = FoldNode(op, pointers, out);
  if (!result) return {};
  const auto elements = result->As<T>();
  return {elements.begin(), elements.end()};
}

TEST(Fold, BinaryBroadcastsBothSides) {
  EXPECT_THAT(Fold<float>(Binary{BinaryOp::kSub, {}},
                          {Floats({2, 1}, {10, 20}), Floats({3}, {1, 2, 3})}, {2, 3}),
              ElementsAre(9, 8, 7, 19, 18, 17));
  const auto ints = [](BinaryOp op, int64_t a, int64_t b) {
    return Fold<int64_t>(Binary{op, {}}, {Ints({}, {a}), Ints({}, {b})}, {}).at(0);
  };
  EXPECT_EQ(ints(BinaryOp::kDiv, -7, 2), -3);  // truncates
  EXPECT_EQ(ints(BinaryOp::kMod, -7, 3), 2);   // the divisor's sign
  EXPECT_EQ(ints(BinaryOp::kMod, 7, -3), -2);
  EXPECT_EQ(ints(BinaryOp::kPow, 3, 4), 81);
  EXPECT_EQ(ints(BinaryOp::kPow, 3, 39), 4052555153018976267);  // binary64 has no such number
  EXPECT_EQ(ints(BinaryOp::kPow, 3, 40), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ints(BinaryOp::kPow, 2, -1), 0);
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(ints(BinaryOp::kDiv, kLowest, -1), kLowest);
  EXPECT_EQ(ints(BinaryOp::kAdd, kLowest, -1), std::numeric_limits<int64_t>::max());
  EXPECT_THROW(ints(BinaryOp::kDiv, 1, 0), Error);
  EXPECT_THROW(ints(BinaryOp::kMod, 1, 0), Error);
}

TEST(Fold, ComparisonsGiveBools) {
  EXPECT_THAT(
      Fold<uint8_t>(Binary{BinaryOp::kEqual, {}}, {Ints({3}, {-1, 2, 3}), Ints({1}, {-1})}, {3}),
      ElementsAre(1, 0, 0));
  EXPECT_THAT(
      Fold<uint8_t>(Binary{BinaryOp::kLess, {}}, {Floats({2}, {1, NAN}), Floats({}, {2})}, {2}),
      ElementsAre(1, 0));
  const Value flags = Make<uint8_t>(DType::kBool, {2}, {1, 0});
  EXPECT_THAT(Fold<uint8_t>(Binary{BinaryOp::kXor, {}}, {flags, flags}, {2}), ElementsAre(0, 0));
  EXPECT_THAT(Fold<uint8_t>(Unary{UnaryOp::kNot, 0, 0}, {flags}, {2}), ElementsAre(0, 1));
  EXPECT_THAT(Fold<int64_t>(Where{}, {flags, Ints({2}, {1, 2}), Ints({}, {9})}, {2}),
              ElementsAre(1, 9));
}

TEST(Fold, NarrowIntegersWrap) {
  const Value a = Make<int8_t>(DType::kS8, {1}, {127}), b = Make<int8_t>(DType::kS8, {1}, {1});
  EXPECT_THAT(Fold<int8_t>(Binary{BinaryOp::kAdd, {}}, {a, b}, {1}), ElementsAre(-128));
}

TEST(Fold, CastTruncatesSaturatesAndNeverTraps) {
  EXPECT_THAT(
      Fold<int64_t>(Cast{DType::kS64}, {Floats({4}, {-1.9f, 2.9f, 1e30f, -1e30f})}, {4}),
      ElementsAre(-1, 2, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(Fold<uint8_t>(Cast{DType::kBool}, {Floats({3}, {0.0f, 0.1f, NAN})}, {3}),
              ElementsAre(0, 1, 1));
  EXPECT_THAT(Fold<float>(Cast{DType::kF32}, {Ints({2}, {-3, 4})}, {2}), ElementsAre(-3, 4));
  EXPECT_THAT(Fold<uint8_t>(Cast{DType::kU8}, {Ints({1}, {257})}, {1}), ElementsAre(1));
}

TEST(Fold, UnaryFunctions) {
  const auto apply = [](UnaryOp op, float x, float alpha = 0, float beta = 0) {
    return Fold<float>(Unary{op, alpha, beta}, {Floats({1}, {x})}, {1}).at(0);
  };
  EXPECT_EQ(apply(UnaryOp::kRound, 2.5f), 2.0f);  // half to even
  EXPECT_EQ(apply(UnaryOp::kRound, -3.5f), -4.0f);
  EXPECT_EQ(apply(UnaryOp::kHardSigmoid, 1.0f, 0.2f, 0.5f), 0.7f);
  EXPECT_EQ(apply(UnaryOp::kHardSwish, 3.0f), 3.0f);
  EXPECT_EQ(apply(UnaryOp::kHardSwish, -3.0f), 0.0f);
  EXPECT_NEAR(apply(UnaryOp::kSigmoid, 0.0f), 0.5f, 1e-7);
  EXPECT_NEAR(apply(UnaryOp::kGelu, 1.0f), 0.84134475f, 1e-6);
  EXPECT_NEAR(apply(UnaryOp::kSoftplus, 100.0f), 100.0f, 1e-5);
  EXPECT_NEAR(apply(UnaryOp::kElu, -1.0f, 2.0f), 2.0f * (std::exp(-1.0f) - 1.0f), 1e-6);
  EXPECT_NEAR(apply(UnaryOp::kCelu, -1.0f, 2.0f), 2.0f * (std::exp(-0.5f) - 1.0f), 1e-6);
  EXPECT_EQ(apply(UnaryOp::kThresholdedRelu, 1.0f, 1.0f), 0.0f);
  EXPECT_THAT(Fold<int64_t>(Unary{UnaryOp::kNeg, 0, 0}, {Ints({2}, {3, -4})}, {2}),
              ElementsAre(-3, 4));
  EXPECT_THAT(Fold<float>(Clip{{0, 6}}, {Floats({3}, {-1, 3, 7})}, {3}), ElementsAre(0, 3, 6));
  EXPECT_THAT(Fold<float>(LeakyRelu{0.5f}, {Floats({2}, {-2, 2})}, {2}), ElementsAre(-1, 2));
  EXPECT_THAT(Fold<float>(PRelu{}, {Floats({2, 2}, {-1, -1, 1, -1}), Floats({2}, {2, 3})}, {2, 2}),
              ElementsAre(-2, -3, 1, -3));
}

TEST(Fold, Reductions) {
  const Value x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto reduce = [&](ReduceOp op, std::vector<int64_t> axes, Shape out) {
    return Fold<float>(Reduce{op, axes}, {x}, out);
  };
  EXPECT_THAT(reduce(ReduceOp::kMean, {1}, {2}), ElementsAre(2, 5));
  EXPECT_THAT(reduce(ReduceOp::kSum, {0}, {1, 3}), ElementsAre(5, 7, 9));
  EXPECT_THAT(reduce(ReduceOp::kMax, {0, 1}, {}), ElementsAre(6));
  EXPECT_THAT(reduce(ReduceOp::kMin, {0}, {3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(reduce(ReduceOp::kProd, {1}, {2}), ElementsAre(6, 120));
  EXPECT_THAT(reduce(ReduceOp::kSumSquare, {1}, {2}), ElementsAre(14, 77));
  EXPECT_NEAR(reduce(ReduceOp::kLogSumExp, {1}, {2})[0], 3.4076059f, 1e-6);
  EXPECT_THAT(Fold<int64_t>(Reduce{ReduceOp::kProd, {0}}, {Ints({3}, {2, 3, 4})}, {}),
              ElementsAre(24));
  const Value ties = Floats({1, 4}, {1, 3, 3, 2});
  EXPECT_THAT(Fold<int64_t>(ArgMax{1, false, false}, {ties}, {1}), ElementsAre(1));
  EXPECT_THAT(Fold<int64_t>(ArgMax{1, false, true}, {ties}, {1}), ElementsAre(2));
  EXPECT_THAT(Fold<int64_t>(ArgMax{1, true, false}, {ties}, {1}), ElementsAre(0));
  const auto soft = Fold<float>(Softmax{0, false}, {Floats({2, 2}, {0, 1000, 0, 1000})}, {2, 2});
  EXPECT_THAT(soft, ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
}

TEST(Fold, Movement) {
  const Value x = Ints({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Fold<int64_t>(Transpose{{1, 0}}, {x}, {3, 2}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Fold<int64_t>(Slice{{1, 2}, {-1, -2}}, {x}, {2, 2}), ElementsAre(6, 4, 3, 1));
  EXPECT_THAT(Fold<int64_t>(Expand{}, {Ints({2, 1}, {7, 8})}, {2, 2, 2}),
              ElementsAre(7, 7, 8, 8, 7, 7, 8, 8));
  EXPECT_THAT(Fold<int64_t>(Tile{{1, 2}}, {x}, {2, 6}),
              ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(Fold<int64_t>(Concat{1}, {x, Ints({2, 1}, {9, 8})}, {2, 4}),
              ElementsAre(1, 2, 3, 9, 4, 5, 6, 8));
  EXPECT_THAT(Fold<int64_t>(Gather{1}, {x, Ints({2}, {-1, 0})}, {2, 2}), ElementsAre(3, 1, 6, 4));
  EXPECT_THROW(Fold<int64_t>(Gather{1}, {x, Ints({1}, {3})}, {2, 1}), Error);
  EXPECT_THAT(Fold<int64_t>(Pad{PadMode::kConstant, {0, 1}, {0, -2}, 9.0f}, {x}, {2, 2}),
              ElementsAre(9, 1, 9, 4));
  const Value row = Ints({3}, {1, 2, 3});
  EXPECT_THAT(Fold<int64_t>(Pad{PadMode::kReflect, {2}, {1}, 0.0f}, {row}, {6}),
              ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(Fold<int64_t>(Pad{PadMode::kEdge, {1}, {2}, 0.0f}, {row}, {6}),
              ElementsAre(1, 1, 2, 3, 3, 3));
}

TEST(Fold, TransposeOfLargeMatrixInTiles) {
  std::vector<float> elements(70 * 45), expected(45 * 70);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  for (size_t r = 0; r < 70; ++r) {
    for (size_t c = 0; c < 45; ++c) expected[c * 70 + r] = elements[r * 45 + c];
  }
  EXPECT_THAT(Fold<float>(Transpose{{1, 0}}, {Floats({70, 45}, elements)}, {45, 70}),
              ElementsAreArray(expected));
}

TEST(Fold, DepthAndSpace) {
  // One pixel with 4 x 2 channels: DCR takes the block first, CRD the channel first.
  const Value x = Ints({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(Fold<int64_t>(DepthToSpace{2, false}, {x}, {1, 2, 2, 2}),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(Fold<int64_t>(DepthToSpace{2, true}, {x}, {1, 2, 2, 2}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const Value back = Ints({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  EXPECT_THAT(Fold<int64_t>(SpaceToDepth{2}, {back}, {1, 8, 1, 1}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Fold, MatMulBroadcastsItsBatches) {
  const Value a = Floats({2, 1, 2}, {1, 2, 3, 4}), b = Floats({2, 2}, {1, 0, 10, 1});
  EXPECT_THAT(Fold<float>(MatMul{}, {a, b, Floats({2}, {100, 200})}, {2, 1, 2}),
              ElementsAre(121, 202, 143, 204));
}

TEST(Fold, SpatialOperatorsAreLeftAlone) {
  const Value x = Floats({1, 1, 1, 1}, {1});
  EXPECT_EQ(FoldNode(Conv{}, {&x, &x}, {1, 1, 1, 1}), nullptr);
}

}  // namespace
}  // namespace rshift
