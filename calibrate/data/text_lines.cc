#include "calibrate/data/text_lines.h"

#include <sstream>

#include "base/atomic_file.h"

namespace rshift {

std::vector<std::pair<int, std::string>> ReadLines(const std::string& path) {
  std::istringstream text(ReadTextFile(path));
  std::vector<std::pair<int, std::string>> lines;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const size_t last = line.find_last_not_of(" \t\r");
    lines.emplace_back(number, line.substr(first, last - first + 1));
  }
  return lines;
}

}  // namespace rshift
