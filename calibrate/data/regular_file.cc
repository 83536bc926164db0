#include "calibrate/data/regular_file.h"

#include <filesystem>

#include "base/error.h"

namespace rshift {

uint64_t RegularFileSize(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  RSHIFT_REQUIRE(status.type() != std::filesystem::file_type::not_found, ErrorCode::kInvalidInput,
                 path, ": no such file");
  RSHIFT_REQUIRE(!error, ErrorCode::kIo, path, ": cannot read: ", error.message());
  RSHIFT_REQUIRE(status.type() != std::filesystem::file_type::directory, ErrorCode::kInvalidInput,
                 path, ": is a folder, expected a file");
  RSHIFT_REQUIRE(status.type() == std::filesystem::file_type::regular, ErrorCode::kInvalidInput,
                 path, ": is a device or a pipe, expected a file: save the data and give its name");
  const uint64_t size = std::filesystem::file_size(path, error);
  RSHIFT_REQUIRE(!error, ErrorCode::kIo, path, ": cannot read: ", error.message());
  return size;
}

}  // namespace rshift
