// kBinaryF32: two operands, broadcast.
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "base/integer_pow.h"
#include "base/portable_math.h"
#include "runtime/f32/broadcast.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/row_kernels.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// One row: the strides sa and sb are 0 or 1.
using RowFunction = void (*)(const void* a, int64_t sa, const void* b, int64_t sb, void* out,
                             int64_t count);

// The output may be one of the inputs: each element is read before it is written.
template <typename T, typename R, typename Op>
void Row(const void* a_bytes, int64_t sa, const void* b_bytes, int64_t sb, void* out_bytes,
         int64_t count) {
  const T* a = static_cast<const T*>(a_bytes);
  const T* b = static_cast<const T*>(b_bytes);
  R* out = static_cast<R*>(out_bytes);
  const Op op{};
  // Shapes and masks are short: small code serves them better.
  if constexpr (!std::is_floating_point_v<T>) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(op(a[i * sa], b[i * sb]));
  } else if (sa == 1 && sb == 1) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(op(a[i], b[i]));
  } else if (sa == 1) {
    const T value = *b;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(op(a[i], value));
  } else if (sb == 1) {
    const T value = *a;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(op(value, b[i]));
  } else {
    const R value = static_cast<R>(op(*a, *b));
    for (int64_t i = 0; i < count; ++i) out[i] = value;
  }
}

// Integers wrap around, as ONNX Runtime's do; the unsigned detour makes that defined.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct SquaredDifference {
  template <typename T>
  T operator()(T a, T b) const {
    return Mul{}(Sub{}(a, b), Sub{}(a, b));
  }
};
// Integers: toward zero; by zero gives 0 (a program must not trap), by -1 wraps.
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if (b == -1) return Sub{}(T{0}, a);
    }
    return a / b;
  }
};
// Integers: the sign of the divisor (fmod = 0). Floats: the sign of the dividend (fmod = 1, as ONNX
// demands).
struct Mod {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || b == -1) return 0;
      const T rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      return std::fmod(a, b);
    }
  }
};
struct Pow {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return IntegerPow(a, b);
    } else {
      return b == 2.0f ? a * a : static_cast<float>(portable::Pow(a, b));
    }
  }
};
// NaN wins, as in ONNX Runtime.
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
using Less = std::less<>;
using LessOrEqual = std::less_equal<>;
// a > b is b < a: the operands change places (MakeStep).
using Greater = Less;
using GreaterOrEqual = LessOrEqual;
bool IsTurned(BinaryOp mode) {
  return mode == BinaryOp::kGreater || mode == BinaryOp::kGreaterOrEqual;
}

// Of numbers, and of the truth of bytes.
struct Equal {
  template <typename T>
  bool operator()(T a, T b) const {
    return std::is_same_v<T, uint8_t> ? (a != 0) == (b != 0) : a == b;
  }
};
struct And {
  bool operator()(uint8_t a, uint8_t b) const { return a != 0 && b != 0; }
};
struct Or {
  bool operator()(uint8_t a, uint8_t b) const { return a != 0 || b != 0; }
};
struct Xor {
  bool operator()(uint8_t a, uint8_t b) const { return (a != 0) != (b != 0); }
};

// Null where elements of type T (uint8_t: bool) have no such operator.
template <typename T, BinaryOp kOp, typename Op>
constexpr RowFunction RowOf() {
  constexpr bool kLogic =
      std::is_same_v<Op, And> || std::is_same_v<Op, Or> || std::is_same_v<Op, Xor>;
  constexpr bool kBool = std::is_same_v<T, uint8_t>;
  if constexpr (kLogic != kBool && !(kBool && std::is_same_v<Op, Equal>)) {
    return nullptr;
  } else {
    return Row<T, std::conditional_t<kResultIsBool[static_cast<size_t>(kOp)], uint8_t, T>, Op>;
  }
}

// By BinaryOp.
template <typename T>
constexpr RowFunction kRows[] = {
#define RSHIFT_BINARY(id, name, ...) RowOf<T, BinaryOp::k##name, name>(),
#include "isa/functions.def"
};

RowFunction FindRow(DType type, BinaryOp mode) {
  const auto index = static_cast<size_t>(mode);
  if (type == DType::kF32) return kRows<float>[index];
  if (type == DType::kS32) return kRows<int32_t>[index];
  if (type == DType::kS64) return kRows<int64_t>[index];
  return type == DType::kBool ? kRows<uint8_t>[index] : nullptr;
}

// What has loops for each instruction set; null for others.
PairFunction FindPair(const RowKernels& loops, DType type, BinaryOp mode) {
  if (type != DType::kF32) return nullptr;
  return mode == BinaryOp::kAdd ? loops.add : mode == BinaryOp::kMul ? loops.multiply : nullptr;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BinaryF32& c) {
  RequireType(context, Field::kSrc, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
  const DType type = context.Record(Field::kSrc).dtype;
  const RowFunction row = FindRow(type, c.op);
  RSHIFT_REQUIRE(row != nullptr, ErrorCode::kUnsupported, Where(context), ": mode ",
                 static_cast<int>(c.op), " does not take ", Name(type),
                 ": put a Cast before this node in the model");
  const Field first = IsTurned(c.op) ? Field::kSrc2 : Field::kSrc;
  const Field second = IsTurned(c.op) ? Field::kSrc : Field::kSrc2;
  const BroadcastPlan plan =
      MakeBroadcastPlan(context.Record(Field::kDst).shape,
                        {&context.Record(first).shape, &context.Record(second).shape});
  const Clamp clamp = context.Record(Field::kDst).dtype == DType::kF32 ? c.clamp : Clamp{};
  const PairFunction pair = FindPair(RowKernelsFor(context.isa), type, c.op);
  const int64_t in_size = SizeOf(type);
  const int64_t out_size = SizeOf(context.Record(Field::kDst).dtype);
  const auto* a = context.In<std::byte>(first);
  const auto* b = context.In<std::byte>(second);
  auto* out = context.Out<std::byte>(Field::kDst);
  return StepFrom([=](const Team& team) {
    const int last = plan.rank - 1;
    ForEachRow(plan, ThreadRange(plan.total, kCacheLine, team),
               [&](int64_t at, const auto& offsets, int64_t count) {
                 std::byte* to = out + at * out_size;
                 const std::byte* from_a = a + offsets[0] * in_size;
                 const std::byte* from_b = b + offsets[1] * in_size;
                 const int64_t step_a = plan.strides[0][last], step_b = plan.strides[1][last];
                 if (pair != nullptr) {
                   pair(reinterpret_cast<const float*>(from_a), step_a,
                        reinterpret_cast<const float*>(from_b), step_b,
                        reinterpret_cast<float*>(to), count);
                 } else {
                   row(from_a, step_a, from_b, step_b, to, count);
                 }
                 if (!clamp.active()) return;
                 float* values = reinterpret_cast<float*>(to);
#pragma omp simd
                 for (int64_t i = 0; i < count; ++i) values[i] = Clamped(clamp, values[i]);
               });
  });
}

}  // namespace rshift::f32
