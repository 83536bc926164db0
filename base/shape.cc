#include "base/shape.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/error.h"

namespace rshift {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

// Dimension `axis` of `shape` after it is padded with leading ones to `rank`.
int64_t PaddedDim(const Shape& shape, size_t axis, size_t rank) {
  const size_t missing = rank - shape.size();
  return axis < missing ? 1 : shape[axis - missing];
}

}  // namespace

int64_t NumElements(const Shape& shape) {
  // The text is made when it is needed: loading a program asks for thousands of products.
  for (const int64_t dim : shape) {
    if (dim >= 0) continue;
    Fail(ErrorCode::kInvalidInput, "shape ", ToString(shape),
         " has a negative dimension, expected every dimension >= 0");
  }
  // The product of those that are not zero is bounded too: then so is that of any of them, and with
  // it every stride and every offset that is made of them, also of an empty tensor.
  bool empty = false;
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim == 0) {
      empty = true;
      continue;
    }
    const std::optional<int64_t> product = CheckedMul<int64_t>(count, dim);
    if (!product || *product >= kMaxElements) {
      Fail(ErrorCode::kInvalidInput, "shape ", ToString(shape),
           " has 2^40 elements or more (dimensions of 0 left out), expected fewer");
    }
    count = *product;
  }
  return empty ? 0 : count;
}

std::string ToString(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text;
}

Shape Strides(const Shape& shape) {
  Shape strides(shape.size());
  uint64_t stride = 1;  // unsigned: of shapes that NumElements refuses, the product may wrap
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[axis]);
  }
  return strides;
}

Shape Broadcast(const Shape& a, const Shape& b, const std::string& where) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t da = PaddedDim(a, axis, rank);
    const int64_t db = PaddedDim(b, axis, rank);
    RSHIFT_REQUIRE(da == db || da == 1 || db == 1, ErrorCode::kInvalidInput, where, ": shapes ",
                   ToString(a), " and ", ToString(b), " do not broadcast: axis ", axis, " has ", da,
                   " and ", db, ", expected equal sizes or 1");
    result[axis] = da == 1 ? db : da;
  }
  return result;
}

}  // namespace rshift
