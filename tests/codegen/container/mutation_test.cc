// Damaged files: always an error or a program that is written as exactly these bytes, never a
// crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/checksum.h"
#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "tests/codegen/container/forge.h"
#include "tests/codegen/container/sample_program.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT

bool Accepted(const std::vector<uint8_t>& file) {
  try {
    ReadContainer(file, "net.rshift");
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return false;
  }
}

bool HasUnknownSection(const ContainerView& view) {
  return std::any_of(view.sections.begin(), view.sections.end(), [](const auto& section) {
    return std::none_of(kSections.begin(), kSections.end(),
                        [&](const SectionKind& kind) { return kind.name == section.kind; });
  });
}

// True when accepted; then writing must give these bytes again (but for sections that readers
// skip).
bool AcceptedAsCanonical(const std::vector<uint8_t>& file) {
  if (!Accepted(file)) return false;
  ContainerView view = ReadContainer(file, "net.rshift");
  view.image.constants.assign(view.constants.begin(), view.constants.end());
  EXPECT_FALSE(Disassemble(view.image).empty());
  if (HasUnknownSection(view)) return true;
  std::vector<uint8_t> written = WriteContainer(view.image);
  StoreNumber(written, 0x0e,
              LoadNumber<uint16_t>(file, 0x0e));  // a newer minor version is read, ours is written
  FixChecksums(written);
  EXPECT_TRUE(written == file);
  return true;
}

// Both forms of constants.
class DamagedFile : public ::testing::TestWithParam<bool> {
 protected:
  static std::vector<uint8_t> File() {
    return WriteContainer(GetParam() ? SampleProgramOf4Bits() : SampleProgram());
  }
};
INSTANTIATE_TEST_SUITE_P(ConstantsOf4Bits, DamagedFile, ::testing::Bool());

TEST_P(DamagedFile, EveryChangedByteIsNoticed) {
  const std::vector<uint8_t> file = File();
  std::vector<uint8_t> mutant = file;
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      mutant[at] = file[at] ^ change;
      EXPECT_FALSE(Accepted(mutant)) << "byte " << at << " ^ " << change;
    }
    mutant[at] = file[at];
  }
}

TEST_P(DamagedFile, EveryTruncationIsNoticed) {
  const std::vector<uint8_t> file = File();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(Accepted({file.begin(), file.begin() + size})) << size;
  }
}

TEST_P(DamagedFile, EveryByteForgedIsAnErrorOrCanonical) {
  const std::vector<uint8_t> file = File();
  int accepted = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    const bool in_padding =
        at > 1024 && at < 4096;  // nothing but zeros there: a few changes are enough
    for (int change = 1; change < 256; change += in_padding ? 100 : 3) {
      std::vector<uint8_t> mutant = file;
      mutant[at] ^= change;
      FixChecksums(mutant);
      accepted += AcceptedAsCanonical(mutant) ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 100);  // names, scales, weights: many changes are another valid program
}

TEST_P(DamagedFile, SeveralExtremeNumbersForgedAtOnce) {
  const std::vector<uint8_t> file = File();
  const uint64_t values[] = {0,
                             1,
                             0x7f,
                             0xff,
                             0xffff,
                             0x7fffffff,
                             0xffffffff,
                             uint64_t{1} << 40,
                             uint64_t{1} << 63,
                             ~uint64_t{0}};
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> mutant = file;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const uint64_t at = random() % 1024 / 4 * 4;
      if (random() % 2 == 0) {
        StoreNumber(mutant, at, values[random() % std::size(values)]);
      } else {
        StoreNumber(mutant, at, static_cast<uint32_t>(values[random() % std::size(values)]));
      }
    }
    FixChecksums(mutant);
    AcceptedAsCanonical(mutant);
  }
}

// One more section behind the constants.
std::vector<uint8_t> WithExtraSection(uint32_t flags) {
  const std::vector<uint8_t> file = WriteContainer(SampleProgram());
  const auto count = LoadNumber<uint32_t>(file, 0x14);
  const uint64_t end = kHeaderSize + count * kSectionEntrySize;
  const auto first = LoadNumber<uint64_t>(file, kHeaderSize + 8);
  EXPECT_EQ(end, first) << "the sample has no room between section table and first section";
  std::vector<uint8_t> bigger(file.begin(), file.begin() + end);
  bigger.resize(first + 64);
  bigger.insert(bigger.end(), file.begin() + first, file.end());
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t at = kHeaderSize + i * kSectionEntrySize + 8;
    const auto offset = LoadNumber<uint64_t>(bigger, at);
    StoreNumber<uint64_t>(bigger, at, i + 1 < count ? offset + 64 : offset);
  }
  // Constants stay on their page: the gap before them takes up the 64 bytes.
  const auto constants =
      LoadNumber<uint64_t>(bigger, kHeaderSize + (count - 1) * kSectionEntrySize + 8);
  bigger.erase(bigger.begin() + constants, bigger.begin() + constants + 64);
  const uint64_t extra = (bigger.size() + 63) / 64 * 64;
  bigger.resize(extra);
  bigger.insert(bigger.end(), {'n', 'e', 'w', '!'});
  std::memcpy(bigger.data() + end, "XTRA", 4);
  StoreNumber<uint32_t>(bigger, end + 4, flags);
  StoreNumber<uint64_t>(bigger, end + 8, extra);
  StoreNumber<uint64_t>(bigger, end + 16, 4);
  StoreNumber<uint32_t>(bigger, end + 24, Crc32c(std::span(bigger).subspan(extra, 4)));
  StoreNumber<uint32_t>(bigger, end + 28, kAlignLog2);
  StoreNumber<uint32_t>(bigger, 0x14, count + 1);
  StoreNumber<uint64_t>(bigger, 0x18, bigger.size());
  StoreNumber(bigger, kTableCrcAt,
              Crc32c(std::span(bigger).subspan(kHeaderSize, (count + 1) * kSectionEntrySize)));
  StoreNumber(bigger, kHeaderCrcAt, Crc32c(std::span(bigger).first(kHeaderCrcAt)));
  return bigger;
}

TEST(NewerFile, UnknownOptionalSectionIsSkippedAndRequiredOneRefused) {
  EXPECT_TRUE(Accepted(WithExtraSection(0)));
  EXPECT_FALSE(Accepted(WithExtraSection(kSectionRequired)));
}

}  // namespace
}  // namespace rshift
