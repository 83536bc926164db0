#include "runtime/tensor_values.h"

#include <cstring>

#include "base/element_type.h"
#include "base/error.h"
#include "base/half.h"

namespace rshift {
namespace {

template <typename T>
std::vector<float> Convert(std::span<const uint8_t> bytes) {
  std::vector<float> out(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(element);
  }
  return out;
}

std::vector<float> ConvertHalf(std::span<const uint8_t> bytes) {
  std::vector<float> out(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t element = 0;
    std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
    out[i] = HalfToFloat(element);
  }
  return out;
}

std::vector<float> ConvertAny(DType dtype, std::span<const uint8_t> bytes) {
  if (dtype == DType::kF16) return ConvertHalf(bytes);
  return VisitElement(
      dtype == DType::kBool ? DType::kU8 : dtype, [&](auto type) -> std::vector<float> {
        using T = ElementOf<decltype(type)>;
        if constexpr (std::is_void_v<T>) {
          Fail(ErrorCode::kUnsupported, "tensor type ", Name(dtype), " cannot be shown as numbers");
        } else {
          return Convert<T>(bytes);
        }
      });
}

// From NHWC to NCHW, elements of the size of T.
template <typename T>
void ToNchw(const TensorRecord& record, std::span<const std::byte> memory,
            std::vector<uint8_t>& out) {
  const size_t pitch = record.row_pitch();
  const auto batch = static_cast<size_t>(record.shape[0]);
  const auto channels = static_cast<size_t>(record.shape[3]);
  const auto pixels = static_cast<size_t>(record.shape[1] * record.shape[2]);
  uint8_t* to = out.data();
  for (size_t n = 0; n < batch; ++n) {
    for (size_t c = 0; c < channels; ++c) {
      const std::byte* from = memory.data() + n * pixels * pitch + c * sizeof(T);
      for (size_t p = 0; p < pixels; ++p, from += pitch, to += sizeof(T)) {
        std::memcpy(to, from, sizeof(T));  // a constant size: one load and one store
      }
    }
  }
}

}  // namespace

Shape OnnxShape(const TensorRecord& record) {
  const Shape& s = record.shape;
  return record.layout == Layout::kNhwc ? Shape{s[0], s[3], s[1], s[2]} : s;
}

std::vector<uint8_t> OnnxBytes(const TensorRecord& record, std::span<const std::byte> memory) {
  std::vector<uint8_t> out(record.bytes());
  if (out.empty()) return out;
  const size_t row = record.row_bytes(), pitch = record.row_pitch();
  if (record.layout != Layout::kNhwc && record.pitch == 0) {
    std::memcpy(out.data(), memory.data(), out.size());
    return out;
  }
  if (record.layout != Layout::kNhwc) {
    for (size_t r = 0; r < record.rows(); ++r) {
      std::memcpy(out.data() + r * row, memory.data() + r * pitch, row);
    }
    return out;
  }
  VisitElementBits(record.dtype,
                   [&](auto type) { ToNchw<ElementOf<decltype(type)>>(record, memory, out); });
  return out;
}

std::vector<float> OnnxFloats(const TensorRecord& record, std::span<const std::byte> memory) {
  std::vector<float> out = ConvertAny(record.dtype, OnnxBytes(record, memory));
  if (record.quantized) {
    for (float& x : out) x = record.scale * (x - static_cast<float>(record.zero_point));
  }
  return out;
}

}  // namespace rshift
