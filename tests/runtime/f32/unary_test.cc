#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "isa/functions.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase UnaryCase(UnaryOp mode, const TestTensor& x) {
  CommandCase test(Opcode::kUnaryF32, {{Field::kSrc, x}}, x.dtype, x.shape);
  test.Set(Field::kMode, static_cast<int>(mode));
  return test;
}

constexpr float kAlpha = 0.75f, kBeta = 0.375f;

double Softplus(double x) { return std::log1p(std::exp(x)); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Unit(double x) { return std::min(std::max(x, 0.0), 1.0); }

struct Function {
  UnaryOp mode;
  float lo, hi;  // where it is tested
  std::function<double(double)> reference;
};

const Function kFunctions[] = {
    {UnaryOp::kSigmoid, -90, 90, Sigmoid},
    {UnaryOp::kTanh, -10, 10, [](double x) { return std::tanh(x); }},
    {UnaryOp::kHardSigmoid, -3, 3, [](double x) { return Unit(kAlpha * x + kBeta); }},
    {UnaryOp::kHardSwish, -6, 6, [](double x) { return x * Unit(x / 6 + 0.5); }},
    {UnaryOp::kElu, -5, 5, [](double x) { return x < 0 ? kAlpha * (std::exp(x) - 1) : x; }},
    {UnaryOp::kSelu, -5, 5,
     [](double x) { return kBeta * (x < 0 ? kAlpha * (std::exp(x) - 1) : x); }},
    {UnaryOp::kSoftplus, -30, 30, Softplus},
    {UnaryOp::kSoftsign, -30, 30, [](double x) { return x / (1 + std::fabs(x)); }},
    {UnaryOp::kExp, -10, 10, [](double x) { return std::exp(x); }},
    {UnaryOp::kLog, 0.001f, 30, [](double x) { return std::log(x); }},
    {UnaryOp::kSqrt, 0, 30, [](double x) { return std::sqrt(x); }},
    {UnaryOp::kReciprocal, 0.1f, 30, [](double x) { return 1 / x; }},
    {UnaryOp::kAbs, -3, 3, [](double x) { return std::fabs(x); }},
    {UnaryOp::kNeg, -3, 3, [](double x) { return -x; }},
    {UnaryOp::kFloor, -9, 9, [](double x) { return std::floor(x); }},
    {UnaryOp::kCeil, -9, 9, [](double x) { return std::ceil(x); }},
    {UnaryOp::kRound, -9, 9, [](double x) { return std::nearbyint(x); }},
    {UnaryOp::kErf, -3, 3, [](double x) { return std::erf(x); }},
    {UnaryOp::kGelu, -5, 5, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {UnaryOp::kGeluTanh, -5, 5,
     [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
     }},
    {UnaryOp::kMish, -8, 8, [](double x) { return x * std::tanh(Softplus(x)); }},
    {UnaryOp::kSilu, -8, 8, [](double x) { return x * Sigmoid(x); }},
    {UnaryOp::kSin, -8, 8, [](double x) { return std::sin(x); }},
    {UnaryOp::kCos, -8, 8, [](double x) { return std::cos(x); }},
    {UnaryOp::kSign, -8, 8, [](double x) { return x > 0   ? 1
                                                  : x < 0 ? -1
                                                          : 0; }},
    {UnaryOp::kThresholdedRelu, -2, 2, [](double x) { return x > kAlpha ? x : 0; }},
    {UnaryOp::kCelu, -5, 5,
     [](double x) {
       return std::max(0.0, x) + std::min(0.0, kAlpha * (std::exp(x / kAlpha) - 1));
     }},
    {UnaryOp::kTan, -1, 1, [](double x) { return std::tan(x); }},
    {UnaryOp::kAsin, -1, 1, [](double x) { return std::asin(x); }},
    {UnaryOp::kAcos, -1, 1, [](double x) { return std::acos(x); }},
    {UnaryOp::kAtan, -8, 8, [](double x) { return std::atan(x); }},
    {UnaryOp::kSinh, -4, 4, [](double x) { return std::sinh(x); }},
    {UnaryOp::kCosh, -4, 4, [](double x) { return std::cosh(x); }},
    {UnaryOp::kAsinh, -8, 8, [](double x) { return std::asinh(x); }},
    {UnaryOp::kAcosh, 1, 8, [](double x) { return std::acosh(x); }},
    {UnaryOp::kAtanh, -0.99f, 0.99f, [](double x) { return std::atanh(x); }},
    {UnaryOp::kSquare, -8, 8, [](double x) { return x * x; }},
    {UnaryOp::kRsqrt, 0.1f, 30, [](double x) { return 1 / std::sqrt(x); }},
};

TEST(UnaryTest, EveryFunctionAgreesWithDouble) {
  ASSERT_EQ(std::size(kFunctions) + 1, size_t{kUnaryOpCount});  // and kNot
  for (const Function& function : kFunctions) {
    const uint32_t seed = static_cast<uint32_t>(function.mode);
    SCOPED_TRACE(::testing::Message() << "mode and seed " << seed);
    std::mt19937 random(seed);
    const TestTensor x = RandomFloats({5, 7, 29}, random, function.lo, function.hi);
    CommandCase test = UnaryCase(function.mode, x);
    test.SetFloat(Field::kAlphaF, kAlpha).SetFloat(Field::kBetaF, kBeta);
    std::vector<double> want;
    for (const float value : x.As<float>()) want.push_back(function.reference(value));
    ExpectClose(RunOnAnyThreads(test).As<float>(), want, 2e-6);
  }
}

TEST(UnaryTest, RoundsHalfToEven) {
  const auto x = Make<float>({6}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kRound, x)).As<float>(),
            (std::vector<float>{0, 2, 2, 0, -2, -2}));
}

TEST(UnaryTest, LargeArgumentsDoNotOverflow) {
  const auto x = Make<float>({2}, {200.0f, -200.0f});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kSoftplus, x)).As<float>(),
            (std::vector<float>{200, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kSigmoid, x)).As<float>(),
            (std::vector<float>{1, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kSilu, x)).As<float>(),
            (std::vector<float>{200, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kMish, x)).As<float>(),
            (std::vector<float>{200, 0}));
}

TEST(UnaryTest, IntegersAndBool) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  const auto s32 = Make<int32_t>({4}, {5, -7, 0, lowest});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kAbs, s32)).As<int32_t>(),
            (std::vector<int32_t>{5, 7, 0, lowest}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kNeg, s32)).As<int32_t>(),
            (std::vector<int32_t>{-5, 7, 0, lowest}));
  const auto s64 = Make<int64_t>({3}, {5, -7, 0});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kSign, s64)).As<int64_t>(),
            (std::vector<int64_t>{1, -1, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryOp::kNot, BoolTensor({3}, {1, 0, 1}))).bytes,
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_NE(ErrorOf(UnaryCase(UnaryOp::kExp, s64)), kNoError);
  EXPECT_NE(ErrorOf(UnaryCase(UnaryOp::kNot, Make<float>({1}, {1}))), kNoError);
}

}  // namespace
}  // namespace rshift
