#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/stale_files.h"

namespace rshift {
namespace {

// Writing through a symbolic link replaces the file it points at, not the link.
std::string ResolveTarget(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? std::string(real.get()) : path;
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// What the folder of `target` has against a new file in it.
[[noreturn]] void FailToCreateBeside(const std::string& target) {
  const std::string folder = DirectoryOf(target);
  const int code = errno;  // before stat() changes it
  struct stat status {};
  RSHIFT_REQUIRE(code != ENOENT || stat(folder.c_str(), &status) == 0, ErrorCode::kIo, target,
                 ": cannot write: the folder ", folder, " does not exist; create it first");
  RSHIFT_REQUIRE(code != ENOTDIR, ErrorCode::kIo, target, ": cannot write: ", folder,
                 " is not a folder");
  errno = code;
  FailWithErrno(target, ("cannot create a file in the folder " + folder).c_str());
}

// Creates an empty file beside `target`. The name does not grow with the target's, so that it fits
// wherever the target fits; O_EXCL keeps concurrent writers apart, other machines included.
FileDescriptor CreateBeside(const std::string& target, std::string* temporary) {
  static std::atomic<uint64_t> counter{0};
  const std::string directory = DirectoryOf(target);
  RemoveStaleFiles(directory);
  for (;;) {
    *temporary = Cat(directory, "/", TemporaryName(getpid(), counter.fetch_add(1)));
    const int fd = open(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return FileDescriptor(fd);
    if (errno != EEXIST && errno != EINTR) FailToCreateBeside(target);
  }
}

void WriteAll(int fd, std::span<const uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      FailWithErrno(path, "cannot write");
    }
  }
}

void FlushToDisk(int fd, const std::string& path) {
  if (fsync(fd) != 0) FailWithErrno(path, "cannot flush to disk");
}

// The rename is already visible and the old or the new file is whole either way; some file systems
// cannot flush a directory, so a refusal here is not an error.
void FlushDirectoryOf(const std::string& path) {
  const FileDescriptor fd(open(DirectoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) (void)fsync(fd.get());
}

// Devices and pipes (/dev/null, /dev/stdout) cannot be replaced and have no old content to protect.
bool IsSpecialFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  RSHIFT_REQUIRE(!S_ISDIR(status.st_mode), ErrorCode::kIo, path,
                 ": cannot write: is a directory, expected a file name");
  return !S_ISREG(status.st_mode);
}

void WriteSpecialFile(const std::string& path, std::span<const uint8_t> bytes) {
  const FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) FailWithErrno(path, "cannot open for writing");
  WriteAll(fd.get(), bytes, path);
}

}  // namespace

std::vector<uint8_t> ReadFile(const std::string& path) {
  const FileDescriptor fd = OpenForReading(path);
  return ReadToEnd(fd, path);
}

std::string ReadTextFile(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  return std::string(bytes.begin(), bytes.end());
}

void WriteFileAtomic(const std::string& path, std::span<const uint8_t> bytes) {
  if (IsSpecialFile(path)) {
    WriteSpecialFile(path, bytes);
    return;
  }
  TemporaryFile temporary(path);
  {
    const FileDescriptor fd(open(temporary.path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (fd.get() < 0) FailWithErrno(path, "cannot open the file beside it");
    WriteAll(fd.get(), bytes, path);
  }
  temporary.Commit();
}

void WriteFileAtomic(const std::string& path, std::string_view text) {
  WriteFileAtomic(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

void CheckWritable(const std::string& path) {
  if (!IsSpecialFile(path)) TemporaryFile probe(path);
}

bool SameFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  struct stat first {};
  struct stat second {};
  const bool first_exists = stat(a.c_str(), &first) == 0;
  if (first_exists != (stat(b.c_str(), &second) == 0)) return false;
  const std::string a_name = a.substr(a.rfind('/') + 1);
  if (!first_exists &&
      (stat(DirectoryOf(a).c_str(), &first) != 0 || stat(DirectoryOf(b).c_str(), &second) != 0 ||
       a_name != b.substr(b.rfind('/') + 1))) {
    return false;
  }
  const bool is_regular = !first_exists || S_ISREG(first.st_mode);
  return is_regular && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

TemporaryFile::TemporaryFile(const std::string& path) : target_(ResolveTarget(path)) {
  RSHIFT_REQUIRE(!IsSpecialFile(target_), ErrorCode::kIo, path,
                 ": cannot write: is a device or a pipe, expected a regular file");
  const FileDescriptor fd = CreateBeside(target_, &temporary_);
  // An existing file keeps its permissions; where that is not allowed, the umask's will do.
  struct stat status {};
  if (stat(target_.c_str(), &status) == 0) (void)fchmod(fd.get(), status.st_mode & 07777);
}

TemporaryFile::~TemporaryFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void TemporaryFile::Commit() {
  RSHIFT_REQUIRE(!temporary_.empty(), ErrorCode::kInternal, target_, ": committed twice");
  {
    const FileDescriptor fd(open(temporary_.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) FailWithErrno(target_, "the file written beside it is gone");
    FlushToDisk(fd.get(), target_);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) FailWithErrno(target_, "cannot replace");
  temporary_.clear();
  FlushDirectoryOf(target_);
}

}  // namespace rshift
