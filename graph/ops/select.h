// Selections. Where their size depends on the data, their result is a list with a count in front;
// the importer takes it apart (graph/onnx/select.cc).
#ifndef RSHIFT_GRAPH_OPS_SELECT_H_
#define RSHIFT_GRAPH_OPS_SELECT_H_

#include <type_traits>

#include "isa/ops/select.h"

namespace rshift {

using isa::NonMaxSuppression;
using isa::NonZero;
using isa::TopK;
using isa::Unique;

// What such an operator reads decides which elements leave the program.
template <typename T>
inline constexpr bool kSelects =
    std::is_same_v<T, NonMaxSuppression> || std::is_same_v<T, NonZero> ||
    std::is_same_v<T, Unique> || std::is_same_v<T, TopK>;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_SELECT_H_
