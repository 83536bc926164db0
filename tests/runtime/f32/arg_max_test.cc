#include <gtest/gtest.h>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

// Values from -3 to 3, so that ties are common.
template <typename T>
void CheckArgMax(const Shape& shape, size_t axis, int flags) {
  const uint32_t seed = static_cast<uint32_t>(100 * shape.size() + 10 * axis + flags);
  SCOPED_TRACE(::testing::Message() << Name(DTypeOf<T>()) << " " << ToString(shape) << " axis "
                                    << axis << " flags " << flags << " seed " << seed);
  std::mt19937 random(seed);
  std::vector<T> values(NumElements(shape));
  for (T& value : values)
    value = static_cast<T>(static_cast<int>(random() % 7) - (std::is_unsigned_v<T> ? 0 : 3));
  Shape kept = shape;
  kept[axis] = 1;
  std::vector<int64_t> want;
  ForEachIndex(kept, [&](const Shape& index) {
    Shape at = index;
    int64_t best = 0;
    for (int64_t i = 1; i < shape[axis]; ++i) {
      at[axis] = i;
      const T value = values[BroadcastOffset(shape, at)];
      at[axis] = best;
      const T held = values[BroadcastOffset(shape, at)];
      if ((flags & 1) != 0 ? value < held : value > held) best = i;
      if ((flags & 2) != 0 && value == held) best = i;
    }
    want.push_back(best);
  });
  CommandCase test(Opcode::kArgMax, {{Field::kSrc, Make<T>(shape, values)}}, DType::kS64, kept);
  test.Set(Field::kAxis, static_cast<int64_t>(axis)).Set(Field::kFlags, flags);
  EXPECT_EQ(RunOnAnyThreads(test).As<int64_t>(), want);
}

TEST(ArgMaxTest, AnyAxisTypeAndTieRule) {
  for (const Shape& shape : {Shape{2, 3, 5, 21}, Shape{37}, Shape{1, 9}}) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (int flags = 0; flags < 4; ++flags) {
        CheckArgMax<float>(shape, axis, flags);
        CheckArgMax<int8_t>(shape, axis, flags);
        CheckArgMax<uint8_t>(shape, axis, flags);
        CheckArgMax<int16_t>(shape, axis, flags);
        CheckArgMax<int32_t>(shape, axis, flags);
        CheckArgMax<int64_t>(shape, axis, flags);
      }
    }
  }
}

TEST(ArgMaxTest, RejectsAnEmptyAxis) {
  EXPECT_NE(ErrorOf(CommandCase(Opcode::kArgMax, {{Field::kSrc, Make<float>({0}, {})}}, DType::kS64,
                                {1})),
            kNoError);
}

}  // namespace
}  // namespace rshift
