// Operators as text, for dumps of graphs.
#ifndef RSHIFT_GRAPH_OP_TEXT_H_
#define RSHIFT_GRAPH_OP_TEXT_H_

#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/op.h"

namespace rshift {

// With as few digits as read back equal.
std::string NumberText(float value);

// "[1,2,0.5]"
template <typename T>
std::string ListText(const std::vector<T>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ",";
    if constexpr (std::is_floating_point_v<T>) {
      text += NumberText(items[i]);
    } else {
      text += std::to_string(items[i]);
    }
  }
  return text + "]";
}

// FNV-1a, 16 hexadecimal digits: two dumps differ when a number differs, without printing them all.
template <typename Numbers>
std::string FingerprintText(const Numbers& numbers) {
  uint64_t hash = 14695981039346656037ull;
  for (const auto number : numbers) {
    hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211ull;
  }
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

// The attributes of an operator, each with a leading blank.
std::string AttributeText(const Op& op);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OP_TEXT_H_
