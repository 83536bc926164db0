// A folder for one test's files, and ways to fill it.
#ifndef RSHIFT_TESTS_CALIBRATE_TEMPORARY_FOLDER_H_
#define RSHIFT_TESTS_CALIBRATE_TEMPORARY_FOLDER_H_

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"

namespace rshift {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rshift_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

template <typename T>
NumpyArray MakeArray(const std::string& name, DType dtype, Shape shape,
                     const std::vector<T>& elements) {
  NumpyArray array{name, dtype, std::move(shape),
                   std::vector<uint8_t>(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(array.bytes.data(), elements.data(), array.bytes.size());
  return array;
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_CALIBRATE_TEMPORARY_FOLDER_H_
