#include "graph/sha256.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rshift {
namespace {

std::vector<uint8_t> Bytes(std::string_view text) { return {text.begin(), text.end()}; }

// FIPS 180-4 examples; the last is NIST's long message.
TEST(Sha256Test, KnownVectors) {
  EXPECT_EQ(Sha256Hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(Bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(Bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Generated with Python's hashlib: sizes on both sides of the one-block and two-block padding.
TEST(Sha256Test, SizesAroundTheBlockBoundary) {
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(65, 'x')),
            "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(119, 'x')),
            "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(120, 'x')),
            "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
  EXPECT_EQ(Sha256Hex(std::vector<uint8_t>(128, 'x')),
            "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464");
}

TEST(Sha256Test, PartsCountAsTheirConcatenation) {
  const std::vector<uint8_t> a = Bytes("ab"), none, c = Bytes("c");
  const std::array<std::span<const uint8_t>, 3> parts = {a, none, c};
  EXPECT_EQ(Sha256HexOfParts(parts), Sha256Hex(Bytes("abc")));
  EXPECT_EQ(Sha256HexOfParts({}), Sha256Hex({}));
}

}  // namespace
}  // namespace rshift
