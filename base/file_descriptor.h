// The system calls atomic_file.cc and mapped_file.cc share. Not for use outside base/.
#ifndef RSHIFT_BASE_FILE_DESCRIPTOR_H_
#define RSHIFT_BASE_FILE_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rshift {

// Closes on destruction; a negative number is "none".
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

// Throws kIo: "<path>: <action>: <what errno says>".
[[noreturn]] void FailWithErrno(const std::string& path, const char* action);
// Throws kIo when the file cannot be opened or is a directory.
FileDescriptor OpenForReading(const std::string& path);
// Everything from the current position on; pipes and files without a size (/proc) included.
std::vector<uint8_t> ReadToEnd(const FileDescriptor& fd, const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_BASE_FILE_DESCRIPTOR_H_
