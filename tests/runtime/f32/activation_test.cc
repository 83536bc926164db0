#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

TEST(ClipTest, CutsOnBothSidesAndKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CommandCase test(Opcode::kClipF32, {{Field::kSrc, Make<float>({5}, {-1, 0.5f, 7, 6, nan})}},
                   DType::kF32, {5});
  test.SetFloat(Field::kClampLoF, 0).SetFloat(Field::kClampHiF, 6);
  ExpectClose(RunOnAnyThreads(test).As<float>(), {0, 0.5, 6, 6, nan}, 0);
}

TEST(ClipTest, WithoutBoundsCopies) {
  std::mt19937 random(1);
  const TestTensor x = RandomFloats({3, 71}, random, -1e30f, 1e30f);
  EXPECT_EQ(RunOnAnyThreads(CommandCase(Opcode::kClipF32, {{Field::kSrc, x}}, DType::kF32, x.shape))
                .bytes,
            x.bytes);
}

TEST(LeakyReluTest, ScalesTheNegativeSide) {
  std::mt19937 random(2);
  const TestTensor x = RandomFloats({3, 5, 71}, random);
  CommandCase test(Opcode::kLeakyReluF32, {{Field::kSrc, x}}, DType::kF32, x.shape);
  test.SetFloat(Field::kAlphaF, 0.125f);
  std::vector<double> want;
  for (const float value : x.As<float>()) want.push_back(value < 0 ? 0.125 * value : value);
  ExpectClose(RunOnAnyThreads(test).As<float>(), want, 0);
}

TEST(PReluTest, SlopeBroadcastsToTheSource) {
  const Shape slopes[] = {{7}, {1}, {3, 1, 1}, {2, 3, 5, 7}, {5, 1}, {}};
  for (size_t s = 0; s < std::size(slopes); ++s) {
    SCOPED_TRACE(::testing::Message() << "slope " << s << ", also the seed");
    std::mt19937 random(static_cast<uint32_t>(s));
    const TestTensor x = RandomFloats({2, 3, 5, 7}, random),
                     slope = RandomFloats(slopes[s], random);
    const CommandCase test(Opcode::kPReluF32, {{Field::kSrc, x}, {Field::kSrc2, Constant(slope)}},
                           DType::kF32, x.shape);
    const auto values = x.As<float>(), factors = slope.As<float>();
    std::vector<double> want;
    ForEachIndex(x.shape, [&](const Shape& index) {
      const double value = values[want.size()];
      want.push_back(value < 0 ? value * factors[BroadcastOffset(slope.shape, index)] : value);
    });
    ExpectClose(RunOnAnyThreads(test).As<float>(), want, 1e-7);
  }
}

TEST(PReluTest, RejectsASlopeLargerThanTheSource) {
  std::mt19937 random(3);
  const CommandCase test(
      Opcode::kPReluF32,
      {{Field::kSrc, RandomFloats({1, 3}, random)}, {Field::kSrc2, RandomFloats({2, 3}, random)}},
      DType::kF32, {1, 3});
  EXPECT_NE(ErrorOf(test), kNoError);
}

}  // namespace
}  // namespace rshift
