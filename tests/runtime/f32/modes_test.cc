// The runtime's numbering of modes is the graph's. Headers of graph/ops only: nothing of the graph
// is linked.
#include "runtime/f32/modes.h"

#include <gtest/gtest.h>

#include "graph/ops/activation.h"
#include "graph/ops/eltwise.h"
#include "graph/ops/reduce.h"
#include "graph/ops/resize.h"
#include "isa/isa.h"

namespace rshift {
namespace {

#define SAME(Graph, Runtime, name) \
  static_assert(static_cast<int>(Graph::name) == static_cast<int>(f32::Runtime::name))

#define BINARY(name) SAME(BinaryOp, BinaryMode, name)
BINARY(kAdd);
BINARY(kSub);
BINARY(kMul);
BINARY(kDiv);
BINARY(kPow);
BINARY(kMin);
BINARY(kMax);
BINARY(kMod);
BINARY(kEqual);
BINARY(kLess);
BINARY(kLessOrEqual);
BINARY(kGreater);
BINARY(kGreaterOrEqual);
BINARY(kAnd);
BINARY(kOr);
BINARY(kXor);

#define UNARY(name) SAME(UnaryOp, UnaryMode, name)
UNARY(kSigmoid);
UNARY(kTanh);
UNARY(kHardSigmoid);
UNARY(kHardSwish);
UNARY(kElu);
UNARY(kSelu);
UNARY(kSoftplus);
UNARY(kSoftsign);
UNARY(kExp);
UNARY(kLog);
UNARY(kSqrt);
UNARY(kReciprocal);
UNARY(kAbs);
UNARY(kNeg);
UNARY(kFloor);
UNARY(kCeil);
UNARY(kRound);
UNARY(kErf);
UNARY(kGelu);
UNARY(kGeluTanh);
UNARY(kMish);
UNARY(kSilu);
UNARY(kSin);
UNARY(kCos);
UNARY(kSign);
UNARY(kNot);
UNARY(kThresholdedRelu);
UNARY(kCelu);
UNARY(kTan);
UNARY(kAsin);
UNARY(kAcos);
UNARY(kAtan);
UNARY(kSinh);
UNARY(kCosh);
UNARY(kAsinh);
UNARY(kAcosh);
UNARY(kAtanh);
UNARY(kSquare);

#define REDUCE(name) SAME(ReduceOp, ReduceMode, name)
REDUCE(kMean);
REDUCE(kSum);
REDUCE(kMax);
REDUCE(kMin);
REDUCE(kProd);
REDUCE(kL1);
REDUCE(kL2);
REDUCE(kSumSquare);
REDUCE(kLogSumExp);
REDUCE(kLogSum);

SAME(ResizeMode, ResizeMode, kNearest);
SAME(ResizeMode, ResizeMode, kLinear);
SAME(ResizeMode, ResizeMode, kCubic);
SAME(CoordinateMode, CoordinateMode, kHalfPixel);
SAME(CoordinateMode, CoordinateMode, kPytorchHalfPixel);
SAME(CoordinateMode, CoordinateMode, kAlignCorners);
SAME(CoordinateMode, CoordinateMode, kAsymmetric);
SAME(CoordinateMode, CoordinateMode, kHalfPixelSymmetric);

// The largest mode the instruction table lets through is the last one here.
int64_t LastMode(Opcode opcode, Field field) {
  for (const FieldSpec& spec : FindOp(opcode)->fields) {
    if (spec.field == field) return spec.hi;
  }
  return -1;
}

TEST(ModesTest, InstructionTableLetsThroughTheModesThatExist) {
  EXPECT_EQ(LastMode(Opcode::kBinaryF32, Field::kMode), f32::kBinaryModeCount - 1);
  EXPECT_EQ(LastMode(Opcode::kUnaryF32, Field::kMode), f32::kUnaryModeCount - 1);
  EXPECT_EQ(LastMode(Opcode::kReduceF32, Field::kMode), f32::kReduceModeCount - 1);
  EXPECT_EQ(LastMode(Opcode::kResizeF32, Field::kCoordinate), f32::kCoordinateModeCount - 1);
}

}  // namespace
}  // namespace rshift
