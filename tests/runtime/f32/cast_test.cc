#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

TestTensor Cast(const TestTensor& x, DType to) {
  return RunOnAnyThreads(CommandCase(Opcode::kCast, {{Field::kSrc, x}}, to, x.shape));
}

const TestTensor kAllTypes[] = {
    Make<float>({3}, {0, 1, 100}),    Make<int8_t>({3}, {0, 1, 100}),
    Make<uint8_t>({3}, {0, 1, 100}),  Make<int16_t>({3}, {0, 1, 100}),
    Make<uint16_t>({3}, {0, 1, 100}), Make<int32_t>({3}, {0, 1, 100}),
    Make<int64_t>({3}, {0, 1, 100}),
};

TEST(CastTest, EveryPairKeepsValuesThatBothTypesHold) {
  for (const TestTensor& from : kAllTypes) {
    for (const TestTensor& to : kAllTypes) {
      SCOPED_TRACE(::testing::Message() << Name(from.dtype) << " to " << Name(to.dtype));
      EXPECT_EQ(Cast(from, to.dtype).bytes, to.bytes);
    }
    EXPECT_EQ(Cast(from, DType::kBool).bytes, (std::vector<uint8_t>{0, 1, 1})) << Name(from.dtype);
  }
}

TEST(CastTest, BoolBecomesZeroAndOne) {
  const TestTensor x = BoolTensor({2}, {0, 1});
  EXPECT_EQ(Cast(x, DType::kF32).As<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(Cast(x, DType::kS64).As<int64_t>(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(Cast(x, DType::kS8).As<int8_t>(), (std::vector<int8_t>{0, 1}));
  EXPECT_EQ(Cast(x, DType::kBool).bytes, x.bytes);
}

TEST(CastTest, FloatsAreCutTowardZero) {
  const TestTensor x = Make<float>({5}, {2.9f, -2.9f, 0.5f, -0.5f, 127.9f});
  EXPECT_EQ(Cast(x, DType::kS32).As<int32_t>(), (std::vector<int32_t>{2, -2, 0, 0, 127}));
  EXPECT_EQ(Cast(x, DType::kS8).As<int8_t>(), (std::vector<int8_t>{2, -2, 0, 0, 127}));
  EXPECT_EQ(Cast(x, DType::kBool).bytes, (std::vector<uint8_t>{1, 1, 1, 1, 1}));
}

TEST(CastTest, OutOfRangeIsDefined) {
  const TestTensor floats =
      Make<float>({4}, {std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f, 300});
  EXPECT_EQ(Cast(floats, DType::kS64).As<int64_t>(),
            (std::vector<int64_t>{0, std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min(), 300}));
  EXPECT_EQ(Cast(floats, DType::kU8).As<uint8_t>(), (std::vector<uint8_t>{0, 255, 0, 44}));
  EXPECT_EQ(Cast(Make<int32_t>({3}, {300, -1, 128}), DType::kS8).As<int8_t>(),
            (std::vector<int8_t>{44, -1, -128}));
  EXPECT_EQ(Cast(Make<uint16_t>({3}, {0, 32768, 65535}), DType::kS16).As<int16_t>(),
            (std::vector<int16_t>{0, -32768, -1}));
}

TEST(CastTest, LongTensorsHaveTails) {
  std::vector<int64_t> values(1003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) - 500;
  EXPECT_EQ(Cast(Make<int64_t>({17, 59}, values), DType::kF32).As<float>(),
            std::vector<float>(values.begin(), values.end()));
}

TEST(CastTest, RejectsOtherTypes) {
  EXPECT_NE(
      ErrorOf(CommandCase(Opcode::kCast, {{Field::kSrc, Make<float>({1}, {1})}}, DType::kU32, {1})),
      kNoError);
}

}  // namespace
}  // namespace rshift
