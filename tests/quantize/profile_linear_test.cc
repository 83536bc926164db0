// Conv and MatMul: which requantization each profile runs, on accumulators at and beside its ties,
// against formulas written another way.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/error.h"
#include "isa/attributes.h"
#include "quantize/numerics/float_scale.h"
#include "tests/quantize/integer_ops.h"
#include "tests/quantize/profile_tools.h"

namespace rshift::test {
namespace {

constexpr LinearKind kKinds[] = {LinearKind::kGeneral, LinearKind::kPointwise,
                                 LinearKind::kDepthwise, LinearKind::kFullyConnected};
// Without an optimised kernel of its own.
constexpr LinearKind kGrouped = LinearKind::kGrouped;

LinearLayer Layer(LinearKind kind, bool per_channel, bool is_unsigned) {
  LinearLayer layer;
  layer.kind = kind;
  layer.per_channel = per_channel;
  layer.x = is_unsigned ? U8(0.0235294f, 128) : S8(0.0235294f, -3);
  layer.y = is_unsigned ? U8(0.0471f, 3) : S8(0.0471f, -3);
  layer.channels = 20;
  return layer;
}

int64_t Finish(const Arithmetic& rules, const LinearLayer& layer, float scale_w, int32_t acc) {
  const RequantWords words = rules.Words(layer, scale_w, 0.0f);
  const LinearForm form = rules.Linear(layer);
  return FinishAccumulator(QLinear{{form.clamp, form.rounding}},
                           {0, words.multiplier, words.rshift}, acc, 0, layer.y.quant.zero_point);
}

// The accumulators nearest to every tie of y, and random ones.
std::vector<int32_t> Accumulators(const LinearLayer& layer, float scale_w) {
  const double unit = static_cast<double>(layer.y.quant.scale) /
                      (static_cast<double>(layer.x.quant.scale) * static_cast<double>(scale_w));
  std::vector<int32_t> result = {INT32_MAX, INT32_MIN + 1, 0, 1, -1};
  for (int half = -520; half <= 520; ++half) {
    for (int beside = -1; beside <= 1; ++beside) {
      const double acc = std::nearbyint((half + 0.5) * unit) + beside;
      if (std::fabs(acc) < 2147483647.0) result.push_back(static_cast<int32_t>(acc));
    }
  }
  std::mt19937 random(5);
  const auto reach = static_cast<int64_t>(std::min(300 * unit, 2147483647.0));
  std::uniform_int_distribution<int64_t> any(-reach, reach);
  for (int i = 0; i < 2000; ++i) result.push_back(static_cast<int32_t>(any(random)));
  return result;
}

// Scales with y = acc / 2^k exactly (all ties exact), and others.
constexpr float kWeightScales[] = {0.0078125f, 0.00213f, 0.0471f / 0.0235294f / 64, 1e-6f, 3e-9f};

using Formula = std::function<int64_t(const LinearLayer& layer, float scale_w, int32_t acc)>;

void Compare(const Arithmetic& rules, const LinearLayer& layer, const Formula& formula) {
  for (float scale_w : kWeightScales) {
    for (int32_t acc : Accumulators(layer, scale_w)) {
      const int64_t wanted = formula(layer, scale_w, acc) + layer.y.quant.zero_point;
      ASSERT_EQ(Finish(rules, layer, scale_w, acc), Saturate(wanted, layer.y))
          << "kind " << static_cast<int>(layer.kind) << " acc " << acc << " scale " << scale_w;
    }
  }
}

double Double(const LinearLayer& layer, float scale_w) {
  return static_cast<double>(layer.x.quant.scale) * static_cast<double>(scale_w) /
         static_cast<double>(layer.y.quant.scale);
}
float FloatOf(const LinearLayer& layer, float scale_w) {
  const float product = layer.x.quant.scale * scale_w;
  return product / layer.y.quant.scale;
}
double Mixed(const LinearLayer& layer, float scale_w) {
  const float product = layer.x.quant.scale * scale_w;
  return static_cast<double>(product) / static_cast<double>(layer.y.quant.scale);
}

int64_t D1(const LinearLayer& layer, float scale_w, int32_t acc) {
  return OneStep(acc, PairOf(Double(layer, scale_w)));
}
int64_t D2(const LinearLayer& layer, float scale_w, int32_t acc) {
  return TwoSteps(acc, PairOf(Double(layer, scale_w)));
}
int64_t F2(const LinearLayer& layer, float scale_w, int32_t acc) {
  return TwoSteps(acc, PairOf(FloatOf(layer, scale_w)));
}
int64_t MixedD2(const LinearLayer& layer, float scale_w, int32_t acc) {
  return TwoSteps(acc, PairOf(Mixed(layer, scale_w)));
}
int64_t Up(const LinearLayer& layer, float scale_w, int32_t acc) {
  return TwoStepsUp(acc, PairOf(Double(layer, scale_w)));
}
int64_t MixedUp(const LinearLayer& layer, float scale_w, int32_t acc) {
  return TwoStepsUp(acc, PairOf(Mixed(layer, scale_w)));
}
int64_t FloatEven(const LinearLayer& layer, float scale_w, int32_t acc) {
  return std::llrint(static_cast<float>(acc) * FloatOf(layer, scale_w));
}
int64_t DoubleAway(const LinearLayer& layer, float scale_w, int32_t acc) {
  return std::llround(static_cast<double>(acc) * Double(layer, scale_w));
}

TEST(LinearTest, TheTableOfTheOlderTfLite) {
  const Arithmetic& rules = Rules(ProfileId::kTfLite);
  Compare(rules, Layer(LinearKind::kGeneral, false, false), D2);
  Compare(rules, Layer(LinearKind::kDepthwise, false, false), F2);
  Compare(rules, Layer(LinearKind::kPointwise, false, false), F2);
  Compare(rules, Layer(LinearKind::kGeneral, true, false), D1);
  Compare(rules, Layer(LinearKind::kDepthwise, true, false), D2);
  Compare(rules, Layer(LinearKind::kPointwise, true, false), D1);
  Compare(rules, Layer(LinearKind::kFullyConnected, false, false), D2);
}

TEST(LinearTest, AVariantIsForcedOnEveryKind) {
  for (LinearKind kind : kKinds) {
    for (bool per_channel : {false, true}) {
      const LinearLayer layer = Layer(kind, per_channel, false);
      Compare(Rules(ProfileId::kTfLite, Variant::kD1), layer, D1);
      Compare(Rules(ProfileId::kTfLite, Variant::kD2), layer, D2);
      Compare(Rules(ProfileId::kTfLite, Variant::kF2), layer, F2);
    }
  }
}

TEST(LinearTest, LiteRtsReferenceKernels) {
  const Arithmetic& rules = Rules(ProfileId::kTfLiteRef);
  for (LinearKind kind : kKinds) {
    const bool dense = kind == LinearKind::kFullyConnected;
    for (bool per_channel : {false, true}) {
      Compare(rules, Layer(kind, per_channel, false), dense ? DoubleAway : D2);
    }
    Compare(rules, Layer(kind, false, true), dense ? DoubleAway : MixedD2);
  }
}

TEST(LinearTest, LiteRtsOptimisedKernels) {
  const Arithmetic& rules = Rules(ProfileId::kTfLiteRuy);
  for (LinearKind kind : kKinds) {
    const bool dense = kind == LinearKind::kFullyConnected;
    Compare(rules, Layer(kind, true, false), Up);
    Compare(rules, Layer(kind, false, false), dense ? MixedUp : Up);
    Compare(rules, Layer(kind, false, true), kind == LinearKind::kDepthwise ? MixedD2 : MixedUp);
  }
}

TEST(LinearTest, GroupedConvolutionsRunInTheReferenceKernel) {
  for (ProfileId id : {ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    Compare(Rules(id), Layer(kGrouped, true, false), D2);
    Compare(Rules(id), Layer(kGrouped, false, true), MixedD2);
  }
  Compare(Rules(ProfileId::kTfLiteXnnpack), Layer(kGrouped, true, false), FloatEven);
}

TEST(LinearTest, TheRestBehindVectorsOfEightIsRoundedAsTheReferenceDoes) {
  LinearLayer layer = Layer(LinearKind::kDepthwise, true, false);
  for (layer.channel = 0; layer.channel < layer.channels; ++layer.channel) {
    Compare(Rules(ProfileId::kTfLiteRuy), layer, layer.channel < 16 ? Up : D2);
  }
}

TEST(LinearTest, XnnpackAndOnnxRuntimeMultiplyInFloat) {
  for (ProfileId id : {ProfileId::kTfLiteXnnpack, ProfileId::kOnnxRuntime}) {
    for (LinearKind kind : kKinds) {
      for (bool is_unsigned : {false, true}) {
        for (bool per_channel : {false, true}) {
          Compare(Rules(id), Layer(kind, per_channel, is_unsigned), FloatEven);
        }
      }
    }
  }
}

TEST(LinearTest, TpuRoundsOnceInDouble) {
  for (LinearKind kind : kKinds) {
    Compare(Rules(ProfileId::kTpu), Layer(kind, true, false), D1);
  }
}

TEST(BatchedMatMulTest, LiteRtRoundsTwiceAndOnnxRuntimeInFloat) {
  const BatchedMatMulLayer layer{S8(0.0613f, 3), S8(0.0271f, -7), S8(0.43f, 11), 1, {}, 32};
  const float product = 0.0613f * 0.0271f;
  for (const ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy,
                             ProfileId::kTfLiteXnnpack}) {
    const isa::BatchedMatMul made = Rules(id).MakeBatchedMatMul(layer);
    const Pair pair = PairOf(static_cast<double>(product) / static_cast<double>(0.43f));
    EXPECT_EQ(made.rounding, Rounding::kTwoStep);
    EXPECT_EQ(made.words.multiplier, pair.q);
    EXPECT_EQ(made.words.rshift, 31 - pair.shift);
  }
  const isa::BatchedMatMul made = Rules(ProfileId::kOnnxRuntime).MakeBatchedMatMul(layer);
  EXPECT_EQ(made.rounding, Rounding::kFloatEven);
  EXPECT_EQ(made.words.multiplier, numerics::FloatToWord(product / 0.43f));
  EXPECT_EQ(made.words.rshift, 0);
}

TEST(LinearTest, AFusedReluIsTheClamp) {
  for (ProfileId id : kLiteRt) {
    LinearLayer layer = Layer(LinearKind::kGeneral, true, false);
    layer.clamp = {0.0f, 6.0f};
    const ClampQ clamp = Rules(id).Linear(layer).clamp;
    EXPECT_EQ(clamp.lo, -3);
    EXPECT_EQ(clamp.hi, 124);  // 6 / 0.0471 = 127.4
  }
}

// Ranges of two sums of mobilenet_v2, whose bytes are OpenVINO's with these constants alone
// (tests/e2e/test_openvino_nncf.py): the factor, the offset, the bounds of the operand that is not
// rounded. The first range is as 128 to 127, the other has a zero point.
TEST(LinearTest, OpenVinoBringsAResidualIntoUnitsOfTheOther) {
  const auto ends = [](float low, float high) {
    return std::make_shared<LevelRanges>(LevelRanges{{low}, {high}});
  };
  struct Sum {
    float low, high, addend_low, addend_high;
    int zero;
    float factor, offset, bottom, top;
  };
  for (const Sum& sum : {Sum{-0x1.01763p+4f, 0x1.fee686p+3f, -0x1.87f3fap+4f, 0x1.84e412p+4f, 128,
                             0x1.4e684cp+2f, -0x1.fffffep+6f, -0x1.a8288ap+7f, -0x1.649f18p+5f},
                         Sum{-0x1.577516p+4f, 0x1.653218p+4f, -0x1.59ebd8p+4f, 0x1.5ca522p+4f, 127,
                             0x1.77f264p+2f, -0x1.fc0004p+6f, -0x1.fa30dcp+7f, 0x1.08e98p+2f}}) {
    LinearLayer layer = Layer(LinearKind::kGeneral, true, true);
    RealPostOp add{PostOpKind::kSum, 0, 0, U8((sum.addend_high - sum.addend_low) / 255, sum.zero)};
    add.addend.ranges = ends(sum.addend_low, sum.addend_high);
    add.before = ends(sum.low, sum.high);
    layer.post_ops.push_back(std::move(add));
    const std::vector<PostOp> ops = Rules(ProfileId::kOpenVino).Linear(layer).post_ops;
    ASSERT_GE(ops.size(), 3u);
    EXPECT_EQ(ops[0].alpha, sum.factor);
    EXPECT_EQ(ops[0].beta, sum.offset);
    EXPECT_EQ(ops[1].alpha, sum.bottom);
    EXPECT_EQ(ops[1].beta, sum.top);
    EXPECT_EQ(ops[2].kind, PostOpKind::kSum);
  }
}

TEST(LinearTest, AVariantOfAnotherProfileIsRefused) {
  EXPECT_FALSE(HasVariant(ProfileId::kTfLiteRef, Variant::kD1));
  EXPECT_TRUE(HasVariant(ProfileId::kTfLite, Variant::kD1));
}

}  // namespace
}  // namespace rshift::test
