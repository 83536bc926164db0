#include "calibrate/data/tar.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace rshift {
namespace {

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

std::string PathOf(archive_entry* entry) {
  // Names in pax headers are UTF-8, which a C locale cannot express: they are asked for first.
  const char* path = archive_entry_pathname_utf8(entry);
  if (path == nullptr) path = archive_entry_pathname(entry);
  std::string name = path == nullptr ? "" : path;
  while (name.starts_with("./")) name.erase(0, 2);
  return name;
}

// libarchive hands out pointers into the memory that it was given, which is the mapped file.
std::span<const uint8_t> ContentOf(archive* a, int64_t size, std::span<const uint8_t> file,
                                   const std::string& where) {
  const uint8_t* begin = nullptr;
  int64_t have = 0;
  while (have < size) {
    const void* block = nullptr;
    size_t bytes = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(a, &block, &bytes, &offset);
    RSHIFT_REQUIRE(status == ARCHIVE_OK, ErrorCode::kInvalidInput, where, ": cannot be read (",
                   status == ARCHIVE_EOF ? "it is sparse" : archive_error_string(a),
                   "); get the file again");
    const auto* at = static_cast<const uint8_t*>(block);
    if (begin == nullptr) begin = at;
    RSHIFT_REQUIRE(at == begin + have && offset == have && at >= file.data() &&
                       at + bytes <= file.data() + file.size(),
                   ErrorCode::kUnsupported, where,
                   ": does not lie in one piece (sparse?); expected a plain tar file");
    have += static_cast<int64_t>(bytes);
  }
  return {begin, static_cast<size_t>(size)};
}

// Cut off between two members, it would pass for a smaller one.
void RequireEnd(std::span<const uint8_t> file, const std::string& where) {
  constexpr size_t kEmptyBlocks = 1024;
  const bool ends =
      file.size() >= kEmptyBlocks &&
      std::all_of(file.end() - kEmptyBlocks, file.end(), [](uint8_t byte) { return byte == 0; });
  RSHIFT_REQUIRE(ends, ErrorCode::kInvalidInput, where,
                 ": is cut off: the two empty blocks that end a tar file are missing; get the "
                 "file again");
}

}  // namespace

std::vector<TarMember> ListTar(std::span<const uint8_t> file, const std::string& where) {
  const std::unique_ptr<archive, FreeArchive> reader(archive_read_new());
  RSHIFT_REQUIRE(reader != nullptr, ErrorCode::kIo, where, ": not enough memory to read it");
  archive* const a = reader.get();
  archive_read_support_format_tar(a);
  const auto require = [&](int status) {
    RSHIFT_REQUIRE(status >= ARCHIVE_WARN, ErrorCode::kInvalidInput, where,
                   ": is damaged, cut off or no tar file (", archive_error_string(a),
                   "); get the file again; unpack a .tar.gz with gunzip");
  };
  require(archive_read_open_memory(a, file.data(), file.size()));
  std::vector<TarMember> members;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(a, &entry);
    if (status == ARCHIVE_EOF) break;
    require(status);
    const std::string path = PathOf(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr)
      continue;
    RSHIFT_REQUIRE(!path.empty(), ErrorCode::kInvalidInput, where, ": member ", members.size(),
                   " has no readable name; write the file again");
    members.push_back({path, ContentOf(a, archive_entry_size(entry), file, where + "/" + path)});
  }
  RequireEnd(file, where);
  return members;
}

}  // namespace rshift
