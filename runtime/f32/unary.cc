// kUnaryF32: functions of one element. Formulas: the ONNX operator of the same name.
#include <cmath>

#include "runtime/f32/makers.h"
#include "runtime/f32/modes.h"
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

float Sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
// log(1 + exp(x)) without overflow.
float Softplus(float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
float Gelu(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f)); }
float GeluTanh(float x) {
  constexpr float kScale = 0.79788456080286536f;  // sqrt(2 / pi)
  return 0.5f * x * (1.0f + std::tanh(kScale * (x + 0.044715f * x * x * x)));
}
float Unit(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }
float Celu(float x, float alpha) { return x > 0 ? x : alpha * std::expm1(x / alpha); }

template <typename T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}

#define RSHIFT_UNARY(expression) \
  Span<float, [](float x, [[maybe_unused]] const Coefficients& k) { return (expression); }>

// By UnaryMode.
constexpr SpanFunction kFloatFunctions[] = {
    RSHIFT_UNARY(Sigmoid(x)),
    RSHIFT_UNARY(std::tanh(x)),
    RSHIFT_UNARY(Unit(k.alpha* x + k.beta)),
    RSHIFT_UNARY(x* Unit(x*(1.0f / 6.0f) + 0.5f)),
    RSHIFT_UNARY(x > 0 ? x : k.alpha * std::expm1(x)),
    RSHIFT_UNARY(k.beta*(x > 0 ? x : k.alpha * std::expm1(x))),
    RSHIFT_UNARY(Softplus(x)),
    RSHIFT_UNARY(x / (1.0f + std::fabs(x))),
    RSHIFT_UNARY(std::exp(x)),
    RSHIFT_UNARY(std::log(x)),
    RSHIFT_UNARY(std::sqrt(x)),
    RSHIFT_UNARY(1.0f / x),
    RSHIFT_UNARY(std::fabs(x)),
    RSHIFT_UNARY(-x),
    RSHIFT_UNARY(std::floor(x)),
    RSHIFT_UNARY(std::ceil(x)),
    RSHIFT_UNARY(std::nearbyint(x)),  // half to even: the default rounding mode
    RSHIFT_UNARY(std::erf(x)),
    RSHIFT_UNARY(Gelu(x)),
    RSHIFT_UNARY(GeluTanh(x)),
    RSHIFT_UNARY(x* std::tanh(Softplus(x))),
    RSHIFT_UNARY(x* Sigmoid(x)),
    RSHIFT_UNARY(std::sin(x)),
    RSHIFT_UNARY(std::cos(x)),
    RSHIFT_UNARY(Sign(x)),
    nullptr,  // kNot: bool only
    RSHIFT_UNARY(x > k.alpha ? x : 0.0f),
    RSHIFT_UNARY(Celu(x, k.alpha)),
    RSHIFT_UNARY(std::tan(x)),
    RSHIFT_UNARY(std::asin(x)),
    RSHIFT_UNARY(std::acos(x)),
    RSHIFT_UNARY(std::atan(x)),
    RSHIFT_UNARY(std::sinh(x)),
    RSHIFT_UNARY(std::cosh(x)),
    RSHIFT_UNARY(std::asinh(x)),
    RSHIFT_UNARY(std::acosh(x)),
    RSHIFT_UNARY(std::atanh(x)),
    RSHIFT_UNARY(x* x),
};
#undef RSHIFT_UNARY
static_assert(std::size(kFloatFunctions) == kUnaryModeCount);

// Integers wrap around: |min| is min.
template <typename T>
SpanFunction IntegerFunction(UnaryMode mode) {
  switch (mode) {
    case UnaryMode::kAbs:
      return Span<T,
                  [](T x, const Coefficients&) { return x < 0 ? static_cast<T>(~x + 1ull) : x; }>;
    case UnaryMode::kNeg:
      return Span<T, [](T x, const Coefficients&) { return static_cast<T>(~x + 1ull); }>;
    case UnaryMode::kSign:
      return Span<T, [](T x, const Coefficients&) { return Sign(x); }>;
    default:
      return nullptr;
  }
}

SpanFunction FindFunction(DType type, UnaryMode mode) {
  if (type == DType::kF32) return kFloatFunctions[static_cast<int>(mode)];
  if (type == DType::kS32) return IntegerFunction<int32_t>(mode);
  if (type == DType::kS64) return IntegerFunction<int64_t>(mode);
  if (mode != UnaryMode::kNot) return nullptr;
  return Span<uint8_t, [](uint8_t x, const Coefficients&) { return static_cast<uint8_t>(x == 0); }>;
}

}  // namespace

std::unique_ptr<Step> MakeUnary(const StepContext& context) {
  const auto mode = static_cast<UnaryMode>(RequireMode(context, Field::kMode, kUnaryModeCount));
  RequireType(context, Field::kSrc, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  const DType type = context.Record(Field::kSrc).dtype;
  RequireType(context, Field::kDst, {type});
  RequireSameShape(context, Field::kDst, Field::kSrc);
  const SpanFunction function = FindFunction(type, mode);
  RSHIFT_REQUIRE(function != nullptr, ErrorCode::kUnsupported, Where(context), ": mode ",
                 static_cast<int>(mode), " does not take ", Name(type),
                 ": put a Cast before this node in the model");
  const Coefficients k{context.command->GetFloat(Field::kAlphaF),
                       context.command->GetFloat(Field::kBetaF)};
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const int64_t size = SizeOf(type);
  const auto* in = context.In<std::byte>(Field::kSrc);
  auto* out = context.Out<std::byte>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, 64, team);
    function(in + range.begin * size, out + range.begin * size, range.end - range.begin, k);
  });
}

}  // namespace rshift::f32
