#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "runtime/f32/modes.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using f32::UnaryMode;
using namespace rshift::testing;

CommandCase UnaryCase(UnaryMode mode, const TestTensor& x) {
  CommandCase test(Opcode::kUnaryF32, {{Field::kSrc, x}}, x.dtype, x.shape);
  test.Set(Field::kMode, static_cast<int>(mode));
  return test;
}

constexpr float kAlpha = 0.75f, kBeta = 0.375f;

double Softplus(double x) { return std::log1p(std::exp(x)); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Unit(double x) { return std::min(std::max(x, 0.0), 1.0); }

struct Function {
  UnaryMode mode;
  float lo, hi;  // where it is tested
  std::function<double(double)> reference;
};

const Function kFunctions[] = {
    {UnaryMode::kSigmoid, -90, 90, Sigmoid},
    {UnaryMode::kTanh, -10, 10, [](double x) { return std::tanh(x); }},
    {UnaryMode::kHardSigmoid, -3, 3, [](double x) { return Unit(kAlpha * x + kBeta); }},
    {UnaryMode::kHardSwish, -6, 6, [](double x) { return x * Unit(x / 6 + 0.5); }},
    {UnaryMode::kElu, -5, 5, [](double x) { return x < 0 ? kAlpha * (std::exp(x) - 1) : x; }},
    {UnaryMode::kSelu, -5, 5,
     [](double x) { return kBeta * (x < 0 ? kAlpha * (std::exp(x) - 1) : x); }},
    {UnaryMode::kSoftplus, -30, 30, Softplus},
    {UnaryMode::kSoftsign, -30, 30, [](double x) { return x / (1 + std::fabs(x)); }},
    {UnaryMode::kExp, -10, 10, [](double x) { return std::exp(x); }},
    {UnaryMode::kLog, 0.001f, 30, [](double x) { return std::log(x); }},
    {UnaryMode::kSqrt, 0, 30, [](double x) { return std::sqrt(x); }},
    {UnaryMode::kReciprocal, 0.1f, 30, [](double x) { return 1 / x; }},
    {UnaryMode::kAbs, -3, 3, [](double x) { return std::fabs(x); }},
    {UnaryMode::kNeg, -3, 3, [](double x) { return -x; }},
    {UnaryMode::kFloor, -9, 9, [](double x) { return std::floor(x); }},
    {UnaryMode::kCeil, -9, 9, [](double x) { return std::ceil(x); }},
    {UnaryMode::kRound, -9, 9, [](double x) { return std::nearbyint(x); }},
    {UnaryMode::kErf, -3, 3, [](double x) { return std::erf(x); }},
    {UnaryMode::kGelu, -5, 5,
     [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {UnaryMode::kGeluTanh, -5, 5,
     [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
     }},
    {UnaryMode::kMish, -8, 8, [](double x) { return x * std::tanh(Softplus(x)); }},
    {UnaryMode::kSilu, -8, 8, [](double x) { return x * Sigmoid(x); }},
    {UnaryMode::kSin, -8, 8, [](double x) { return std::sin(x); }},
    {UnaryMode::kCos, -8, 8, [](double x) { return std::cos(x); }},
    {UnaryMode::kSign, -8, 8, [](double x) { return x > 0   ? 1
                                                    : x < 0 ? -1
                                                            : 0; }},
    {UnaryMode::kThresholdedRelu, -2, 2, [](double x) { return x > kAlpha ? x : 0; }},
    {UnaryMode::kCelu, -5, 5,
     [](double x) {
       return std::max(0.0, x) + std::min(0.0, kAlpha * (std::exp(x / kAlpha) - 1));
     }},
    {UnaryMode::kTan, -1, 1, [](double x) { return std::tan(x); }},
    {UnaryMode::kAsin, -1, 1, [](double x) { return std::asin(x); }},
    {UnaryMode::kAcos, -1, 1, [](double x) { return std::acos(x); }},
    {UnaryMode::kAtan, -8, 8, [](double x) { return std::atan(x); }},
    {UnaryMode::kSinh, -4, 4, [](double x) { return std::sinh(x); }},
    {UnaryMode::kCosh, -4, 4, [](double x) { return std::cosh(x); }},
    {UnaryMode::kAsinh, -8, 8, [](double x) { return std::asinh(x); }},
    {UnaryMode::kAcosh, 1, 8, [](double x) { return std::acosh(x); }},
    {UnaryMode::kAtanh, -0.99f, 0.99f, [](double x) { return std::atanh(x); }},
    {UnaryMode::kSquare, -8, 8, [](double x) { return x * x; }},
};

TEST(UnaryTest, EveryFunctionAgreesWithDouble) {
  ASSERT_EQ(std::size(kFunctions) + 1, size_t{f32::kUnaryModeCount});  // and kNot
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
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kRound, x)).As<float>(),
            (std::vector<float>{0, 2, 2, 0, -2, -2}));
}

TEST(UnaryTest, LargeArgumentsDoNotOverflow) {
  const auto x = Make<float>({2}, {200.0f, -200.0f});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kSoftplus, x)).As<float>(),
            (std::vector<float>{200, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kSigmoid, x)).As<float>(),
            (std::vector<float>{1, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kSilu, x)).As<float>(),
            (std::vector<float>{200, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kMish, x)).As<float>(),
            (std::vector<float>{200, 0}));
}

TEST(UnaryTest, IntegersAndBool) {
  const int32_t lowest = std::numeric_limits<int32_t>::min();
  const auto s32 = Make<int32_t>({4}, {5, -7, 0, lowest});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kAbs, s32)).As<int32_t>(),
            (std::vector<int32_t>{5, 7, 0, lowest}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kNeg, s32)).As<int32_t>(),
            (std::vector<int32_t>{-5, 7, 0, lowest}));
  const auto s64 = Make<int64_t>({3}, {5, -7, 0});
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kSign, s64)).As<int64_t>(),
            (std::vector<int64_t>{1, -1, 0}));
  EXPECT_EQ(RunOnAnyThreads(UnaryCase(UnaryMode::kNot, BoolTensor({3}, {1, 0, 1}))).bytes,
            (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_NE(ErrorOf(UnaryCase(UnaryMode::kExp, s64)), "");
  EXPECT_NE(ErrorOf(UnaryCase(UnaryMode::kNot, Make<float>({1}, {1}))), "");
}

}  // namespace
}  // namespace rshift
