// Where an input of a pipeline comes from.
#ifndef RSHIFT_PIPELINE_FILE_OR_H_
#define RSHIFT_PIPELINE_FILE_OR_H_

#include <optional>
#include <string>

namespace rshift {

// A file, or the value that would be read from it.
template <typename T>
struct FileOr {
  std::string path = {};  // of the file; beside a value only its name in messages, if any
  std::optional<T> value = {};

  bool given() const { return value.has_value() || !path.empty(); }
  // In messages; `unnamed` stands for a value without a name: "the table".
  std::string Name(const char* unnamed) const { return path.empty() ? unnamed : path; }
  // `read`: path -> T.
  template <typename Read>
  T Get(Read read) const {
    return value ? *value : read(path);
  }
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_FILE_OR_H_
