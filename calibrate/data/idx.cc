#include "calibrate/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "calibrate/data/limits.h"
#include "calibrate/data/regular_file.h"

namespace rshift {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr uint8_t kUnsignedByte = 0x08;
constexpr int kMaxRank = 8;
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, Close>;

bool ReadExactly(gzFile_s* file, uint8_t* to, unsigned size) {
  return gzread(file, to, size) == static_cast<int>(size);
}

}  // namespace

bool LooksLikeIdx(const std::string& path) {
  const GzFile file(gzopen(path.c_str(), "rb"));  // reads plain files, too
  uint8_t magic[4];
  return file && ReadExactly(file.get(), magic, 4) && magic[0] == 0 && magic[1] == 0 &&
         magic[2] >= 0x08 && magic[2] <= 0x0e && magic[3] >= 1 && magic[3] <= kMaxRank;
}

IdxArray ReadIdx(const std::string& path) {
  const uint64_t file_size = RegularFileSize(path);
  const GzFile file(gzopen(path.c_str(), "rb"));
  RSHIFT_REQUIRE(file != nullptr, ErrorCode::kIo, path, ": cannot open the file");
  const auto damaged = [&](const char* what) {
    Fail(ErrorCode::kInvalidInput, path, ": ", what, "; the idx file is damaged, get it again");
  };
  uint8_t magic[4];
  if (!ReadExactly(file.get(), magic, 4) || magic[0] != 0 || magic[1] != 0)
    damaged("does not begin as an idx file");
  RSHIFT_REQUIRE(magic[2] == kUnsignedByte, ErrorCode::kInvalidInput, path, ": idx element type ",
                 int{magic[2]}, ", expected 8 (unsigned byte)");
  if (magic[3] < 1 || magic[3] > kMaxRank) damaged("has an impossible number of dimensions");
  IdxArray array;
  uint64_t bytes = 1;
  for (int i = 0; i < magic[3]; ++i) {
    uint8_t raw[4];
    if (!ReadExactly(file.get(), raw, 4)) damaged("ends within its header");
    const uint64_t dim = uint64_t{raw[0]} << 24 | raw[1] << 16 | raw[2] << 8 | raw[3];
    if (dim != 0 && bytes > kMaxBytes / dim) damaged("claims an impossible size");
    bytes *= dim;
    array.shape.push_back(static_cast<int64_t>(dim));
  }
  const uint64_t limit = MaxUnpackedBytes(file_size);
  RSHIFT_REQUIRE(bytes <= limit, ErrorCode::kInvalidInput, path, ": ", ToString(array.shape),
                 " elements would take more than ", limit, " bytes unpacked, the file has ",
                 file_size, "; unpack it with gunzip, or give fewer samples");
  while (array.bytes.size() <
         bytes) {  // in steps: a damaged size must not allocate before the data is there
    const size_t have = array.bytes.size();
    const auto step = static_cast<unsigned>(std::min<uint64_t>(kChunk, bytes - have));
    array.bytes.resize(have + step);
    if (!ReadExactly(file.get(), array.bytes.data() + have, step))
      damaged("is shorter than its header says");
  }
  uint8_t extra;
  if (gzread(file.get(), &extra, 1) != 0) damaged("is longer than its header says");
  return array;
}

}  // namespace rshift
