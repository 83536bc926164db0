// kCast between f32, s8, u8, s32, s64 and bool.
//
// Float to integer cuts toward zero and saturates at the s64 range (NaN: 0); to a narrower integer
// the high bits are then dropped, as from one integer to another. ONNX leaves values out of range
// open; this is one fixed choice.
#include <cmath>
#include <type_traits>

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct Bool {
  uint8_t value;
};

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

template <typename From>
CastFunction FindTo(DType to) {
  switch (to) {
    case DType::kF32:
      return Cast<From, float>;
    case DType::kS8:
      return Cast<From, int8_t>;
    case DType::kU8:
      return Cast<From, uint8_t>;
    case DType::kS32:
      return Cast<From, int32_t>;
    case DType::kS64:
      return Cast<From, int64_t>;
    case DType::kBool:
      return Cast<From, Bool>;
    default:
      return nullptr;  // not reached: RequireType
  }
}

CastFunction Find(DType from, DType to) {
  switch (from) {
    case DType::kF32:
      return FindTo<float>(to);
    case DType::kS8:
      return FindTo<int8_t>(to);
    case DType::kU8:
      return FindTo<uint8_t>(to);
    case DType::kS32:
      return FindTo<int32_t>(to);
    case DType::kS64:
      return FindTo<int64_t>(to);
    case DType::kBool:
      return FindTo<Bool>(to);
    default:
      return nullptr;  // not reached: RequireType
  }
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Cast&) {
  for (const Field field : {Field::kDst, Field::kSrc}) {
    RequireType(context, field,
                {DType::kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64, DType::kBool});
  }
  const TensorRecord& dst = context.Record(Field::kDst);
  const CastFunction cast = Find(context.Record(Field::kSrc).dtype, dst.dtype);
  const int64_t total = NumElements(dst.shape);
  const void* in = context.In(Field::kSrc);
  void* out = context.Out(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    cast(in, out, range.begin, range.end);
  });
}

}  // namespace rshift::f32
