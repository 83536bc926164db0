#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase FakeQuantizeCase(const TestTensor& x, const TestTensor& ranges, int64_t axis,
                             int64_t levels) {
  CommandCase test(Opcode::kFakeQuantizeF32, {{Field::kSrc, x}, {Field::kSrc2, Constant(ranges)}},
                   DType::kF32, x.shape);
  test.Set(Field::kAxis, axis).Set(Field::kCount, levels);
  return test;
}

TEST(FakeQuantizeTest, LevelsEndsAndTies) {
  // Levels 0, 1, 2, 3 of [0, 3] become 10, 20, 30, 40; ties go to even.
  const TestTensor x =
      Make<float>({11}, {-1, 0, 0.25f, 0.5f, 0.75f, 1.5f, 2.5f, 2.75f, 3, 3.5f, -0.0f});
  const TestTensor ranges = Make<float>({1, 4}, {0, 3, 10, 40});
  EXPECT_EQ(RunOnAnyThreads(FakeQuantizeCase(x, ranges, 0, 4)).As<float>(),
            (std::vector<float>{10, 10, 10, 10, 20, 30, 30, 40, 40, 40, 10}));
}

TEST(FakeQuantizeTest, EachIndexOfTheAxisHasItsRange) {
  const TestTensor ranges = Make<float>({2, 4}, {0, 1, 0, 1, 0, 4, 0, 8});
  const std::vector<float> values = {0.4f, 0.6f, 3.1f, 0.4f, 0.6f, 3.1f};
  const TestTensor rows = Make<float>({2, 3}, values);
  EXPECT_EQ(RunOnAnyThreads(FakeQuantizeCase(rows, ranges, 0, 5)).As<float>(),
            (std::vector<float>{0.5f, 0.5f, 1, 0, 2, 6}));
  const TestTensor columns = Make<float>({3, 2}, values);
  EXPECT_EQ(RunOnAnyThreads(FakeQuantizeCase(columns, ranges, 1, 5)).As<float>(),
            (std::vector<float>{0.5f, 2, 1, 0, 0.5f, 6}));
}

TEST(FakeQuantizeTest, RangesTurnedRoundAndEmptyAndNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const TestTensor x = Make<float>({5}, {-kInfinity, 0.9f, 1.1f, kInfinity, kNan});
  const auto turned =
      RunOnAnyThreads(FakeQuantizeCase(x, Make<float>({1, 4}, {2, 0, 5, 7}), 0, 3)).As<float>();
  EXPECT_EQ(turned[0], 5);
  EXPECT_EQ(turned[1], 6);
  EXPECT_EQ(turned[3], 7);
  EXPECT_TRUE(std::isnan(turned[4]));
  const auto empty =
      RunOnAnyThreads(FakeQuantizeCase(x, Make<float>({1, 4}, {1, 1, 5, 7}), 0, 3)).As<float>();
  EXPECT_EQ(empty[1], 5);
  EXPECT_EQ(empty[2], 7);
}

TEST(FakeQuantizeTest, RejectsRangesOfAnotherShape) {
  const TestTensor x = Make<float>({2, 3}, std::vector<float>(6));
  for (const Shape& shape : {Shape{4}, Shape{3, 4}, Shape{2, 3}}) {
    const TestTensor ranges =
        Make<float>(shape, std::vector<float>(static_cast<size_t>(NumElements(shape))));
    EXPECT_NE(ErrorOf(FakeQuantizeCase(x, ranges, 0, 256)), kNoError) << ToString(shape);
  }
}

}  // namespace
}  // namespace rshift
