// What the checks of the resize commands share: their list (runtime/steps/resize_list.h).
#ifndef RSHIFT_RUNTIME_VERIFY_RESIZE_DIMENSIONS_H_
#define RSHIFT_RUNTIME_VERIFY_RESIZE_DIMENSIONS_H_

#include <cstring>
#include <vector>

#include "runtime/steps/resize_list.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {

inline std::vector<int32_t> ReadTapList(const CommandCheck& check) {
  check.CheckType(Field::kList, {DType::kS32});
  const Shape& size = check.Tensor(Field::kList).shape;
  check.Check(size.size() == 1, check.Describe(Field::kList), ": expected one dimension");
  std::vector<int32_t> list(static_cast<size_t>(size[0]));
  std::memcpy(list.data(), check.Data(Field::kList), list.size() * sizeof(int32_t));
  return list;
}

// One for each dimension of dst; `list` must outlive them. `taps`: how many the command allows.
inline std::vector<ResizeDimension> CheckedDimensions(const CommandCheck& check,
                                                      const std::vector<int32_t>& list,
                                                      const char* taps) {
  const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
  check.Check(src.size() == dst.size(), check.Describe(Field::kSrc), " and ",
              check.Describe(Field::kDst), ": expected equal ranks");
  std::vector<ResizeDimension> dims = ReadResizeList(list, dst);
  check.Check(dims.size() == dst.size(), check.Describe(Field::kList), ": expected ", taps,
              " taps for each dimension and a pair for each tap");
  return dims;
}

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_RESIZE_DIMENSIONS_H_
