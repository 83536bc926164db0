// .npz: a zip archive of .npy files, by libzip.
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/limits.h"
#include "calibrate/data/npy.h"
#include "calibrate/data/regular_file.h"
#include "calibrate/data/text_array.h"

namespace rshift {
namespace {

constexpr uint64_t kReadChunk = 1 << 20;
constexpr const char* kSampleNames = "sample_names";
// 1980-01-01 00:00, the first moment a zip file knows: the bytes must not depend on the clock.
constexpr uint16_t kDosTime = 0, kDosDate = (1 << 5) | 1;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string OpenError(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

std::vector<uint8_t> ReadEntry(zip_t* archive, uint64_t index, const zip_stat_t& stat,
                               const std::string& where) {
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(archive, index, 0));
  RSHIFT_REQUIRE(file != nullptr, ErrorCode::kInvalidInput, where,
                 ": cannot be read: ", zip_strerror(archive));
  std::vector<uint8_t> bytes;
  while (true) {
    // One byte more than the directory claims, so that a longer entry shows.
    const size_t have = bytes.size();
    const size_t wanted = std::min<uint64_t>(kReadChunk, stat.size - have + 1);
    bytes.resize(have + wanted);
    const int64_t got = zip_fread(file.get(), bytes.data() + have, wanted);
    RSHIFT_REQUIRE(got >= 0, ErrorCode::kInvalidInput, where,
                   ": damaged: ", zip_file_strerror(file.get()), "; make the file again");
    bytes.resize(have + static_cast<size_t>(got));
    RSHIFT_REQUIRE(bytes.size() <= stat.size, ErrorCode::kInvalidInput, where,
                   ": is longer than its directory says");
    if (got == 0) break;
  }
  RSHIFT_REQUIRE(bytes.size() == stat.size, ErrorCode::kInvalidInput, where,
                 ": is shorter than its directory says");
  return bytes;
}

// A name that fits into a one-line message, whatever the file holds.
std::string Printable(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return name;
}

// Before anything is unpacked: what the directory says of all entries together.
void RequireUnpackedSize(zip_t* archive, uint64_t file_size, const std::string& path) {
  const uint64_t limit = MaxUnpackedBytes(file_size);
  uint64_t total = 0;
  for (int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(archive, static_cast<uint64_t>(i), 0, &stat) != 0) continue;
    if ((stat.valid & ZIP_STAT_SIZE) != 0) total += std::min(stat.size, limit + 1);
    RSHIFT_REQUIRE(total <= limit, ErrorCode::kInvalidInput, path, ": its arrays would take more ",
                   "than ", limit, " bytes unpacked, the file has ", file_size,
                   "; save each array as .npy, which is mapped and not unpacked");
  }
}

// None: an array of text, whose name goes to `texts`.
std::optional<NumpyArray> ReadArray(zip_t* archive, uint64_t index, const std::string& path,
                                    std::vector<std::string>& texts) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  const bool known = zip_stat_index(archive, index, 0, &stat) == 0 &&
                     (stat.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD)) ==
                         (ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD);
  RSHIFT_REQUIRE(known, ErrorCode::kInvalidInput, path, ": entry ", index,
                 " of the archive is damaged");
  std::string name = stat.name;
  const std::string where = path + ":" + Printable(name);
  RSHIFT_REQUIRE(stat.comp_method == ZIP_CM_STORE || stat.comp_method == ZIP_CM_DEFLATE,
                 ErrorCode::kInvalidInput, where, ": compressed by method ", stat.comp_method,
                 ", expected none or deflate (numpy.savez, savez_compressed)");
  RSHIFT_REQUIRE(name.size() > 4 && name.ends_with(".npy"), ErrorCode::kInvalidInput, where,
                 ": not an array, expected names that end in .npy");
  const std::vector<uint8_t> bytes = ReadEntry(archive, index, stat, where);
  name.resize(name.size() - 4);
  if (IsTextNpy(bytes)) {
    if (name != kSampleNames) texts.push_back(std::move(name));
    return std::nullopt;
  }
  const NpyView view = ParseNpy(bytes, where);
  return NumpyArray{name, view.dtype, view.shape, {view.data.begin(), view.data.end()}};
}

}  // namespace

std::vector<NumpyArray> ReadNpz(const std::string& path, std::vector<std::string>* texts) {
  const uint64_t file_size = RegularFileSize(path);
  int code = 0;
  const std::unique_ptr<zip_t, Discard> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  RSHIFT_REQUIRE(archive != nullptr, ErrorCode::kInvalidInput, path,
                 ": not a .npz file: ", OpenError(code));
  RequireUnpackedSize(archive.get(), file_size, path);
  const int64_t count = zip_get_num_entries(archive.get(), 0);
  std::vector<NumpyArray> arrays;
  std::set<std::string> names;
  std::vector<std::string> passed_over;
  std::vector<std::string>& no_numbers = texts == nullptr ? passed_over : *texts;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<NumpyArray> array =
        ReadArray(archive.get(), static_cast<uint64_t>(i), path, no_numbers);
    if (!array) continue;
    arrays.push_back(std::move(*array));
    RSHIFT_REQUIRE(names.insert(arrays.back().name).second, ErrorCode::kInvalidInput, path,
                   ": array '", arrays.back().name, "' is there twice");
  }
  return arrays;
}

void WriteNpz(const std::string& path, const std::vector<NumpyArray>& arrays,
              const std::vector<std::string>& sample_names) {
  std::vector<std::vector<uint8_t>> files;  // libzip reads them when the archive is closed
  std::vector<std::string> names;
  for (const NumpyArray& array : arrays) {
    names.push_back(array.name);
    files.push_back(NpyHeader(array));
    files.back().insert(files.back().end(), array.bytes.begin(), array.bytes.end());
  }
  if (!sample_names.empty() && std::find(names.begin(), names.end(), kSampleNames) == names.end()) {
    names.push_back(kSampleNames);
    files.push_back(TextNpy(sample_names));
  }
  if (files.empty()) {  // libzip removes a file that would be empty; this is the end record of an
                        // empty archive
    std::vector<uint8_t> empty(22, 0);
    std::memcpy(empty.data(), "PK\5\6", 4);
    WriteFileAtomic(path, std::span<const uint8_t>(empty));
    return;
  }
  TemporaryFile temporary(path);
  int code = 0;
  std::unique_ptr<zip_t, Discard> archive(
      zip_open(temporary.path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  RSHIFT_REQUIRE(archive != nullptr, ErrorCode::kIo, path, ": cannot write: ", OpenError(code));
  for (size_t i = 0; i < files.size(); ++i) {
    const auto fail = [&] {
      Fail(ErrorCode::kIo, path, ": cannot write array '", names[i],
           "': ", zip_strerror(archive.get()));
    };
    zip_source_t* source = zip_source_buffer(archive.get(), files[i].data(), files[i].size(), 0);
    if (source == nullptr) fail();
    const int64_t index =
        zip_file_add(archive.get(), (names[i] + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail();
    }
    const auto at = static_cast<uint64_t>(index);
    if (zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0) != 0) fail();
    if (zip_file_set_dostime(archive.get(), at, kDosTime, kDosDate, 0) != 0) fail();
  }
  if (zip_close(archive.get()) != 0)
    Fail(ErrorCode::kIo, path, ": cannot write: ", zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // closed
  temporary.Commit();
}

}  // namespace rshift
