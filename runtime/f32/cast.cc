// kCast between f32, s8, u8, s16, u16, s32, s64 and bool, and between f32 and f16.
//
// f32 to f16 rounds to the nearest, ties to even, and overflows to an infinity.
//
// Float to integer cuts toward zero and saturates at the s64 range (NaN: 0); to a narrower integer
// the high bits are then dropped, as from one integer to another. ONNX leaves values out of range
// open; this is one fixed choice.
#include <cmath>
#include <type_traits>

#include "base/element_type.h"
#include "base/half.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// Types that commands take, as they lie in memory; void for all others.
struct Bool {
  uint8_t value;
};
template <typename T>
using Stored = std::conditional_t<
    std::is_same_v<T, bool>, Bool,
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, int8_t> ||
                           std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
                           std::is_same_v<T, uint16_t> || std::is_same_v<T, int32_t> ||
                           std::is_same_v<T, int64_t>,
                       T, void>>;

// Signed and unsigned results of a size have the same bits: one function makes both.
template <typename T>
using Written = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                            std::type_identity<T>>::type;

int64_t ToS64(float x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0f) return INT64_MAX;
  if (x < -9223372036854775808.0f) return INT64_MIN;
  return static_cast<int64_t>(x);
}

template <typename From, typename To>
To Convert(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return Convert<uint8_t, To>(x.value != 0 ? 1 : 0);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(x != 0 ? 1 : 0)};
  } else if constexpr (std::is_same_v<From, float> && !std::is_same_v<To, float>) {
    return static_cast<To>(ToS64(x));
  } else {
    return static_cast<To>(x);
  }
}

// Elements [begin, end).
using CastFunction = void (*)(const void* in, void* out, int64_t begin, int64_t end);

template <typename From, typename To>
void Cast(const void* in, void* out, int64_t begin, int64_t end) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  for (int64_t i = begin; i < end; ++i) to[i] = Convert<From, To>(from[i]);
}

void ToHalf(const void* in, void* out, int64_t begin, int64_t end) {
  const float* from = static_cast<const float*>(in);
  auto* to = static_cast<uint16_t*>(out);
  for (int64_t i = begin; i < end; ++i) to[i] = FloatToHalf(from[i]);
}

void FromHalf(const void* in, void* out, int64_t begin, int64_t end) {
  const auto* from = static_cast<const uint16_t*>(in);
  auto* to = static_cast<float*>(out);
  for (int64_t i = begin; i < end; ++i) to[i] = HalfToFloat(from[i]);
}

// Null for types that RequireType has refused.
CastFunction Find(DType from, DType to) {
  if (to == DType::kF16) return ToHalf;
  if (from == DType::kF16) return FromHalf;
  return VisitElement(from, [&](auto from_type) {
    return VisitElement(to, [&](auto to_type) -> CastFunction {
      using From = Stored<ElementOf<decltype(from_type)>>;
      using To = Written<Stored<ElementOf<decltype(to_type)>>>;
      if constexpr (std::is_void_v<From> || std::is_void_v<To>) {
        return nullptr;
      } else {
        return Cast<From, To>;
      }
    });
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Cast&) {
  const DType from = context.Record(Field::kSrc).dtype, to = context.Record(Field::kDst).dtype;
  for (const Field field : {Field::kDst, Field::kSrc}) {
    if (from == DType::kF16 || to == DType::kF16) {
      RequireType(context, field, {DType::kF32, DType::kF16});
      continue;
    }
    RequireType(context, field,
                {DType::kF32, DType::kS8, DType::kU8, DType::kS16, DType::kU16, DType::kS32,
                 DType::kS64, DType::kBool});
  }
  const TensorRecord& dst = context.Record(Field::kDst);
  const CastFunction cast = Find(from, to);
  const int64_t total = NumElements(dst.shape);
  const void* in = context.In(Field::kSrc);
  void* out = context.Out(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    cast(in, out, range.begin, range.end);
  });
}

}  // namespace rshift::f32
