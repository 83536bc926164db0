// Text files that hold one entry per line. Not for use outside calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_TEXT_LINES_H_
#define RSHIFT_CALIBRATE_DATA_TEXT_LINES_H_

#include <string>
#include <utility>
#include <vector>

namespace rshift {

// The lines of a text file with their numbers (from 1), without surrounding blanks; empty lines and
// those that start with '#' are left out. Throws kIo.
std::vector<std::pair<int, std::string>> ReadLines(const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_TEXT_LINES_H_
