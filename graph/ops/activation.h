// Functions of one element.
#ifndef RSHIFT_GRAPH_OPS_ACTIVATION_H_
#define RSHIFT_GRAPH_OPS_ACTIVATION_H_

#include <cstdint>

#include "graph/ops/common.h"

namespace rshift {

// Relu, Relu6, Clip with constant bounds.
struct Clip {
  Clamp clamp;
};

// y = x >= 0 ? x : alpha * x
struct LeakyRelu {
  float alpha = 0.01f;
};

// inputs: x, slope (constant or not, broadcast to x from the right as in ONNX).
struct PRelu {};

// Numbered for the file format: append only. alpha/beta/gamma as in the ONNX operator of that name.
enum class UnaryOp : uint8_t {
  kSigmoid = 0,
  kTanh = 1,
  kHardSigmoid = 2 /* alpha, beta */,
  kHardSwish = 3,
  kElu = 4 /* alpha */,
  kSelu = 5 /* alpha, beta=gamma */,
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
  kRound = 16 /* half to even */,
  kErf = 17,
  kGelu = 18 /* exact, by erf */,
  kGeluTanh = 19,
  kMish = 20,
  kSilu = 21,
  kSin = 22,
  kCos = 23,
  kSign = 24,
  kNot = 25 /* bool */,
  kThresholdedRelu = 26 /* alpha */,
  kCelu = 27 /* alpha */,
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

struct Unary {
  UnaryOp op = UnaryOp::kSigmoid;
  float alpha = 0.0f;
  float beta = 0.0f;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_ACTIVATION_H_
