#include "calibrate/statistics_stream.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/atomic_file.h"
#include "base/error.h"

namespace rshift {

void SaveStatistics(const std::string& path, const StatisticsFile& file) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return WriteFileAtomic(path, std::span<const uint8_t>(WriteStatistics(file)));  // a device
  TemporaryFile temporary(path);
  const auto check = [&](bool ok) {
    RSHIFT_REQUIRE(ok, ErrorCode::kIo, path, ": cannot write: ", std::strerror(errno));
  };
  struct Close {
    void operator()(std::FILE* open) const { std::fclose(open); }
  };
  std::unique_ptr<std::FILE, Close> out(std::fopen(temporary.path().c_str(), "wb"));
  check(out != nullptr);
  StreamStatistics(
      file,
      [&](std::span<const uint8_t> piece) {
        check(std::fwrite(piece.data(), 1, piece.size(), out.get()) == piece.size());
      },
      [](uint64_t) {});
  check(std::fclose(out.release()) == 0);
  temporary.Commit();
}

}  // namespace rshift
