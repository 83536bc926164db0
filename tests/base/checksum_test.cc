#include "base/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"

namespace rshift {
namespace {

std::vector<uint8_t> Bytes(std::string_view text) { return {text.begin(), text.end()}; }

// The definition: one bit at a time.
uint32_t BitwiseUpdate(uint32_t state, std::span<const uint8_t> bytes) {
  for (const uint8_t byte : bytes) {
    state ^= byte;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) ? 0x82f63b78u : 0u);
  }
  return state;
}

std::vector<uint8_t> RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// RFC 3720, B.4 and the check value of the CRC catalogue.
TEST(Crc32cTest, KnownVectors) {
  EXPECT_EQ(Crc32c({}), 0u);
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::vector<uint8_t>(32, 0x00)), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::vector<uint8_t>(32, 0xff)), 0x62a8ab43u);
  std::vector<uint8_t> counting(32);
  for (size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(Crc32c(counting), 0x46dd794eu);
}

class Crc32cUpdateTest : public testing::TestWithParam<crc32c::UpdateFn> {
 protected:
  static uint32_t Update(uint32_t state, std::span<const uint8_t> bytes) {
    return GetParam()(state, bytes.data(), bytes.size());
  }
};

TEST_P(Crc32cUpdateTest, EveryAlignmentAndSmallSizeMatchesTheDefinition) {
  const std::vector<uint8_t> bytes = RandomBytes(64 + 300, 1);
  for (size_t offset = 0; offset < 64; ++offset) {
    for (size_t size = 0; size <= 300; ++size) {
      const auto part = std::span(bytes).subspan(offset, size);
      ASSERT_EQ(Update(0xffffffff, part), BitwiseUpdate(0xffffffff, part))
          << "offset " << offset << " size " << size;
    }
  }
}

// 768 and 24576 bytes are where the three-stream loops start, 512 where folding does, and they
// repeat at multiples.
TEST_P(Crc32cUpdateTest, SizesAroundTheLoopsMatchTheDefinition) {
  const std::vector<uint8_t> bytes = RandomBytes(2 * 24576 + 4096, 2);
  for (const size_t middle :
       {512u, 768u, 1024u, 1536u, 24576u, 24576u + 768u, 49152u, 49152u + 1536u}) {
    for (size_t size = middle - 17; size <= middle + 17; ++size) {
      const auto part = std::span(bytes).subspan(size % 9, size);
      ASSERT_EQ(Update(0x12345678, part), BitwiseUpdate(0x12345678, part)) << "size " << size;
    }
  }
}

TEST_P(Crc32cUpdateTest, RandomSizesAlignmentsAndStatesMatchTheDefinition) {
  const std::vector<uint8_t> bytes = RandomBytes(70000, 5);
  std::mt19937 random(6);
  for (int i = 0; i < 1000; ++i) {
    const size_t size = random() % (i % 50 == 0 ? 60000 : 3000), offset = random() % 128;
    const auto state = static_cast<uint32_t>(random());
    const auto part = std::span(bytes).subspan(offset, size);
    ASSERT_EQ(Update(state, part), BitwiseUpdate(state, part))
        << "offset " << offset << " size " << size << " state " << state;
  }
}

TEST_P(Crc32cUpdateTest, SplitAnywhereGivesTheSame) {
  const std::vector<uint8_t> bytes = RandomBytes(3000, 3);
  const uint32_t whole = Update(7, bytes);
  for (size_t at = 0; at <= bytes.size(); at += 37) {
    const uint32_t first = Update(7, std::span(bytes).first(at));
    EXPECT_EQ(Update(first, std::span(bytes).subspan(at)), whole) << "split at " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Portable, Crc32cUpdateTest, testing::Values(&crc32c::UpdatePortable));
#if defined(__x86_64__)
std::vector<crc32c::UpdateFn> HardwareUpdates() {
  std::vector<crc32c::UpdateFn> updates;
  if (crc32c::CpuHasSse42()) updates.push_back(&crc32c::UpdateSse42);
  if (crc32c::CpuHasVpclmul()) updates.push_back(&crc32c::UpdateVpclmul);
  return updates;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Crc32cUpdateTest);
INSTANTIATE_TEST_SUITE_P(Hardware, Crc32cUpdateTest, testing::ValuesIn(HardwareUpdates()));
#endif

TEST(Crc32cTest, APieceAtATimeGivesTheSame) {
  const std::vector<uint8_t> bytes = RandomBytes(5000, 7);
  for (const size_t piece : {1u, 7u, 511u, 512u, 4096u}) {
    uint32_t crc = 0;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      crc = Crc32c(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)), crc);
    }
    EXPECT_EQ(crc, Crc32c(bytes)) << "pieces of " << piece;
  }
}

TEST(Crc32cTest, EverySingleBitFlipIsNoticed) {
  std::vector<uint8_t> bytes = RandomBytes(1000, 4);
  const uint32_t before = Crc32c(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    ASSERT_NE(Crc32c(bytes), before) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
  }
}

}  // namespace
}  // namespace rshift
