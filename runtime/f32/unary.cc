// kUnaryF32: functions of one element. Formulas: isa/functions.def.
#include <cmath>

#include "isa/unary_functions.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct Coefficients {
  float alpha = 0.0f, beta = 0.0f;
};

using SpanFunction = void (*)(const void* in, void* out, int64_t count, const Coefficients& k);

// The output may be the input.
template <typename T, auto kFunction>
void MapElements(const void* in_bytes, void* out_bytes, int64_t count, const Coefficients& k) {
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
#define RSHIFT_UNARY(id, name, ...)                                       \
  MapElements<float, [](float x, const Coefficients& k) {                 \
    return UnaryFunctions<PortableMath<float>>::name(x, k.alpha, k.beta); \
  }>,
#include "isa/functions.def"
};

// Integers wrap around: |min| is min.
template <typename T>
SpanFunction IntegerFunction(UnaryOp mode) {
  switch (mode) {
    case UnaryOp::kAbs:
      return MapElements<T, [](T x, const Coefficients&) {
        return x < 0 ? static_cast<T>(~x + 1ull) : x;
      }>;
    case UnaryOp::kNeg:
      return MapElements<T, [](T x, const Coefficients&) { return static_cast<T>(~x + 1ull); }>;
    case UnaryOp::kSign:
      return MapElements<T, [](T x, const Coefficients&) { return Sign(x); }>;
    default:  // of floats alone: MakeStep refuses it
      return nullptr;
  }
}

SpanFunction FindFunction(DType type, UnaryOp mode) {
  if (type == DType::kF32 && mode != UnaryOp::kNot) return kFloatFunctions[static_cast<int>(mode)];
  if (type == DType::kS32) return IntegerFunction<int32_t>(mode);
  if (type == DType::kS64) return IntegerFunction<int64_t>(mode);
  if (type != DType::kBool || mode != UnaryOp::kNot) return nullptr;
  return MapElements<uint8_t,
                     [](uint8_t x, const Coefficients&) { return static_cast<uint8_t>(x == 0); }>;
}

// A function that has loops for registers of eight floats; null for others. Elu's factor is beta.
ElementFunction FindElementFunction(const RowKernels& loops, UnaryOp mode, Coefficients* k) {
  if (mode == UnaryOp::kElu) k->beta = 1.0f;
  switch (mode) {
    case UnaryOp::kSigmoid:
      return loops.sigmoid;
    case UnaryOp::kTanh:
      return loops.tanh;
    case UnaryOp::kSilu:
      return loops.silu;
    case UnaryOp::kMish:
      return loops.mish;
    case UnaryOp::kErf:
      return loops.erf;
    case UnaryOp::kGelu:
      return loops.gelu;
    case UnaryOp::kGeluTanh:
      return loops.gelu_tanh;
    case UnaryOp::kElu:
    case UnaryOp::kSelu:
      return loops.elu;
    case UnaryOp::kHardSigmoid:
      return loops.hard_sigmoid;
    case UnaryOp::kHardSwish:
      return loops.hard_swish;
    default:
      return nullptr;
  }
}

std::unique_ptr<Step> MakeElementStep(const StepContext& context, ElementFunction function,
                                      const Coefficients& k) {
  const int64_t total = NumElements(context.Record(Field::kDst).shape);
  const float* in = context.In<float>(Field::kSrc);
  float* out = context.Out<float>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(total, kCacheLine, team);
    function(in + range.begin, out + range.begin, range.end - range.begin, k.alpha, k.beta);
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::UnaryF32& c) {
  RequireType(context, Field::kSrc, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  const DType type = context.Record(Field::kSrc).dtype;
  const SpanFunction function = FindFunction(type, c.op);
  RSHIFT_REQUIRE(function != nullptr, ErrorCode::kUnsupported, Where(context), ": mode ",
                 static_cast<int>(c.op), " does not take ", Name(type),
                 ": put a Cast before this node in the model");
  Coefficients k{c.alpha, c.beta};
  if (type == DType::kF32) {
    const ElementFunction fast = FindElementFunction(RowKernelsFor(context.isa), c.op, &k);
    if (fast != nullptr) return MakeElementStep(context, fast, k);
  }
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
