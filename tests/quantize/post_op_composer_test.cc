// The algebra of post-operations, rule by rule, and on random chains against the chain itself.
#include "quantize/profiles/post_op_composer.h"

#include <gtest/gtest.h>

#include <random>

#include "quantize/numerics/post_ops.h"

namespace rshift {
namespace {

RealPostOp Linear(float alpha, float beta) { return {PostOpKind::kLinear, alpha, beta, {}}; }
RealPostOp Relu() { return {PostOpKind::kRelu, 0, 0, {}}; }
RealPostOp Tanh() { return {PostOpKind::kTanh, 0, 0, {}}; }
RealPostOp Clip(float lo, float hi) { return {PostOpKind::kClip, lo, hi, {}}; }
RealPostOp Sum(float scale) { return {PostOpKind::kSum, 0, 0, {DType::kS8, {scale, 0}}}; }

TEST(PostOpComposer, MultiplyByOneAndAddOfZeroVanish) {
  const ComposedPostOps composed = ComposePostOps({Linear(1, 0), Tanh(), Linear(1, 0)});
  ASSERT_EQ(composed.ops.size(), 1u);
  EXPECT_EQ(composed.ops[0].kind, PostOpKind::kTanh);
  EXPECT_EQ(composed.ops[0].scale, 1);
  EXPECT_EQ(composed.factor, 1);
}

TEST(PostOpComposer, TheFirstMultiplyIsTheOutputScale) {
  const ComposedPostOps composed = ComposePostOps({Linear(3, 0), Tanh()});
  EXPECT_EQ(composed.factor, 3);
  ASSERT_EQ(composed.ops.size(), 1u);
  EXPECT_EQ(composed.ops[0].kind, PostOpKind::kTanh);
}

TEST(PostOpComposer, AFactorPassesReluAndClip) {
  const ComposedPostOps composed = ComposePostOps({Relu(), Clip(-1, 2), Linear(3, 0)});
  EXPECT_EQ(composed.factor, 3);
  ASSERT_EQ(composed.ops.size(), 2u);
  EXPECT_EQ(composed.ops[1].alpha, -3);
  EXPECT_EQ(composed.ops[1].beta, 6);
}

TEST(PostOpComposer, AFactorBehindASumScalesBothOperands) {
  const ComposedPostOps composed = ComposePostOps({Sum(0.5f), Linear(3, 0)});
  EXPECT_EQ(composed.factor, 3);
  ASSERT_EQ(composed.ops.size(), 1u);
  EXPECT_EQ(composed.ops[0].scale, 3);
}

TEST(PostOpComposer, AFactorBehindAFunctionIsTheFunctionsScale) {
  const ComposedPostOps composed = ComposePostOps({Tanh(), Linear(0.3f, 0)});
  EXPECT_EQ(composed.factor, 1);
  ASSERT_EQ(composed.ops.size(), 1u);
  EXPECT_EQ(composed.ops[0].scale, 0.3f);
}

TEST(PostOpComposer, AffineOperationsBecomeOne) {
  const ComposedPostOps composed =
      ComposePostOps({Tanh(), Sum(1), Linear(2, 0), Linear(1, 3), Linear(4, 0)});
  ASSERT_EQ(composed.ops.size(), 3u);
  EXPECT_EQ(composed.ops[2].kind, PostOpKind::kLinear);
  EXPECT_EQ(composed.ops[2].alpha, 8);
  EXPECT_EQ(composed.ops[2].beta, 12);
}

TEST(PostOpComposer, ANegativeFactorStaysBehindAReluAndAFactorBehindAFunction) {
  EXPECT_EQ(ComposePostOps({Relu(), Linear(-2, 0)}).ops.size(), 2u);
  EXPECT_EQ(ComposePostOps({Relu(), Linear(-2, 0)}).factor, 1);
  EXPECT_EQ(ComposePostOps({Tanh(), Relu(), Linear(2, 0)}).factor, 1);
}

float Evaluate(const ComposedPostOps& composed, float f, int32_t addend) {
  f *= composed.factor;
  for (const RealPostOp& op : composed.ops) {
    const float scale = op.kind == PostOpKind::kSum ? op.scale * op.addend.quant.scale : op.scale;
    f = numerics::ApplyPostOp({op.kind, op.alpha, op.beta, scale}, f, addend);
  }
  return f;
}

// Powers of two and small integers: nothing is rounded, so both must be equal.
TEST(PostOpComposer, RandomChainsKeepTheirValue) {
  std::mt19937 random(20);
  const auto power = [&] { return std::exp2f(static_cast<float>(random() % 5) - 2); };
  for (int trial = 0; trial < 2000; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed 20, trial " << trial);
    std::vector<RealPostOp> ops;
    for (uint32_t i = 0, count = 1 + random() % 6; i < count; ++i) {
      switch (random() % 6) {
        case 0:
          ops.push_back({PostOpKind::kRelu, 0.25f, 0, {}});
          break;
        case 1:
          ops.push_back(Clip(-power(), 4 * power()));
          break;
        case 2:
          ops.push_back({PostOpKind::kSquare, 0, 0, {}});
          break;
        case 3:
          ops.push_back(Sum(power()));
          break;
        case 4:
          ops.push_back({PostOpKind::kAbs, 0, 0, {}});
          break;
        default:
          ops.push_back(
              Linear(random() % 4 == 0 ? -power() : power(), random() % 2 == 0 ? 0 : power()));
      }
    }
    const ComposedPostOps composed = ComposePostOps(ops);
    EXPECT_LE(composed.ops.size(), ops.size());
    for (const float f : {-3.0f, -0.5f, 0.0f, 0.25f, 2.0f}) {
      EXPECT_EQ(Evaluate(composed, f, 3), Evaluate({1, ops}, f, 3));
    }
  }
}

}  // namespace
}  // namespace rshift
