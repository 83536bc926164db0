// The files of golden/: a header line with the columns' names, then one case a line.
#ifndef RSHIFT_TESTS_NUMERICS_CSV_H_
#define RSHIFT_TESTS_NUMERICS_CSV_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rshift {

class CsvRow {
 public:
  CsvRow(const std::map<std::string, size_t>& columns, std::vector<std::string> cells)
      : columns_(columns), cells_(std::move(cells)) {}

  const std::string& Text(const std::string& column) const { return cells_[columns_.at(column)]; }
  int64_t Long(const std::string& column) const { return std::stoll(Text(column)); }
  uint64_t Word(const std::string& column) const { return std::stoull(Text(column)); }
  int32_t Int(const std::string& column) const { return static_cast<int32_t>(Long(column)); }
  bool Flag(const std::string& column) const { return Long(column) != 0; }
  // Hexadecimal floats are read exactly; strtod takes subnormals, stod refuses them.
  double Double(const std::string& column) const {
    return std::strtod(Text(column).c_str(), nullptr);
  }
  float Float(const std::string& column) const { return static_cast<float>(Double(column)); }
  int32_t lo() const { return Text("type") == "u8" ? 0 : -128; }
  int32_t hi() const { return Text("type") == "u8" ? 255 : 127; }

 private:
  const std::map<std::string, size_t>& columns_;
  std::vector<std::string> cells_;
};

inline std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Calls `check` with every row of golden/<name>.csv; a failure names file and line. Returns the
// number of rows.
inline int64_t ForEachRow(const std::string& name,
                          const std::function<void(const CsvRow&)>& check) {
  const std::string path =
      std::string(std::getenv("RSHIFT_SOURCE_DIR")) + "/tests/numerics/golden/" + name + ".csv";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::string line;
  std::getline(in, line);
  std::map<std::string, size_t> columns;
  for (const std::string& column : Split(line, ',')) {
    const size_t index = columns.size();
    columns[column] = index;
  }
  int64_t rows = 0;
  while (std::getline(in, line)) {
    SCOPED_TRACE(path + ":" + std::to_string(rows + 2) + ": " + line);
    std::vector<std::string> cells = Split(line, ',');
    if (cells.size() != columns.size()) throw std::runtime_error(path + ": damaged line " + line);
    check(CsvRow(columns, std::move(cells)));
    ++rows;
  }
  EXPECT_GT(rows, 0) << path;
  return rows;
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_NUMERICS_CSV_H_
