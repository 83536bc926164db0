// model_tool requantize and the quantizer agree on what each profile and variant computes.
#include <gtest/gtest.h>

#include <bit>

#include "isa/attributes.h"
#include "quantize/numerics/post_ops.h"
#include "quantize/profiles/arithmetic.h"
#include "tools/requantize_rule.h"

namespace rshift {
namespace {

LinearLayer Layer(LinearKind kind, float scale_x, float scale_y) {
  LinearLayer layer;
  layer.kind = kind;
  layer.x = {DType::kS8, {scale_x, 3}};
  layer.y = {DType::kS8, {scale_y, -7}};
  layer.channels = 8;
  return layer;
}

RequantizeRule Rule(const char* profile, const char* variant, double scale) {
  RequantizeArguments arguments;
  arguments.profile = profile;
  arguments.variant = variant;
  arguments.scale = scale;
  arguments.zero_point = -7;
  return MakeRequantizeRule(arguments);
}

struct Case {
  Profile profile;
  const char* variant;  // of the tool
  LinearKind kind;
};

// Powers of two: the product of the scales is exact in every precision.
TEST(ProfileRules, ToolAndQuantizerAgree) {
  using enum ProfileId;
  constexpr LinearKind kConv = LinearKind::kGeneral, kFc = LinearKind::kFullyConnected;
  const Case cases[] = {{{kTpu}, "", kConv},
                        {{kTfLite, Variant::kD1}, "d1", kConv},
                        {{kTfLite, Variant::kD2}, "d2", kConv},
                        {{kTfLite, Variant::kF2}, "f2", kConv},
                        {{kTfLiteRef}, "", kConv},
                        {{kTfLiteRef}, "fc", kFc},
                        {{kTfLiteRuy}, "", kConv},
                        {{kTfLiteXnnpack}, "", kConv},
                        {{kOnnxRuntime}, "", kConv},
                        {{kCaffe2}, "", kConv},
                        {{kCaffe2, Variant::kFp32}, "fp32", kConv},
                        {{kCaffe2, Variant::kPrecise}, "precise", kFc},
                        {{kOneDnn}, "", kConv}};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(Name(c.profile.id)) + " " + c.variant);
    const Arithmetic& rules = ArithmeticOf(c.profile);
    for (const float scale_w : {0.123456f, 0.5f, 1e-4f}) {
      const LinearLayer layer = Layer(c.kind, 0x1p-5f, 0x1p-2f);
      const RequantWords words = rules.Words(layer, scale_w, 0.0f);
      const RequantizeRule rule =
          Rule(Name(c.profile.id), c.variant, static_cast<double>(scale_w) * 0x1p-3);
      EXPECT_EQ(rules.Linear(layer).rounding, rule.rounding);
      EXPECT_EQ(words.multiplier, rule.multiplier);
      EXPECT_EQ(words.rshift, rule.rshift);
    }
  }
}

TEST(ProfileRules, AscendTailsAgree) {
  const std::pair<Variant, const char*> variants[] = {
      {Variant::kByTable, "round"}, {Variant::kAway, "away"},         {Variant::kFloor, "floor"},
      {Variant::kCeil, "ceil"},     {Variant::kTruncate, "truncate"}, {Variant::kHalf, "fp16"}};
  for (const auto& [variant, name] : variants) {
    SCOPED_TRACE(name);
    const Arithmetic& rules = ArithmeticOf({ProfileId::kAscend, variant});
    for (const float scale_y : {0.1f, 0.25f, 1e-6f}) {
      const LinearLayer layer = Layer(LinearKind::kGeneral, 0x1p-5f, scale_y);
      const HalfEpilogue epilogue = rules.Linear(layer).half;
      RequantizeArguments arguments;
      arguments.profile = "ascend";
      arguments.variant = name;
      arguments.scale = 0.01f * 0x1p-5;
      arguments.zero_point = -7;
      arguments.quant_scale = 1.0 / static_cast<double>(scale_y);
      const RequantizeRule rule = MakeRequantizeRule(arguments);
      EXPECT_EQ(rules.Words(layer, 0.01f, 0.0f).multiplier, rule.multiplier);
      EXPECT_EQ(epilogue.quant_scale, rule.epilogue.quant_scale);
      EXPECT_EQ(epilogue.sqrt_quant, rule.epilogue.sqrt_quant);
      EXPECT_EQ(epilogue.quant_offset, rule.epilogue.quant_offset);
      EXPECT_EQ(epilogue.mode, rule.epilogue.mode);
    }
  }
}

TEST(ProfileRules, OneDnnDividesWhereItsPostOperationsEnd) {
  LinearLayer layer = Layer(LinearKind::kGeneral, 0.1f, 0.03f);
  layer.post_ops = {{PostOpKind::kTanh, 0, 0, {}},
                    {PostOpKind::kSum, 0, 0, {DType::kS8, {0.06f, 0}}}};
  const Arithmetic& rules = ArithmeticOf({ProfileId::kOneDnn});
  const LinearForm form = rules.Linear(layer);
  ASSERT_EQ(form.post_ops.size(), 2u);
  EXPECT_EQ(form.post_ops[0].scale, 1.0f / 0.03f);
  EXPECT_EQ(form.post_ops[1].scale, 0.06f / 0.03f);
  EXPECT_EQ(std::bit_cast<float>(rules.Words(layer, 0.2f, 0.0f).multiplier), 0.1f * 0.2f);
  layer.post_ops.erase(layer.post_ops.begin());  // the sum alone: in units of y from the start
  EXPECT_EQ(rules.Linear(layer).post_ops[0].scale, 0.06f / 0.03f);
  EXPECT_EQ(std::bit_cast<float>(rules.Words(layer, 0.2f, 0.0f).multiplier), 0.1f * 0.2f / 0.03f);
}

TEST(ProfileRules, PostOperationsAreNumberedAlike) {
  EXPECT_EQ(kPostOpKindCount, kPostOpKindCount);
  EXPECT_EQ(static_cast<int>(PostOpKind::kSquare), static_cast<int>(PostOpKind::kSquare));
  EXPECT_EQ(static_cast<int>(PostOpKind::kTanh), static_cast<int>(PostOpKind::kTanh));
  EXPECT_EQ(static_cast<int>(PostOpKind::kElu), static_cast<int>(PostOpKind::kElu));
}

}  // namespace
}  // namespace rshift
