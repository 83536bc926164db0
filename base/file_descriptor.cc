#include "base/file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "base/error.h"

namespace rshift {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

void FailWithErrno(const std::string& path, const char* action) {
  const int code = errno;  // before anything below can change it
  const std::string shown = path.empty() ? "(empty file name)" : path;
  Fail(ErrorCode::kIo, shown, ": ", action, ": ", std::generic_category().message(code));
}

FileDescriptor OpenForReading(const std::string& path) {
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) FailWithErrno(path, "cannot open");
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) FailWithErrno(path, "cannot open");
  RSHIFT_REQUIRE(!S_ISDIR(status.st_mode), ErrorCode::kIo, path,
                 ": cannot open: is a directory, expected a file");
  return fd;
}

std::vector<uint8_t> ReadToEnd(const FileDescriptor& fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) FailWithErrno(path, "cannot read");
  // One byte more than expected, so that the end of a regular file is seen without growing.
  constexpr size_t kSmallest = 4096;
  std::vector<uint8_t> bytes(std::max(static_cast<size_t>(status.st_size) + 1, kSmallest));
  size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (count == 0) break;
    if (count > 0) {
      used += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      FailWithErrno(path, "cannot read");
    }
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace rshift
