// Operators as text, for dumps of graphs.
#ifndef RSHIFT_GRAPH_OP_TEXT_H_
#define RSHIFT_GRAPH_OP_TEXT_H_

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

// The attributes of an operator, each with a leading blank.
std::string AttributeText(const Op& op);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OP_TEXT_H_
