#include "calibrate/data/text_lines.h"

#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "calibrate/data/limits.h"
#include "calibrate/data/regular_file.h"

namespace rshift {

std::string ReadSmallText(const std::string& path) {
  const uint64_t size = RegularFileSize(path);
  RSHIFT_REQUIRE(size <= kMaxTextBytes, ErrorCode::kInvalidInput, path, ": has ", size,
                 " bytes, a text of one entry per line has at most ", kMaxTextBytes,
                 "; is this the right file?");
  return ReadTextFile(path);
}

std::vector<std::pair<int, std::string>> ReadLines(const std::string& path) {
  std::istringstream text(ReadSmallText(path));
  std::vector<std::pair<int, std::string>> lines;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const size_t last = line.find_last_not_of(" \t\r");
    lines.emplace_back(number, line.substr(first, last - first + 1));
  }
  return lines;
}

}  // namespace rshift
