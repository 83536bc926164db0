// Byte shuffles: that a plan makes the bytes that were asked for and that nothing beside them is
// read or written. Pages without access lie around the source.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/steps/shuffle_plan.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

// One page of bytes between two that may not be touched.
class GuardedPage {
 public:
  GuardedPage() : size_(sysconf(_SC_PAGESIZE)) {
    base_ = static_cast<uint8_t*>(mmap(nullptr, static_cast<size_t>(3 * size_), PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base_, MAP_FAILED);
    EXPECT_EQ(mprotect(begin(), static_cast<size_t>(size_), PROT_READ | PROT_WRITE), 0);
  }
  ~GuardedPage() { munmap(base_, static_cast<size_t>(3 * size_)); }
  uint8_t* begin() const { return base_ + size_; }
  int64_t size() const { return size_; }

 private:
  int64_t size_;
  uint8_t* base_;
};

void Shuffle(const std::vector<ShuffleBlock>& blocks, const uint8_t* src, uint8_t* dst) {
  ShuffleBytesFor(BestIsa())(blocks.data(), static_cast<int64_t>(blocks.size()), src, dst);
}

TEST(ByteShuffle, GivesEveryByteAndTouchesNothingElse) {
  if (ShuffleBytesFor(BestIsa()) == nullptr) GTEST_SKIP() << "this CPU lacks VBMI";
  const GuardedPage page;
  for (int64_t i = 0; i < page.size(); ++i) page.begin()[i] = static_cast<uint8_t>(i * 167 >> 3);
  int planned = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    // Bytes of up to five narrow places, at both ends of the page too.
    const int64_t width = random.Int(1, 90), places = random.Int(1, 5);
    std::vector<int64_t> begins{0, page.size() - width};
    while (static_cast<int64_t>(begins.size()) < places) {
      begins.push_back(random.Int(0, page.size() - width));
    }
    std::shuffle(begins.begin(), begins.end(), random.engine);
    std::vector<int64_t> from(static_cast<size_t>(random.Int(1, 300)));
    for (int64_t& at : from) {
      at = begins[static_cast<size_t>(random.Int(0, places - 1))] + random.Int(0, width - 1);
    }
    const std::vector<ShuffleBlock> blocks = PlanShuffle(from);
    if (blocks.empty()) continue;
    ++planned;
    Bytes dst(from.size() + 128, 0xa5), expected = dst;
    for (size_t i = 0; i < from.size(); ++i) expected[64 + i] = page.begin()[from[i]];
    Shuffle(blocks, page.begin(), dst.data() + 64);
    ASSERT_EQ(dst, expected);
  }
  EXPECT_GT(planned, 1000);
}

TEST(ByteShuffle, AsksForNoMoreThanFourWindows) {
  std::vector<int64_t> from(64);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int64_t>(i % 4 * 1000 + i / 4);
  EXPECT_EQ(PlanShuffle(from).at(0).windows, 4);
  from[63] = 10000;
  EXPECT_TRUE(PlanShuffle(from).empty());
}

}  // namespace
}  // namespace rshift::testing
