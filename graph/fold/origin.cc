#include "graph/fold/origin.h"

#include <cstring>

#include "graph/fold/fold.h"

namespace rshift {
namespace {

// For each element of `shape` its index along `axis`.
std::vector<uint8_t> IndicesAlong(const Shape& shape, int64_t axis) {
  const int64_t behind = Strides(shape)[axis];
  std::vector<uint8_t> bytes(NumElements(shape) * sizeof(int32_t));
  for (int64_t i = 0, count = NumElements(shape); i < count; ++i) {
    const auto index = static_cast<int32_t>(i / behind % shape[axis]);
    std::memcpy(bytes.data() + i * sizeof(index), &index, sizeof(index));
  }
  return bytes;
}

// The dimension of `shape` along which the given indices run, or -1.
int64_t FindAxis(const std::vector<uint8_t>& indices, const Shape& shape, int64_t size) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == size && IndicesAlong(shape, static_cast<int64_t>(d)) == indices) {
      return static_cast<int64_t>(d);
    }
  }
  return -1;
}

std::vector<uint8_t> Transposed(const std::vector<uint8_t>& bytes, size_t size, const Value& from,
                                const Transpose& op, const Shape& to) {
  Value value;
  value.dtype = size == 1 ? DType::kU8 : DType::kS32;
  value.shape = from.shape;
  auto data = std::make_shared<ConstantData>();
  data->bytes = bytes;
  value.constant = std::move(data);
  return FoldTranspose(op, value, to)->bytes;
}

}  // namespace

std::shared_ptr<const QuantizedOrigin> MoveOrigin(const Value& from, const Shape& to,
                                                  const MoveBytes& move) {
  if (from.origin == nullptr) return nullptr;
  auto moved = std::make_shared<QuantizedOrigin>(*from.origin);
  if (moved->axis >= 0) {
    const auto indices = move(IndicesAlong(from.shape, moved->axis), sizeof(int32_t));
    moved->axis = FindAxis(indices, to, static_cast<int64_t>(moved->scales.size()));
    if (moved->axis < 0) return nullptr;
  }
  auto data = std::make_shared<ConstantData>();
  data->bytes = move(from.origin->integers->bytes, SizeOf(from.origin->dtype));
  moved->integers = std::move(data);
  return moved;
}

std::shared_ptr<const QuantizedOrigin> OriginAfter(const Op& op, const Value& from,
                                                   const Shape& to) {
  if (std::holds_alternative<Reshape>(op) || std::holds_alternative<Identity>(op)) {
    return MoveOrigin(from, to, [](const auto& bytes, size_t) { return bytes; });
  }
  if (const auto* transpose = std::get_if<Transpose>(&op)) {
    return MoveOrigin(from, to, [&](const auto& bytes, size_t size) {
      return Transposed(bytes, size, from, *transpose, to);
    });
  }
  return nullptr;
}

}  // namespace rshift
