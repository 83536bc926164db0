#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    std::string pattern = (fs::temp_directory_path() / "mapped_file_test.XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~MappedFileTest() override { fs::remove_all(directory_); }

  std::string Write(const std::vector<uint8_t>& bytes) const {
    const std::string path = (directory_ / "file").string();
    WriteFileAtomic(path, bytes);
    return path;
  }

  fs::path directory_;
};

std::vector<uint8_t> Counting(size_t size) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

// Reads the slack too: at a size that is a multiple of the page it lies behind the file's last
// page.
void ExpectHolds(const MappedFile& file, const std::vector<uint8_t>& expected) {
  const std::span<const uint8_t> bytes = file.bytes();
  ASSERT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), expected);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0u);
  const volatile uint8_t* slack = bytes.data() + bytes.size();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(slack[i], 0) << "slack byte " << i;
}

TEST_F(MappedFileTest, EverySourceHoldsTheBytesAlignedWithSlack) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, page - 64, page - 63, page - 1, page,
                            page + 1, 5 * page}) {
    SCOPED_TRACE(size);
    const std::vector<uint8_t> bytes = Counting(size);
    const std::string path = Write(bytes);
    ExpectHolds(MappedFile::Map(path), bytes);
    ExpectHolds(MappedFile::Copy(path), bytes);
    ExpectHolds(MappedFile::FromBytes(bytes), bytes);
  }
}

TEST_F(MappedFileTest, MapStaysValidWhenTheFileIsReplaced) {
  const std::vector<uint8_t> bytes = Counting(10000);
  const MappedFile file = MappedFile::Map(Write(bytes));
  Write(std::vector<uint8_t>(3, 9));
  ExpectHolds(file, bytes);
}

TEST_F(MappedFileTest, MoveTakesTheDataAlong) {
  const std::vector<uint8_t> bytes = Counting(5000);
  const std::string path = Write(bytes);
  for (const bool map : {true, false}) {
    MappedFile first = map ? MappedFile::Map(path) : MappedFile::Copy(path);
    MappedFile second = std::move(first);
    ExpectHolds(second, bytes);
    EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move): specified
    MappedFile third = MappedFile::FromBytes(Counting(10));
    third = std::move(second);
    ExpectHolds(third, bytes);
  }
}

TEST_F(MappedFileTest, MissingFileAndDirectoryAreErrors) {
  EXPECT_THROW(MappedFile::Map((directory_ / "none").string()), Error);
  EXPECT_THROW(MappedFile::Map(directory_.string()), Error);
  EXPECT_THROW(MappedFile::Copy((directory_ / "none").string()), Error);
}

}  // namespace
}  // namespace rshift
