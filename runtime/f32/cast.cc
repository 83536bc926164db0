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

template <typename From, typename To>
std::unique_ptr<Step> MakePair(const StepContext& context) {
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const From* in = context.In<From>(Field::kSrc);
  To* out = context.Out<To>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = Part(total, 64, team);
    for (int64_t i = range.begin; i < range.end; ++i) out[i] = Convert<From, To>(in[i]);
  });
}

template <typename From>
std::unique_ptr<Step> MakeFrom(const StepContext& context) {
  switch (context.Record(Field::kDst).dtype) {
    case DType::kF32:
      return MakePair<From, float>(context);
    case DType::kS8:
      return MakePair<From, int8_t>(context);
    case DType::kU8:
      return MakePair<From, uint8_t>(context);
    case DType::kS32:
      return MakePair<From, int32_t>(context);
    case DType::kS64:
      return MakePair<From, int64_t>(context);
    default:
      return MakePair<From, Bool>(context);
  }
}

}  // namespace

std::unique_ptr<Step> MakeCast(const StepContext& context) {
  for (const Field field : {Field::kDst, Field::kSrc}) {
    RequireType(context, field,
                {DType::kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64, DType::kBool});
  }
  RequireSameShape(context, Field::kDst, Field::kSrc);
  switch (context.Record(Field::kSrc).dtype) {
    case DType::kF32:
      return MakeFrom<float>(context);
    case DType::kS8:
      return MakeFrom<int8_t>(context);
    case DType::kU8:
      return MakeFrom<uint8_t>(context);
    case DType::kS32:
      return MakeFrom<int32_t>(context);
    case DType::kS64:
      return MakeFrom<int64_t>(context);
    default:
      return MakeFrom<Bool>(context);
  }
}

}  // namespace rshift::f32
