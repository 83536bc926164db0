#include "tools/requantize_rule.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "pipeline/usage.h"
#include "quantize/numerics/ascend.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/qnnpack.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/tflite_multiplier.h"

namespace rshift {
namespace {

// How a variant makes its words from a scale.
enum class Words {
  kBits8,
  kBits16,
  kBits25,
  kBits32,
  kTfLite,
  kTfLiteSingle,
  kMantissa,
  kFloat,
  kDouble
};

struct Variation {
  std::string name;
  Rounding rounding;
  Words words;
};

// The default comes first; its name is "" where there is nothing to choose.
const std::vector<Variation>& VariationsOf(ProfileId profile) {
  using enum Words;
  static const std::map<ProfileId, std::vector<Variation>> all = {
      {ProfileId::kTpu,
       {{"32", Rounding::kHalfUp, kBits32},
        {"25", Rounding::kHalfUp, kBits25},
        {"16", Rounding::kHalfUp, kBits16},
        {"8", Rounding::kHalfUp, kBits8}}},
      {ProfileId::kTfLite,
       {{"d2", Rounding::kTwoStep, kTfLite},
        {"d1", Rounding::kHalfUp, kTfLite},
        {"f2", Rounding::kTwoStep, kTfLiteSingle}}},
      {ProfileId::kTfLiteRef,
       {{"d2", Rounding::kTwoStep, kTfLite}, {"fc", Rounding::kDoubleAway, kDouble}}},
      {ProfileId::kTfLiteRuy, {{"", Rounding::kTwoStepUp, kTfLite}}},
      {ProfileId::kTfLiteXnnpack, {{"", Rounding::kFloatEven, kFloat}}},
      {ProfileId::kOnnxRuntime, {{"", Rounding::kFloatEven, kFloat}}},
      {ProfileId::kCaffe2,
       {{"q31", Rounding::kTwoStep, kMantissa},
        {"fp32", Rounding::kFloatEven, kFloat},
        {"precise", Rounding::kHalfAway, kMantissa}}},
      {ProfileId::kOneDnn, {{"", Rounding::kFloatZeroEven, kFloat}}},
      {ProfileId::kOpenVino, {{"", Rounding::kFloatZeroEven, kFloat}}},
      {ProfileId::kAscend,
       {{"round", Rounding::kHalfFloat, kFloat},
        {"away", Rounding::kHalfFloat, kFloat},
        {"floor", Rounding::kHalfFloat, kFloat},
        {"ceil", Rounding::kHalfFloat, kFloat},
        {"truncate", Rounding::kHalfFloat, kFloat},
        {"fp16", Rounding::kHalfFloat, kFloat}}}};
  return all.at(profile);
}

const Variation& FindVariation(ProfileId profile, const std::string& name) {
  const std::vector<Variation>& all = VariationsOf(profile);
  if (name.empty()) return all.front();
  std::string names;
  for (const Variation& variation : all) {
    if (variation.name == name) return variation;
    names += (names.empty() ? "" : ", ") + variation.name;
  }
  if (names.empty()) throw UsageError(Cat("profile ", Name(profile), " has no variants"));
  throw UsageError(
      Cat("unknown variant '", name, "' of profile ", Name(profile), ", expected one of ", names));
}

void CheckCombination(const RequantizeArguments& a, ProfileId profile, bool integer) {
  const bool pair = a.multiplier || a.rshift;
  const char* name = Name(profile);
  RequireUsage(!pair || integer, "--multiplier and --rshift: profile ", name,
               a.variant.empty() ? "" : " " + a.variant,
               " scales in floating point; give --scale instead");
  RequireUsage(a.multiplier.has_value() == a.rshift.has_value(),
               "--multiplier and --rshift belong together; give both");
  RequireUsage(pair != a.scale.has_value(), "expected either --scale or --multiplier and --rshift",
               pair ? ", not both" : "");
  RequireUsage(a.bias == 0 || profile == ProfileId::kOneDnn || profile == ProfileId::kOpenVino ||
                   profile == ProfileId::kAscend,
               "--bias: profile ", name, " has an integer bias; add it to the accumulators");
  RequireUsage(!a.quant_scale || profile == ProfileId::kAscend,
               "--quant-scale is for profile ascend alone");
}

void CheckValues(const RequantizeArguments& a, const RequantizeRule& rule) {
  RequireUsage(!a.scale || (std::isfinite(*a.scale) && *a.scale > 0), "--scale is ",
               a.scale.value_or(0), ", expected a finite number > 0");
  RequireUsage(!a.multiplier || (*a.multiplier >= 0 && *a.multiplier <= INT32_MAX),
               "--multiplier is ", a.multiplier.value_or(0), ", expected 0..2147483647");
  RequireUsage(!a.rshift || (*a.rshift >= 0 && *a.rshift <= numerics::kMaxRshift), "--rshift is ",
               a.rshift.value_or(0), ", expected 0..", numerics::kMaxRshift);
  RequireUsage(a.zero_point >= rule.lo && a.zero_point <= rule.hi, "--zero-point is ", a.zero_point,
               ", expected ", rule.lo, "..", rule.hi, " for type ", a.type);
  RequireUsage(std::isfinite(a.bias), "--bias is not a finite number");
}

float AsFloat(const char* option, double scale) {
  const auto f = static_cast<float>(scale);
  RSHIFT_REQUIRE(std::isfinite(f) && f > 0, ErrorCode::kInvalidInput, option, " is ", scale,
                 ", which is no positive f32, but this profile's scales are f32");
  return f;
}

void SetPair(const RequantWords& pair, RequantizeRule* rule) {
  rule->multiplier = pair.multiplier;
  rule->rshift = pair.rshift;
}

void SetWords(Words words, double scale, RequantizeRule* rule) {
  switch (words) {
    case Words::kBits8:
      return SetPair(numerics::QuantizeMultiplier(scale, 8), rule);
    case Words::kBits16:
      return SetPair(numerics::QuantizeMultiplier(scale, 16), rule);
    case Words::kBits25:
      return SetPair(numerics::AccumulatorMultiplier(scale, 25), rule);
    case Words::kBits32:
      return SetPair(numerics::AccumulatorMultiplier(scale), rule);
    case Words::kTfLite:
      return SetPair(numerics::TfLiteMultiplier(scale), rule);
    case Words::kTfLiteSingle:
      return SetPair(numerics::TfLiteMultiplier(static_cast<double>(AsFloat("--scale", scale))),
                     rule);
    case Words::kMantissa:
      return SetPair(numerics::QnnpackMultiplier(AsFloat("--scale", scale)), rule);
    case Words::kFloat:
      rule->scale = AsFloat("--scale", scale);
      rule->multiplier = numerics::FloatToWord(rule->scale);
      rule->rshift =
          rule->rounding == Rounding::kFloatZeroEven ? numerics::FloatToWord(rule->bias) : 0;
      return;
    case Words::kDouble:
      rule->multiplier = numerics::UpperWord(scale);
      rule->rshift = numerics::LowerWord(scale);
      return;
  }
}

// fp16: AscendQuant's scale in binary16, in its sqrt_mode form where that could not hold it.
void SetEpilogue(const RequantizeArguments& a, const std::string& variant, RequantizeRule* rule) {
  static const std::map<std::string, RealRounding> roundings = {
      {"round", RealRounding::kEven}, {"fp16", RealRounding::kEven},
      {"away", RealRounding::kAway},  {"floor", RealRounding::kFloor},
      {"ceil", RealRounding::kCeil},  {"truncate", RealRounding::kTruncate}};
  rule->epilogue.mode = roundings.at(variant);
  rule->bias = numerics::RoundToHalf(rule->bias);
  RequireUsage(std::isfinite(rule->bias), "--bias is ", a.bias, ", which no fp16 holds");
  rule->epilogue.quant_scale = AsFloat("--quant-scale", a.quant_scale.value_or(1));
  rule->epilogue.quant_offset = static_cast<float>(rule->zero);
  if (variant != "fp16") return;
  const numerics::AscendScale scale = numerics::MakeAscendScale(rule->epilogue.quant_scale);
  rule->epilogue.quant_scale = numerics::AttributeInHalf(scale.value);
  rule->epilogue.sqrt_quant = scale.sqrt_mode;
}

std::string DescribeFloat(const char* name, float value) {
  char text[96];
  std::snprintf(text, sizeof(text), "%s %.9g (f32 0x%08x)", name, static_cast<double>(value),
                std::bit_cast<uint32_t>(value));
  return text;
}

}  // namespace

std::vector<std::string> VariantsOf(ProfileId profile) {
  std::vector<std::string> names;
  for (const Variation& variation : VariationsOf(profile)) {
    if (!variation.name.empty()) names.push_back(variation.name);
  }
  return names;
}

RequantizeRule MakeRequantizeRule(const RequantizeArguments& a) {
  const ProfileId profile = ParseProfile(a.profile);
  const Variation& variation = FindVariation(profile, a.variant);
  RequireUsage(a.type == "s8" || a.type == "u8", "--type is ", a.type, ", expected s8 or u8");
  RequantizeRule rule;
  rule.rounding = variation.rounding;
  rule.lo = a.type == "u8" ? 0 : -128;
  rule.hi = a.type == "u8" ? 255 : 127;
  CheckCombination(a, profile, numerics::IsIntegerRounding(rule.rounding));
  CheckValues(a, rule);
  rule.zero = static_cast<int32_t>(a.zero_point);
  rule.bias = a.bias;
  if (a.multiplier) {
    rule.multiplier = static_cast<int32_t>(*a.multiplier);
    rule.rshift = static_cast<int32_t>(*a.rshift);
  } else {
    SetWords(variation.words, *a.scale, &rule);
  }
  if (rule.rounding == Rounding::kHalfFloat) SetEpilogue(a, variation.name, &rule);
  return rule;
}

int32_t RequantizeRule::Apply(int32_t accumulator) const {
  if (rounding == Rounding::kHalfFloat) {
    const float h = numerics::DequantizeHalf(accumulator, scale, bias, epilogue);
    return numerics::QuantizeHalf(h, epilogue, lo, hi);
  }
  return numerics::RequantizeBy(rounding, accumulator, multiplier, rshift, zero, lo, hi);
}

std::string RequantizeRule::Describe() const {
  if (numerics::IsIntegerRounding(rounding)) {
    return Cat("multiplier ", multiplier, " rshift ", rshift);
  }
  if (rounding == Rounding::kDoubleAway) {
    char text[64];
    std::snprintf(text, sizeof(text), "scale %.17g (f64)",
                  numerics::WordsToDouble(multiplier, rshift));
    return text;
  }
  if (rounding != Rounding::kHalfFloat) return DescribeFloat("scale", scale);
  char packed[48];
  std::snprintf(packed, sizeof(packed), ", packed 0x%012llx",
                static_cast<unsigned long long>(numerics::PackAscendDeqScale({scale, 0, 0})));
  return DescribeFloat("deq_scale", scale) + packed +
         DescribeFloat(", quant scale", epilogue.quant_scale) +
         (epilogue.sqrt_quant ? " twice (sqrt_mode)" : "");
}

}  // namespace rshift
