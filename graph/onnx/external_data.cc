#include "graph/onnx/external_data.h"

#include <sys/stat.h>

#include <charconv>

#include "base/atomic_file.h"
#include "base/error.h"

namespace rshift {
namespace {

// Every component of the path must be a plain folder or file: a link could lead anywhere.
void CheckPlainPath(const ExternalData& external, const std::string& location,
                    const std::string& where) {
  RSHIFT_REQUIRE(
      !location.empty() && location[0] != '/' && location.find('\0') == std::string::npos,
      ErrorCode::kInvalidInput, where, ": external data location ", Quoted(location),
      " is not a relative path; keep the data file beside the model");
  std::string path = external.folder;
  size_t begin = 0;
  while (begin <= location.size()) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string part = location.substr(begin, end - begin);
    RSHIFT_REQUIRE(part != "..", ErrorCode::kInvalidInput, where, ": external data location ",
                   Quoted(location),
                   " leaves the model's folder; keep the data file beside the model");
    path += "/" + part;
    struct stat info {};
    RSHIFT_REQUIRE(lstat(path.c_str(), &info) == 0, ErrorCode::kIo, where, ": external data file ",
                   Quoted(path), " cannot be opened; copy it beside the model");
    const bool last = end == location.size();
    RSHIFT_REQUIRE(last ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode), ErrorCode::kInvalidInput,
                   where, ": external data file ", Quoted(path),
                   " is a link or not a plain file; copy it beside the model");
    begin = end + 1;
  }
}

int64_t ParseCount(const std::string& text, const char* key, const std::string& where) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RSHIFT_REQUIRE(error == std::errc() && end == text.data() + text.size() && number >= 0,
                 ErrorCode::kInvalidInput, where, ": external data ", key, " ", Quoted(text),
                 " is not a number of bytes");
  return number;
}

}  // namespace

std::span<const uint8_t> ExternalBytes(const onnx::TensorProto& tensor, ExternalData& external,
                                       const std::string& where) {
  RSHIFT_REQUIRE(
      !external.folder.empty(), ErrorCode::kUnsupported, where,
      ": keeps its data in another file, which a model in memory cannot; give the model's path");
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = ParseCount(entry.value(), "offset", where);
    if (entry.key() == "length") length = ParseCount(entry.value(), "length", where);
  }
  auto file = external.files.find(location);
  if (file == external.files.end()) {
    CheckPlainPath(external, location, where);
    const std::string path = external.folder + "/" + location;
    for (const std::string& output : external.outputs) {
      RSHIFT_REQUIRE(!SameFile(output, path), ErrorCode::kInvalidInput, "the output ", output,
                     " is the same file as the model's external data ", path,
                     ", which it would overwrite; give the output another name");
    }
    file = external.files.emplace(location, MappedFile::Map(path)).first;
  }
  auto bytes = file->second.bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  if (length < 0) length = std::max<int64_t>(size - offset, 0);
  RSHIFT_REQUIRE(offset <= size && length <= size - offset, ErrorCode::kInvalidInput, where,
                 ": external data ends at byte ", offset, " + ", length, " but ", Quoted(location),
                 " has ", size, " bytes; the data file is incomplete");
  return bytes.subspan(offset, length);
}

}  // namespace rshift
