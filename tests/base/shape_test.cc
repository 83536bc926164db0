#include "base/shape.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "base/strong_id.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

template <typename Action>
std::string InvalidInput(const Action& action) {
  return ErrorOf(ErrorCode::kInvalidInput, action);
}

TEST(ShapeTest, NumElements) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({1, 3, 224, 224}), 150528);
  EXPECT_EQ(NumElements({4, 0, 7}), 0);
  EXPECT_EQ(NumElements({int64_t{1} << 39}), int64_t{1} << 39);
  EXPECT_EQ(NumElements({int64_t{1} << 39, 0}), 0);
}

TEST(ShapeTest, NumElementsRefusesNegativeAndHuge) {
  EXPECT_EQ(InvalidInput([] {
              NumElements({2, -1});
            }),
            "shape 2x-1 has a negative dimension, expected every dimension >= 0");
  EXPECT_EQ(InvalidInput([] {
              NumElements({0, -1});
            }),
            "shape 0x-1 has a negative dimension, expected every dimension >= 0");
  EXPECT_NE(InvalidInput([] { NumElements({int64_t{1} << 40}); }), kNoError);
  // The product wraps to 0 in 64 bits.
  EXPECT_NE(InvalidInput([] { NumElements({int64_t{1} << 32, int64_t{1} << 32}); }), kNoError);
  // No number of elements, but strides that would overflow.
  EXPECT_NE(InvalidInput([] { NumElements({0, int64_t{1} << 20, int64_t{1} << 20}); }), kNoError);
}

TEST(ShapeTest, TextAndStrides) {
  EXPECT_EQ(ToString({}), "scalar");
  EXPECT_EQ(ToString({1, 3, 224, 224}), "1x3x224x224");
  EXPECT_EQ(Strides({}), Shape{});
  EXPECT_EQ(Strides({2, 3, 4}), (Shape{12, 4, 1}));
}

TEST(ShapeTest, BroadcastFollowsNumpy) {
  EXPECT_EQ(Broadcast({}, {}, "n"), Shape{});
  EXPECT_EQ(Broadcast({2, 3}, {}, "n"), (Shape{2, 3}));
  EXPECT_EQ(Broadcast({3, 1, 5}, {4, 1}, "n"), (Shape{3, 4, 5}));
  EXPECT_EQ(Broadcast({1, 8}, {0, 1}, "n"), (Shape{0, 8}));
  EXPECT_EQ(InvalidInput([] {
              Broadcast({2, 3}, {1, 2, 4}, "add_1");
            }),
            "add_1: shapes 2x3 and 1x2x4 do not broadcast: axis 2 has 3 and 4, expected equal "
            "sizes or 1");
  EXPECT_NE(InvalidInput([] { Broadcast({0}, {2}, "n"); }), kNoError);
}

TEST(DTypeTest, EveryTypeHasItsOwnNameAndASize) {
  std::set<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_TRUE(names.insert(Name(type)).second) << Name(type);
    EXPECT_EQ(SizeOf(type) == 0, type == DType::kInvalid);
  }
  EXPECT_EQ(SizeOf(DType::kF32), 4u);
  EXPECT_EQ(SizeOf(DType::kF16), 2u);
  EXPECT_EQ(SizeOf(DType::kS8), 1u);
  EXPECT_EQ(SizeOf(DType::kBool), 1u);
  EXPECT_EQ(SizeOf(DType::kS64), 8u);
  EXPECT_EQ(SizeOf(DType::kU16), 2u);
  EXPECT_STREQ(Name(DType::kU8), "u8");
  EXPECT_STREQ(Name(DType::kU64), "u64");
}

TEST(DTypeTest, ValueOutsideTheEnumerationIsInvalid) {
  EXPECT_EQ(SizeOf(static_cast<DType>(200)), 0u);
  EXPECT_STREQ(Name(static_cast<DType>(kDTypeCount)), "invalid");
}

TEST(StrongIdTest, StartsInvalidAndOrders) {
  using Id = StrongId<struct TestTag>;
  EXPECT_FALSE(Id().valid());
  EXPECT_TRUE(Id(0).valid());
  EXPECT_LT(Id(1), Id(2));
  EXPECT_EQ(Id(7).index(), 7);
}

TEST(ErrorTest, CatWritesFloatsThatReadBack) {
  EXPECT_EQ(Cat("conv ", 3, ": bad"), "conv 3: bad");
  const float value = 0.1f + 1e-8f;
  EXPECT_EQ(std::stof(Cat(value)), value);
}

}  // namespace
}  // namespace rshift
