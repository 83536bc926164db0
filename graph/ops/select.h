// Selections whose size depends on the data. Their result is a list with a count in front; the
// importer takes it apart (graph/onnx/select.cc).
#ifndef RSHIFT_GRAPH_OPS_SELECT_H_
#define RSHIFT_GRAPH_OPS_SELECT_H_

#include <type_traits>

#include "isa/ops/select.h"

namespace rshift {

using isa::NonMaxSuppression;
using isa::NonZero;
using isa::Unique;

// What such an operator reads decides which elements leave the program.
template <typename T>
inline constexpr bool kSelects =
    std::is_same_v<T, NonMaxSuppression> || std::is_same_v<T, NonZero> || std::is_same_v<T, Unique>;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_SELECT_H_
