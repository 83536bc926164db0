#include "tests/runtime/rounding_oracle.h"

#include <bit>
#include <cmath>

namespace rshift::testing {
namespace {

float AsFloat(int32_t word) { return std::bit_cast<float>(word); }

double AsDouble(const Words& words) {
  return std::bit_cast<double>(static_cast<uint64_t>(static_cast<uint32_t>(words.multiplier))
                                   << 32 |
                               static_cast<uint32_t>(words.rshift));
}

// gemmlowp's definition: a nudge by the sign of the product, then a division that truncates.
int32_t DoublingHigh(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t product = int64_t{a} * b;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t DivideByPower(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t rest = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> exponent) + (rest > threshold ? 1 : 0));
}

int32_t FirstStep(int32_t acc, const Words& words) {
  const int left = words.rshift < 31 ? 31 - words.rshift : 0;
  return DoublingHigh(static_cast<int32_t>(static_cast<uint32_t>(acc) << left), words.multiplier);
}

int64_t AwayFromZero(int64_t acc, const Words& words) {
  const int64_t magnitude = ShiftedProduct(std::abs(acc), words.multiplier, words.rshift);
  return acc < 0 ? -magnitude : magnitude;
}

}  // namespace

bool IsInteger(Rounding rounding) {
  return rounding == Rounding::kHalfUp || rounding == Rounding::kTwoStep ||
         rounding == Rounding::kHalfAway || rounding == Rounding::kTwoStepUp;
}

Words RandomWords(Random& random, Rounding rounding, int exponent, bool bias_f) {
  const bool tie = random.Int(0, 2) == 0;
  if (IsInteger(rounding)) {
    const int64_t m = tie ? int64_t{1} << 30 : random.Int(int64_t{1} << 30, INT32_MAX);
    return {static_cast<int32_t>(m), 31 + exponent};
  }
  const double mantissa = tie ? 1.0 : 1.0 + static_cast<double>(random.Float(0.0f, 0.9999f));
  const double scale = std::ldexp(mantissa, -exponent - 1);
  if (rounding == Rounding::kDoubleAway) {
    const auto bits = std::bit_cast<uint64_t>(scale);
    return {static_cast<int32_t>(bits >> 32), static_cast<int32_t>(bits)};
  }
  const float bias = static_cast<float>(random.Int(-80000, 80000)) / 8;
  return {std::bit_cast<int32_t>(static_cast<float>(scale)),
          bias_f ? std::bit_cast<int32_t>(bias) : 0};
}

int64_t ScaledInteger(Rounding rounding, int32_t acc, const Words& words) {
  const int right = words.rshift > 31 ? words.rshift - 31 : 0;
  switch (rounding) {
    case Rounding::kTwoStep:
      return DivideByPower(FirstStep(acc, words), right);
    case Rounding::kTwoStepUp:
      return ShiftedProduct(FirstStep(acc, words), 1, right);
    case Rounding::kHalfAway:
      return AwayFromZero(acc, words);
    case Rounding::kDoubleAway: {
      const double product = static_cast<double>(acc) * AsDouble(words);
      return static_cast<int64_t>(std::fmin(std::fmax(std::round(product), -1e12), 1e12));
    }
    default:
      return ShiftedProduct(acc, words.multiplier, words.rshift);
  }
}

float ScaledFloat(Rounding rounding, int32_t acc, const Words& words) {
  auto f = static_cast<float>(acc);
  if (rounding != Rounding::kFloatEven) f = f + AsFloat(words.rshift);
  return f * AsFloat(words.multiplier);
}

float PostOperation(const OraclePostOp& op, float f, int32_t old, size_t channel) {
  const double wide = f;
  switch (op.kind) {
    case 0:
      return std::fma(op.scale, static_cast<float>(old), f);
    case 1:
      f = f > 0 ? f : op.alpha * f;
      break;
    case 2:
      f = static_cast<float>(std::tanh(wide));
      break;
    case 3:
      f = std::fma(op.alpha, f, op.beta);
      break;
    case 4:
      if (!std::isnan(f)) f = std::fmin(std::fmax(f, op.alpha), op.beta);
      break;
    case 5:
      f = static_cast<float>(1 / (1 + std::exp(-wide)));
      break;
    case 6:
      f = f > 0 ? f : op.alpha * static_cast<float>(std::expm1(wide));
      break;
    case 7:
      f = std::fabs(f);
      break;
    case 8:
      f = std::sqrt(f);
      break;
    case 9:
      f = f * f;
      break;
    case 10:
      f *= static_cast<float>(1 / (1 + std::exp(-static_cast<double>(op.alpha * f))));
      break;
    case 11:
      f *= std::fmin(std::fmax(op.alpha * f + op.beta, 0.0f), 1.0f);
      break;
    case 12:
      f = std::fma(op.alphas[channel], f, op.betas[channel]);
      break;
    case 13:
      f = f > 0 ? f : op.alphas[channel] * f;
      break;
    default:
      if (std::fabs(f) < 4194304.0f) f = std::nearbyintf(f);
      break;
  }
  return op.scale * f;
}

float ToHalf(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), -14);
  const double unit = std::ldexp(1.0, exponent - 10);
  const double rounded = std::nearbyint(static_cast<double>(value) / unit) * unit;
  if (std::fabs(rounded) > 65504.0) return std::copysign(INFINITY, value);
  return static_cast<float>(rounded);
}

float HalfChain(int32_t acc, const Words& words, const OracleEpilogue& epilogue) {
  float v = static_cast<float>(acc) * AsFloat(words.multiplier);
  if (epilogue.sqrt_dequant) v = v * AsFloat(words.multiplier);
  float h = ToHalf(ToHalf(v) + AsFloat(words.rshift));
  if (epilogue.relu) h = std::fmax(h, 0.0f);
  v = h * epilogue.scale;
  if (epilogue.sqrt_quant) v = v * epilogue.scale;
  return v + epilogue.offset;
}

double RoundByLibrary(double value, RealRounding rounding) {
  switch (rounding) {
    case RealRounding::kEven:
      return std::nearbyint(value);
    case RealRounding::kAway:
      return std::round(value);
    case RealRounding::kFloor:
      return std::floor(value);
    case RealRounding::kCeil:
      return std::ceil(value);
    default:
      return std::trunc(value);
  }
}

int32_t ToByte(double value, RealRounding rounding, int32_t zero, int32_t lo, int32_t hi) {
  if (std::isnan(value)) return Saturate(zero, lo, hi);
  const double rounded = RoundByLibrary(value, rounding) + zero;
  return static_cast<int32_t>(std::fmin(std::fmax(rounded, lo), hi));
}

int32_t Requantized(Rounding rounding, int32_t acc, const Words& words, int32_t zero, int32_t lo,
                    int32_t hi) {
  if (rounding == Rounding::kFloatEven)
    return ToByte(ScaledFloat(rounding, acc, words), RealRounding::kEven, zero, lo, hi);
  if (rounding == Rounding::kFloatZeroEven) {
    const float f = ScaledFloat(rounding, acc, words) + static_cast<float>(zero);
    return ToByte(f, RealRounding::kEven, 0, lo, hi);
  }
  return Saturate(ScaledInteger(rounding, acc, words) + zero, lo, hi);
}

}  // namespace rshift::testing
