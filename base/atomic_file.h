// Whole-file input and output. Writing goes to a temporary file beside the target, which is flushed
// and renamed: an interrupted or failed write leaves the old file whole.
#ifndef RSHIFT_BASE_ATOMIC_FILE_H_
#define RSHIFT_BASE_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rshift {

// Throws kIo with path and reason ("model.onnx: cannot open: No such file or directory").
std::vector<uint8_t> ReadFile(const std::string& path);
std::string ReadTextFile(const std::string& path);
void WriteFileAtomic(const std::string& path, std::span<const uint8_t> bytes);
void WriteFileAtomic(const std::string& path, std::string_view text);

// Throws what WriteFileAtomic would throw before its first byte: to be asked before long work whose
// result goes to `path`.
void CheckWritable(const std::string& path);

// True when both name the same regular file, existing or not, however they are spelled and through
// whatever links: writing one would replace the other.
bool SameFile(const std::string& a, const std::string& b);

// A name beside `path` for writers that insist on opening a file themselves (libzip); Commit()
// renames it onto `path`, the destructor removes it when Commit() was not reached.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return temporary_; }
  void Commit();

 private:
  std::string target_;
  std::string temporary_;
};

}  // namespace rshift

#endif  // RSHIFT_BASE_ATOMIC_FILE_H_
