#include <algorithm>
#include <cmath>

#include "base/element_type.h"
#include "base/error.h"
#include "base/integer_pow.h"
#include "base/portable_math.h"
#include "graph/fold/fold.h"

namespace rshift {
namespace {

using FloatFunction = float (*)(float, float);
using IntFunction = int64_t (*)(int64_t, int64_t);

// Two's complement wrap-around, as every ONNX runtime does it.
int64_t Wrap(uint64_t v) { return static_cast<int64_t>(v); }

int64_t DivideInts(int64_t a, int64_t b) {
  RSHIFT_REQUIRE(b != 0, ErrorCode::kInvalidInput, "divides the integer constant ", a, " by zero");
  return b == -1 ? Wrap(0 - static_cast<uint64_t>(a)) : a / b;
}

// The sign of the divisor, as in Python.
int64_t ModInts(int64_t a, int64_t b) {
  RSHIFT_REQUIRE(b != 0, ErrorCode::kInvalidInput, "takes the integer constant ", a,
                 " modulo zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t IntegerPow32(int64_t base, int64_t exponent) {
  return IntegerPow(static_cast<int32_t>(base), static_cast<int32_t>(exponent));
}

// One function for each BinaryOp; comparisons give 0 or 1.
namespace floats {
float Add(float a, float b) { return a + b; }
float Sub(float a, float b) { return a - b; }
float Mul(float a, float b) { return a * b; }
float Div(float a, float b) { return a / b; }
float Pow(float a, float b) { return static_cast<float>(portable::Pow(a, b)); }
float Min(float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b); }
float Max(float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); }
float Mod(float a, float b) { return std::fmod(a, b); }
float Equal(float a, float b) { return a == b ? 1.0f : 0.0f; }
float Less(float a, float b) { return a < b ? 1.0f : 0.0f; }
float LessOrEqual(float a, float b) { return a <= b ? 1.0f : 0.0f; }
float Greater(float a, float b) { return a > b ? 1.0f : 0.0f; }
float GreaterOrEqual(float a, float b) { return a >= b ? 1.0f : 0.0f; }
float SquaredDifference(float a, float b) { return (a - b) * (a - b); }
constexpr FloatFunction And = nullptr;  // of bool only
constexpr FloatFunction Or = nullptr;
constexpr FloatFunction Xor = nullptr;
}  // namespace floats

namespace ints {
int64_t Add(int64_t a, int64_t b) {
  return Wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Sub(int64_t a, int64_t b) {
  return Wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Mul(int64_t a, int64_t b) {
  return Wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr IntFunction Div = DivideInts;
constexpr IntFunction Pow = IntegerPow<int64_t>;
int64_t Min(int64_t a, int64_t b) { return std::min(a, b); }
int64_t Max(int64_t a, int64_t b) { return std::max(a, b); }
constexpr IntFunction Mod = ModInts;
int64_t Equal(int64_t a, int64_t b) { return a == b; }
int64_t Less(int64_t a, int64_t b) { return a < b; }
int64_t LessOrEqual(int64_t a, int64_t b) { return a <= b; }
int64_t Greater(int64_t a, int64_t b) { return a > b; }
int64_t GreaterOrEqual(int64_t a, int64_t b) { return a >= b; }
int64_t And(int64_t a, int64_t b) { return a != 0 && b != 0; }
int64_t Or(int64_t a, int64_t b) { return a != 0 || b != 0; }
int64_t Xor(int64_t a, int64_t b) { return (a != 0) != (b != 0); }
int64_t SquaredDifference(int64_t a, int64_t b) { return Mul(Sub(a, b), Sub(a, b)); }
}  // namespace ints

constexpr FloatFunction kFloatFunctions[] = {
#define RSHIFT_BINARY(id, name, ...) floats::name,
#include "isa/functions.def"
};
constexpr IntFunction kIntFunctions[] = {
#define RSHIFT_BINARY(id, name, ...) ints::name,
#include "isa/functions.def"
};

std::array<Shape, 2> Pair(const Value& a, const Value& b, const Shape& out) {
  return {BroadcastStrides(a.shape, out), BroadcastStrides(b.shape, out)};
}

template <typename T>
void Select(const Value& condition, const Value& a, const Value& b, const Shape& out,
            std::vector<uint8_t>& bytes) {
  const auto c = condition.constant->As<uint8_t>();
  const auto x = a.constant->As<T>(), y = b.constant->As<T>();
  T* result = reinterpret_cast<T*>(bytes.data());
  std::array<Shape, 3> strides{BroadcastStrides(condition.shape, out),
                               BroadcastStrides(a.shape, out), BroadcastStrides(b.shape, out)};
  WalkStrided(out, strides, [&](int64_t i, const std::array<int64_t, 3>& at) {
    result[i] = c[at[0]] ? x[at[1]] : y[at[2]];
  });
}

}  // namespace

FoldResult FoldBinary(BinaryOp op, const Value& a, const Value& b, const Shape& out) {
  const auto index = static_cast<size_t>(op);
  const bool compare = kResultIsBool[index];
  const auto strides = Pair(a, b, out);
  const int64_t count = NumElements(out);
  if (a.dtype != DType::kF32) {
    const auto x = LoadInts(a), y = LoadInts(b);
    // The only function whose result overflow makes another than the low bits of the exact one.
    const IntFunction function =
        op == BinaryOp::kPow && a.dtype == DType::kS32 ? IntegerPow32 : kIntFunctions[index];
    std::vector<int64_t> result(count);
    WalkStrided(out, strides, [&](int64_t i, const std::array<int64_t, 2>& at) {
      result[i] = function(x[at[0]], y[at[1]]);
    });
    return StoreInts(result, compare ? DType::kBool : a.dtype);
  }
  if (kFloatFunctions[index] == nullptr) return nullptr;
  const auto x = a.constant->As<float>(), y = b.constant->As<float>();
  std::vector<float> result(count);
  WalkStrided(out, strides, [&](int64_t i, const std::array<int64_t, 2>& at) {
    result[i] = kFloatFunctions[index](x[at[0]], y[at[1]]);
  });
  if (!compare) return MakeConstant<float>(result);
  return StoreInts({result.begin(), result.end()}, DType::kBool);
}

FoldResult FoldWhere(const Value& condition, const Value& a, const Value& b, const Shape& out) {
  auto data = std::make_shared<ConstantData>();
  data->bytes.resize(NumElements(out) * SizeOf(a.dtype));
  VisitElementBits(a.dtype, [&](auto type) {
    Select<ElementOf<decltype(type)>>(condition, a, b, out, data->bytes);
  });
  return data;
}

FoldResult FoldPRelu(const Value& x, const Value& slope) {
  if (x.dtype != DType::kF32) return nullptr;
  const auto in = x.constant->As<float>(), factor = slope.constant->As<float>();
  std::vector<float> result(in.size());
  WalkStrided(x.shape, Pair(x, slope, x.shape), [&](int64_t i, const std::array<int64_t, 2>& at) {
    result[i] = in[i] >= 0.0f ? in[i] : factor[at[1]] * in[i];
  });
  return MakeConstant<float>(result);
}

}  // namespace rshift
