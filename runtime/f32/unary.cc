// kUnaryF32: functions of one element. Formulas: isa/functions.def.
#include <cmath>

#include "isa/unary_functions.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct Coefficients {
  float alpha = 0.0f, beta = 0.0f;
};

using SpanFunction = void (*)(const void* in, void* out, int64_t count, const Coefficients& k);

// The output may be the input.
template <typename T, auto kFunction>
void Span(const void* in_bytes, void* out_bytes, int64_t count, const Coefficients& k) {
  const T* in = static_cast<const T*>(in_bytes);
  T* out = static_cast<T*>(out_bytes);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = kFunction(in[i], k);
}

template <typename T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}

// By UnaryOp.
constexpr SpanFunction kFloatFunctions[] = {
#define RSHIFT_UNARY(id, name, ...)                             \
  Span<float, [](float x, const Coefficients& k) {              \
    return UnaryFunctions<FloatMath>::name(x, k.alpha, k.beta); \
  }>,
#include "isa/functions.def"
};

// Integers wrap around: |min| is min.
template <typename T>
SpanFunction IntegerFunction(UnaryOp mode) {
  switch (mode) {
    case UnaryOp::kAbs:
      return Span<T,
                  [](T x, const Coefficients&) { return x < 0 ? static_cast<T>(~x + 1ull) : x; }>;
    case UnaryOp::kNeg:
      return Span<T, [](T x, const Coefficients&) { return static_cast<T>(~x + 1ull); }>;
    case UnaryOp::kSign:
      return Span<T, [](T x, const Coefficients&) { return Sign(x); }>;
    default:  // of floats alone: MakeStep refuses it
      return nullptr;
  }
}

SpanFunction FindFunction(DType type, UnaryOp mode) {
  if (type == DType::kF32 && mode != UnaryOp::kNot) return kFloatFunctions[static_cast<int>(mode)];
  if (type == DType::kS32) return IntegerFunction<int32_t>(mode);
  if (type == DType::kS64) return IntegerFunction<int64_t>(mode);
  if (type != DType::kBool || mode != UnaryOp::kNot) return nullptr;
  return Span<uint8_t, [](uint8_t x, const Coefficients&) { return static_cast<uint8_t>(x == 0); }>;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::UnaryF32& c) {
  RequireType(context, Field::kSrc, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  const DType type = context.Record(Field::kSrc).dtype;
  const SpanFunction function = FindFunction(type, c.op);
  RSHIFT_REQUIRE(function != nullptr, ErrorCode::kUnsupported, Where(context), ": mode ",
                 static_cast<int>(c.op), " does not take ", Name(type),
                 ": put a Cast before this node in the model");
  const Coefficients k{c.alpha, c.beta};
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const int64_t size = SizeOf(type);
  const auto* in = context.In<std::byte>(Field::kSrc);
  auto* out = context.Out<std::byte>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    function(in + range.begin * size, out + range.begin * size, range.end - range.begin, k);
  });
}

}  // namespace rshift::f32
