#include "graph/fold/origin.h"

#include <algorithm>
#include <cmath>
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
  value.dtype = size == 1   ? DType::kU8
                : size == 2 ? DType::kS16
                : size == 4 ? DType::kS32
                            : DType::kS64;
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

namespace {

// The integers of channel c with the other sign; false where s8 has none of them.
bool Negate(const Shape& shape, int64_t axis, int64_t c, std::vector<uint8_t>& bytes) {
  const int64_t behind = Strides(shape)[axis];
  for (int64_t i = 0, count = NumElements(shape); i < count; ++i) {
    if (i / behind % shape[axis] != c) continue;
    const auto q = static_cast<int8_t>(bytes[i]);
    if (q == -128) return false;
    bytes[i] = static_cast<uint8_t>(-q);
  }
  return true;
}

}  // namespace

std::shared_ptr<const QuantizedOrigin> ScaleOrigin(const Value& from, int64_t axis,
                                                   std::span<const double> factors) {
  if (from.origin == nullptr || SizeOf(from.origin->dtype) != 1) return nullptr;
  auto scaled = std::make_shared<QuantizedOrigin>(*from.origin);
  if (scaled->axis >= 0 && scaled->axis != axis) return nullptr;
  if (scaled->axis < 0) {
    scaled->scales.assign(factors.size(), scaled->scales[0]);
    scaled->zero_points.assign(factors.size(), scaled->zero_points[0]);
    scaled->axis = axis;
  }
  auto integers = std::make_shared<ConstantData>(*scaled->integers);
  for (size_t c = 0; c < factors.size(); ++c) {
    const auto scale = static_cast<float>(std::fabs(factors[c]) * scaled->scales[c]);
    if (!(scale > 0) || !std::isfinite(scale)) return nullptr;
    scaled->scales[c] = scale;
    if (factors[c] > 0) continue;
    if (scaled->dtype != DType::kS8 || scaled->zero_points[c] == -128) return nullptr;
    if (!Negate(from.shape, axis, static_cast<int64_t>(c), integers->bytes)) return nullptr;
    scaled->zero_points[c] = -scaled->zero_points[c];
  }
  const auto fits = [](uint8_t byte) { return static_cast<int8_t>(byte) < 8; };  // -(-8) does not
  if (scaled->bits == 4 && scaled->dtype == DType::kS8 &&
      !std::all_of(integers->bytes.begin(), integers->bytes.end(), fits))
    scaled->bits = 8;
  scaled->integers = std::move(integers);
  return scaled;
}

std::shared_ptr<const ConstantData> RealsOf(const QuantizedOrigin& origin, const Shape& shape) {
  const int64_t behind = origin.axis < 0 ? 1 : Strides(shape)[origin.axis];
  std::vector<float> reals;
  for (int64_t i = 0, count = NumElements(shape); i < count; ++i) {
    const int64_t c = origin.axis < 0 ? 0 : i / behind % shape[origin.axis];
    const uint8_t byte = origin.integers->bytes[i];
    const int32_t q = origin.dtype == DType::kS8 ? static_cast<int8_t>(byte) : byte;
    reals.push_back(static_cast<float>(q - origin.zero_points[c]) * origin.scales[c]);
  }
  return MakeConstant(std::span<const float>(reals));
}

}  // namespace rshift
