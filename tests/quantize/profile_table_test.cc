// Functions of one byte in every profile: all 256 inputs, against formulas written another way.
#include <gtest/gtest.h>

#include <functional>

#include "tests/quantize/integer_ops.h"
#include "tests/quantize/profile_tools.h"

namespace rshift::test {
namespace {

const ByteLayer kLayers[] = {
    {S8(0.0512f, 3), S8(0.0256f, -9), 16}, {S8(0.05f, -128), S8(0.05f, -128), 16},
    {S8(0.11f, 100), S8(0.037f, 127), 16}, {U8(0.0235f, 77), U8(0.0471f, 12), 16},
    {U8(0.5f, 255), U8(0.25f, 128), 16},  // every odd half is a tie
};

float Real(int32_t q, const IntType& type) {
  return static_cast<float>(q - type.quant.zero_point) * type.quant.scale;
}

// y by `formula`, which gives an integer still to be saturated.
void Compare(const Op& op, const ByteLayer& layer,
             const std::function<int64_t(int32_t q)>& formula) {
  const auto* table = std::get_if<QTable>(&op);
  ASSERT_NE(table, nullptr);
  for (int32_t q = layer.x.qmin(); q <= layer.x.qmax(); ++q) {
    ASSERT_EQ(Entry(*table, layer.y, q), Saturate(formula(q), layer.y)) << q;
  }
}

TEST(LeakyReluTest, LiteRtsKernelsRoundTwice) {
  for (ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    for (const ByteLayer& layer : kLayers) {
      Compare(Rules(id).MakeLeakyRelu(layer, static_cast<double>(0.1f)), layer, [&](int32_t q) {
        const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
        const float scaled = sx * 0.1f;
        const int64_t v = q - layer.x.quant.zero_point;
        return TwoSteps(v, PairOf(v >= 0 ? sx / sy : scaled / sy)) + layer.y.quant.zero_point;
      });
    }
  }
}

TEST(LeakyReluTest, XnnpackHasEightFractionBits) {
  for (const ByteLayer& layer : kLayers) {
    Compare(Rules(ProfileId::kTfLiteXnnpack).MakeLeakyRelu(layer, static_cast<double>(0.1f)), layer,
            [&](int32_t q) {
              const float ratio = layer.x.quant.scale / layer.y.quant.scale;
              const float negative = ratio * 0.1f;
              const int64_t v = q - layer.x.quant.zero_point;
              const int64_t m = std::lrint((v >= 0 ? ratio : negative) * 256);
              return QuotientUp(v * m, 8) + layer.y.quant.zero_point;
            });
  }
}

TEST(LeakyReluTest, OnnxRuntimeDequantizes) {
  for (const ByteLayer& layer : kLayers) {
    Compare(Rules(ProfileId::kOnnxRuntime).MakeLeakyRelu(layer, static_cast<double>(0.1f)), layer,
            [&](int32_t q) {
              const float x = Real(q, layer.x), y = x >= 0 ? x : 0.1f * x;
              return std::lrint(y / layer.y.quant.scale) + layer.y.quant.zero_point;
            });
  }
}

const ByteLayer kSigmoids[] = {{S8(0.03f, 11), S8(0.00390625f, -128), 16},
                               {S8(0.0625f, 0), S8(0.00390625f, -128), 16},
                               {U8(0.047f, 128), U8(0.00390625f, 0), 16},
                               {U8(0.2f, 3), U8(0.007f, 17), 16}};

TEST(LogisticTest, LiteRtsKernelsRoundHalfAway) {
  for (ProfileId id : {ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    for (const ByteLayer& layer : kSigmoids) {
      Compare(Rules(id).MakeUnary(layer, {UnaryOp::kSigmoid}), layer, [&](int32_t q) {
        const float e = std::exp(-Real(q, layer.x));
        const float sum = 1.0f + e, y = 1.0f / sum;
        return std::llround(y / layer.y.quant.scale) + layer.y.quant.zero_point;
      });
    }
  }
}

TEST(LogisticTest, XnnpackAddsTheZeroPointBeforeTheRounding) {
  for (const ByteLayer& layer : kSigmoids) {
    Compare(Rules(ProfileId::kTfLiteXnnpack).MakeUnary(layer, {UnaryOp::kSigmoid}), layer,
            [&](int32_t q) {
              const double x = Real(q, layer.x);
              const auto y = static_cast<float>(1 / (1 + std::exp(-x)));
              const float scaled = y / layer.y.quant.scale;
              return std::lrint(scaled + static_cast<float>(layer.y.quant.zero_point));
            });
  }
}

// MLAS' rational function is within 2^-22 of the real one: at these scales only values that far
// from a tie can differ.
TEST(LogisticTest, OnnxRuntimeIsTheExactFunctionUpToNearTies) {
  for (const ByteLayer& layer : kSigmoids) {
    const QTable table = Rules(ProfileId::kOnnxRuntime).MakeUnary(layer, {UnaryOp::kSigmoid});
    for (int32_t q = layer.x.qmin(); q <= layer.x.qmax(); ++q) {
      const double x = Real(q, layer.x);
      const double units = 1 / (1 + std::exp(-x)) / static_cast<double>(layer.y.quant.scale);
      const double fraction = units - std::floor(units);
      if (std::fabs(fraction - 0.5) < 1e-4) continue;
      ASSERT_EQ(Entry(table, layer.y, q),
                Saturate(std::llround(units) + layer.y.quant.zero_point, layer.y));
    }
  }
}

TEST(TanhTest, IsTheRealFunctionInTheFrameworksRounding) {
  const ByteLayer layer{S8(0.03f, 11), S8(0.0078125f, 0), 16};
  for (ProfileId id : {ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy, ProfileId::kTfLiteXnnpack,
                       ProfileId::kOnnxRuntime, ProfileId::kTpu}) {
    Compare(Rules(id).MakeUnary(layer, {UnaryOp::kTanh}), layer, [&](int32_t q) {
      // No value of these is near a tie, but 0, which is exact.
      return std::llround(std::tanh(static_cast<double>(Real(q, layer.x))) * 128);
    });
  }
}

TEST(RescaleTest, EqualTypesAreAClampAlone) {
  const ByteLayer layer{S8(0.1f, 3), S8(0.1f, 3), 16};
  for (int i = 0; i < kProfileCount; ++i) {
    const auto op =
        std::get<Requantize>(Rules(static_cast<ProfileId>(i)).MakeRescale(layer, {-5, 100}));
    EXPECT_EQ(op.words.multiplier, 0);
    EXPECT_EQ(op.clamp.lo, -5);
    EXPECT_EQ(op.clamp.hi, 100);
  }
}

TEST(RescaleTest, EachProfileInItsOwnWay) {
  for (const ByteLayer& layer : kLayers) {
    if (layer.x == layer.y) continue;
    const float sx = layer.x.quant.scale, sy = layer.y.quant.scale;
    const int32_t zx = layer.x.quant.zero_point, zy = layer.y.quant.zero_point;
    const ClampQ all{layer.y.qmin(), layer.y.qmax()};
    Compare(Rules(ProfileId::kTfLiteRef).MakeRescale(layer, all), layer, [&](int32_t q) {
      return TwoSteps(q - zx, PairOf(static_cast<double>(sx) / static_cast<double>(sy))) + zy;
    });
    Compare(Rules(ProfileId::kTfLiteXnnpack).MakeRescale(layer, all), layer,
            [&](int32_t q) { return QuotientUp((q - zx) * std::lrint(sx / sy * 256), 8) + zy; });
    Compare(Rules(ProfileId::kOnnxRuntime).MakeRescale(layer, all), layer,
            [&](int32_t q) { return std::lrint(Real(q, layer.x) / sy) + zy; });
  }
}

TEST(ClipTest, ALoneReluOfLiteRtIsTheReferencesEverywhere) {
  for (ProfileId id : kLiteRt) {
    for (const ByteLayer& layer : kLayers) {
      if (layer.x == layer.y) continue;
      const double ratio =
          static_cast<double>(layer.x.quant.scale) / static_cast<double>(layer.y.quant.scale);
      const ClampQ clamp{layer.y.quant.zero_point, layer.y.qmax()};
      Compare(Rules(id).MakeClip(layer, clamp), layer, [&](int32_t q) {
        const int64_t v = TwoSteps(q - layer.x.quant.zero_point, PairOf(ratio));
        return std::max<int64_t>(v, 0) + layer.y.quant.zero_point;
      });
    }
  }
}

TEST(RescaleTest, LiteRtsOptimisedKernelRoundsUpTwice) {
  const ByteLayer& layer = kLayers[0];
  Compare(Rules(ProfileId::kTfLiteRuy).MakeRescale(layer, {-128, 127}), layer, [&](int32_t q) {
    return TwoStepsUp(q - 3, PairOf(static_cast<double>(0.0512f) / static_cast<double>(0.0256f))) -
           9;
  });
}

TEST(ConcatTest, UnsignedPartsOfLiteRtAreRescaledInFloat) {
  for (ProfileId id : kLiteRt) {
    for (const ByteLayer& layer : kLayers) {
      if (layer.x.dtype != DType::kU8) continue;
      Compare(Rules(id).MakeConcatPart(layer), layer, [&](int32_t q) {
        const float inverse = 1.0f / layer.y.quant.scale;
        const float m = layer.x.quant.scale * inverse;
        const float bias = -static_cast<float>(layer.x.quant.zero_point) * m;
        const float product = static_cast<float>(q) * m;
        return std::llround(product + bias) + layer.y.quant.zero_point;
      });
    }
  }
}

TEST(BoundsTest, TiesOfRelu6) {
  // 6 / 0.16 = 37.5: away 38, to even 38; with Z = 1 before the rounding 38.5 to even is 38.
  const IntType type = U8(0.16f, 1);
  const Clamp relu6{0.0f, 6.0f};
  ASSERT_EQ(6.0f / 0.16f, 37.5f);
  EXPECT_EQ(Rules(ProfileId::kTfLiteRef).Bounds(relu6, type).hi, 39);
  EXPECT_EQ(Rules(ProfileId::kTfLiteRuy).Bounds(relu6, type).hi, 39);
  EXPECT_EQ(Rules(ProfileId::kTfLiteXnnpack).Bounds(relu6, type).hi, 38);
  EXPECT_EQ(Rules(ProfileId::kOnnxRuntime).Bounds(relu6, type).hi, 39);
  EXPECT_EQ(Rules(ProfileId::kTfLiteRef).Bounds(relu6, type).lo, 1);
}

// --- Softmax ---
std::vector<double> Row(const IntType& x) {
  std::vector<double> row;
  for (int i = 0; i < 40; ++i) row.push_back((i * 37) % 256 + x.qmin());
  return row;
}

TEST(SoftmaxTest, EveryProfileIsNearTheRealFunction) {
  const IntType types[][2] = {{S8(0.1f, 4), S8(0.00390625f, -128)},
                              {U8(0.03f, 9), U8(0.00390625f, 0)},
                              {S8(0.5f, -128), S8(0.00390625f, -128)}};
  for (const auto& [x, y] : types) {
    for (ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy,
                         ProfileId::kTfLiteXnnpack, ProfileId::kOnnxRuntime}) {
      std::vector<double> row = Row(x);
      double sum = 0;
      for (double q : row) sum += std::exp(q * static_cast<double>(x.quant.scale));
      const std::vector<double> before = row;
      const SoftmaxForm form = Rules(id).MakeSoftmax(x, y, static_cast<int64_t>(row.size()));
      SoftmaxRow(
          form.op, row,
          {form.type.quant.scale, form.type.quant.zero_point, form.type.dtype == DType::kS8});
      for (size_t i = 0; i < row.size(); ++i) {
        const double real = std::exp(before[i] * static_cast<double>(x.quant.scale)) / sum;
        const double units = std::min(real * 256, 255.0) + y.quant.zero_point;
        EXPECT_NEAR(row[i], units, 0.51) << Name(id) << " " << i;
      }
    }
  }
}

TEST(SoftmaxTest, TheReferencesOutputTypeIsFixed) {
  const SoftmaxForm form = Rules(ProfileId::kTfLiteRef).MakeSoftmax(S8(0.1f, 0), S8(0.01f, 3), 10);
  EXPECT_EQ(form.type, S8(0.00390625f, -128));
}

}  // namespace
}  // namespace rshift::test
