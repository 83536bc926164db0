#include "base/aligned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace rshift {
namespace {

static_assert(!std::is_copy_constructible_v<AlignedBuffer>);
static_assert(std::is_nothrow_move_constructible_v<AlignedBuffer>);

TEST(AlignedBufferTest, IsAlignedZeroedAndHasSlack) {
  for (size_t size = 0; size < 300; ++size) {
    const AlignedBuffer buffer(size);
    ASSERT_EQ(buffer.size(), size);
    ASSERT_NE(buffer.data(), nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
    ASSERT_TRUE(std::all_of(buffer.data(), buffer.data() + size + kBufferSlack,
                            [](uint8_t byte) { return byte == 0; }));
  }
}

TEST(AlignedBufferTest, OfSomeMegabytesBeginsWithALargePage) {
  constexpr size_t kLargePage = size_t{2} << 20;
  for (const size_t size : {kLargePage, kLargePage + 1, 3 * kLargePage - 1}) {
    const AlignedBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kLargePage, 0u);
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + size + kBufferSlack,
                            [](uint8_t byte) { return byte == 0; }));
  }
}

TEST(AlignedBufferTest, MoveLeavesTheSourceEmpty) {
  AlignedBuffer first(10);
  first.bytes()[9] = 42;
  AlignedBuffer second = std::move(first);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): specified
  EXPECT_EQ(first.data(), nullptr);
  AlignedBuffer third(1000);
  third = std::move(second);
  ASSERT_EQ(third.size(), 10u);
  EXPECT_EQ(third.bytes()[9], 42);
}

TEST(AlignedBufferTest, SizesThatWrapAroundAreAnErrorNotACrash) {
  for (const size_t below : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{100}}) {
    EXPECT_THROW(AlignedBuffer(SIZE_MAX - below), Error) << below;
  }
}

}  // namespace
}  // namespace rshift
