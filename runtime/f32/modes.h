// The numbering of modes in F32 commands. The same numbers as the operators of graph/ops/*.h, which
// the runtime may not include; tests/runtime/f32/modes_test.cc asserts that both agree. Part of the
// file format: append only.
#ifndef RSHIFT_RUNTIME_F32_MODES_H_
#define RSHIFT_RUNTIME_F32_MODES_H_

#include <cstdint>

namespace rshift::f32 {

// From kEqual on the result is bool.
enum class BinaryMode : uint8_t {
  kAdd = 0,
  kSub = 1,
  kMul = 2,
  kDiv = 3,
  kPow = 4,
  kMin = 5,
  kMax = 6,
  kMod = 7,
  kEqual = 8,
  kLess = 9,
  kLessOrEqual = 10,
  kGreater = 11,
  kGreaterOrEqual = 12,
  kAnd = 13,
  kOr = 14,
  kXor = 15,
};
inline constexpr int kBinaryModeCount = 16;

enum class UnaryMode : uint8_t {
  kSigmoid = 0,
  kTanh = 1,
  kHardSigmoid = 2,
  kHardSwish = 3,
  kElu = 4,
  kSelu = 5,
  kSoftplus = 6,
  kSoftsign = 7,
  kExp = 8,
  kLog = 9,
  kSqrt = 10,
  kReciprocal = 11,
  kAbs = 12,
  kNeg = 13,
  kFloor = 14,
  kCeil = 15,
  kRound = 16,
  kErf = 17,
  kGelu = 18,
  kGeluTanh = 19,
  kMish = 20,
  kSilu = 21,
  kSin = 22,
  kCos = 23,
  kSign = 24,
  kNot = 25,
  kThresholdedRelu = 26,
  kCelu = 27,
  kTan = 28,
  kAsin = 29,
  kAcos = 30,
  kAtan = 31,
  kSinh = 32,
  kCosh = 33,
  kAsinh = 34,
  kAcosh = 35,
  kAtanh = 36,
  kSquare = 37,
};
inline constexpr int kUnaryModeCount = 38;

enum class ReduceMode : uint8_t {
  kMean = 0,
  kSum = 1,
  kMax = 2,
  kMin = 3,
  kProd = 4,
  kL1 = 5,
  kL2 = 6,
  kSumSquare = 7,
  kLogSumExp = 8,
  kLogSum = 9,
};
inline constexpr int kReduceModeCount = 10;

enum class ResizeMode : uint8_t { kNearest = 0, kLinear = 1, kCubic = 2 };
enum class CoordinateMode : uint8_t {
  kHalfPixel = 0,
  kPytorchHalfPixel = 1,
  kAlignCorners = 2,
  kAsymmetric = 3,
  kHalfPixelSymmetric = 4,
};
inline constexpr int kCoordinateModeCount = 5;

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_MODES_H_
