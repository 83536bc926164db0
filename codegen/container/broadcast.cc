#include "codegen/container/broadcast.h"

#include <algorithm>

namespace rshift {

bool BroadcastsTo(const Shape& from, const Shape& to) {
  return from.size() <= to.size() &&
         std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](int64_t dim, int64_t whole) { return dim == 1 || dim == whole; });
}

bool IsBroadcast(const ProgramImage& image, const Command& command, Field operand) {
  const auto shape = [&](Field f) -> const Shape& {
    return image.tensors[static_cast<size_t>(command.Tensor(f))].shape;
  };
  return TraitsOf(command.opcode).broadcasts_constant && shape(operand) != shape(Field::kDst);
}

int64_t BroadcastPeriod(const Shape& constant, const Shape& to) {
  const size_t missing = to.size() - constant.size();
  size_t first = missing;
  while (first < to.size() && constant[first - missing] == 1) ++first;
  const Shape rest(to.begin() + static_cast<int64_t>(first), to.end());
  return std::max<int64_t>(1, NumElements(rest));
}

}  // namespace rshift
