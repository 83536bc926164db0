// Every function of quantize/numerics against the rows of golden/, which independent Python made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "isa/attributes.h"
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/ascend.h"
#include "quantize/numerics/average_forms.h"
#include "quantize/numerics/average_pool.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/post_ops.h"
#include "quantize/numerics/qnnpack.h"
#include "quantize/numerics/requantize.h"
#include "quantize/numerics/tflite_multiplier.h"
#include "tests/numerics/csv.h"

namespace rshift {
namespace {

void Report(const char* name, int64_t rows) {
  std::printf("%s: %lld rows compared\n", name, static_cast<long long>(rows));
}

Rounding PathOf(const std::string& name) {
  if (name == "half_up") return Rounding::kHalfUp;
  if (name == "two_step") return Rounding::kTwoStep;
  if (name == "two_step_up") return Rounding::kTwoStepUp;
  EXPECT_EQ(name, "half_away");
  return Rounding::kHalfAway;
}

TEST(Golden, Multiplier) {
  Report("multiplier", ForEachRow("multiplier", [](const CsvRow& row) {
           const RequantWords m =
               numerics::QuantizeMultiplier(row.Double("scale"), row.Int("bits"));
           EXPECT_EQ(m.multiplier, row.Int("multiplier"));
           EXPECT_EQ(m.rshift, row.Int("rshift"));
         }));
}

TEST(Golden, TfLiteMultiplier) {
  Report("tflite_multiplier", ForEachRow("tflite_multiplier", [](const CsvRow& row) {
           const float x = row.Float("scale_x"), w = row.Float("scale_w"), y = row.Float("scale_y");
           const RequantWords d = numerics::TfLiteMultiplier(numerics::TfLiteScaleDouble(x, w, y));
           const RequantWords f = numerics::TfLiteMultiplier(numerics::TfLiteScaleSingle(x, w, y));
           EXPECT_EQ(d, (RequantWords{row.Int("multiplier_double"), row.Int("rshift_double")}));
           EXPECT_EQ(f, (RequantWords{row.Int("multiplier_float"), row.Int("rshift_float")}));
         }));
}

TEST(Golden, Requantize) {
  std::array<std::array<int, 63>, kRoundingCount> shifts{};
  Report("requantize", ForEachRow("requantize", [&](const CsvRow& row) {
           const Rounding rounding = PathOf(row.Text("path"));
           const int32_t acc = row.Int("acc"), m = row.Int("multiplier"), r = row.Int("rshift");
           EXPECT_EQ(numerics::ScaleInteger(rounding, acc, m, r), row.Long("rounded"));
           EXPECT_EQ(
               numerics::RequantizeBy(rounding, acc, m, r, row.Int("zero"), row.lo(), row.hi()),
               row.Int("y"));
           ++shifts[static_cast<size_t>(rounding)][r];
         }));
  for (const Rounding rounding :
       {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kTwoStepUp, Rounding::kHalfAway}) {
    for (const int count : shifts[static_cast<size_t>(rounding)]) EXPECT_GE(count, 15);
  }
}

TEST(Golden, Double) {
  Report("double", ForEachRow("double", [](const CsvRow& row) {
           const double scale = row.Double("scale");
           EXPECT_EQ(numerics::RequantizeBy(Rounding::kDoubleAway, row.Int("acc"),
                                            numerics::UpperWord(scale), numerics::LowerWord(scale),
                                            row.Int("zero"), row.lo(), row.hi()),
                     row.Int("y"));
         }));
}

TEST(Golden, Qnnpack) {
  Report("qnnpack", ForEachRow("qnnpack", [](const CsvRow& row) {
           const float scale = row.Float("scale");
           const RequantWords m = numerics::QnnpackMultiplier(scale);
           EXPECT_EQ(m, (RequantWords{row.Int("multiplier"), row.Int("rshift")}));
           EXPECT_EQ(m, numerics::MantissaMultiplier(scale));
           const auto with = [&](Rounding rounding, int32_t word) {
             return numerics::RequantizeBy(rounding, row.Int("acc"), word, m.rshift,
                                           row.Int("zero"), row.lo(), row.hi());
           };
           EXPECT_EQ(with(Rounding::kTwoStep, m.multiplier), row.Int("q31"));
           EXPECT_EQ(with(Rounding::kFloatEven, numerics::FloatToWord(scale)), row.Int("fp32"));
           EXPECT_EQ(with(Rounding::kHalfAway, m.multiplier), row.Int("precise"));
         }));
}

TEST(Golden, Float) {
  Report("float", ForEachRow("float", [](const CsvRow& row) {
           const int32_t scale = numerics::FloatToWord(row.Float("scale"));
           const int32_t bias = numerics::FloatToWord(row.Float("bias"));
           const auto with = [&](Rounding rounding) {
             return numerics::RequantizeBy(rounding, row.Int("acc"), scale, bias, row.Int("zero"),
                                           row.lo(), row.hi());
           };
           EXPECT_EQ(with(Rounding::kFloatEven), row.Int("even"));
           EXPECT_EQ(with(Rounding::kFloatZeroEven), row.Int("zero_even"));
         }));
}

PostOpKind KindOf(const std::string& name) {
  using Kind = PostOpKind;
  static const std::map<std::string, Kind> kinds = {
      {"sum", Kind::kSum}, {"relu", Kind::kRelu}, {"linear", Kind::kLinear}, {"clip", Kind::kClip},
      {"abs", Kind::kAbs}, {"sqrt", Kind::kSqrt}, {"square", Kind::kSquare}};
  return kinds.at(name);
}

TEST(Golden, PostOp) {
  Report("post_op", ForEachRow("post_op", [](const CsvRow& row) {
           const PostOp op{KindOf(row.Text("op")), row.Float("alpha"), row.Float("beta"),
                           row.Float("op_scale")};
           const float f =
               numerics::ScaledAccumulator(row.Int("acc"), row.Float("bias"), row.Float("scale"));
           const float after = numerics::ApplyPostOp(op, f, row.Int("old"));
           EXPECT_EQ(numerics::RoundWithZero(after, row.Int("zero"), row.lo(), row.hi()),
                     row.Int("y"));
         }));
}

RealRounding RealRoundingOf(const std::string& name) {
  static const std::map<std::string, RealRounding> roundings = {
      {"even", RealRounding::kEven},
      {"away", RealRounding::kAway},
      {"floor", RealRounding::kFloor},
      {"ceil", RealRounding::kCeil},
      {"truncate", RealRounding::kTruncate}};
  return roundings.at(name);
}

TEST(Golden, Ascend) {
  Report("ascend", ForEachRow("ascend", [](const CsvRow& row) {
           HalfEpilogue epilogue;
           epilogue.relu = row.Flag("relu");
           epilogue.sqrt_dequant = row.Flag("sqrt_dequant");
           epilogue.sqrt_quant = row.Flag("sqrt_quant");
           epilogue.quant_scale = row.Float("scale");
           epilogue.quant_offset = row.Float("offset");
           epilogue.mode = RealRoundingOf(row.Text("rounding"));
           const float h = numerics::DequantizeHalf(row.Int("acc"), row.Float("deq_scale"),
                                                    row.Float("bias"), epilogue);
           EXPECT_EQ(FloatToHalf(h), row.Int("half_bits"));
           EXPECT_EQ(numerics::QuantizeHalf(h, epilogue, row.lo(), row.hi()), row.Int("y"));
         }));
}

TEST(Golden, AscendPack) {
  Report("ascend_pack", ForEachRow("ascend_pack", [](const CsvRow& row) {
           const numerics::AscendDeqScale word{row.Float("deq_scale"),
                                               static_cast<uint8_t>(row.Int("shift")),
                                               static_cast<int8_t>(row.Int("offset_w"))};
           EXPECT_EQ(numerics::PackAscendDeqScale(word), row.Word("packed"));
         }));
}

TEST(Golden, Caffe2Add) {
  Report("caffe2_add", ForEachRow("caffe2_add", [](const CsvRow& row) {
           const numerics::QnnpackAddFactors f = numerics::QnnpackAdd(
               row.Float("scale_a"), row.Float("scale_b"), row.Float("scale_y"));
           ASSERT_TRUE(f.ok);
           EXPECT_EQ(f.multiplier_a, row.Int("multiplier_a"));
           EXPECT_EQ(f.multiplier_b, row.Int("multiplier_b"));
           EXPECT_EQ(f.shift, row.Int("shift"));
           const int64_t sum = int64_t{row.Int("a") - row.Int("zero_a")} * f.multiplier_a +
                               int64_t{row.Int("b") - row.Int("zero_b")} * f.multiplier_b;
           EXPECT_LE(sum < 0 ? -sum : sum, INT32_MAX);
           EXPECT_EQ(numerics::Clamp(numerics::ShiftRightAway(sum, f.shift) + row.Int("zero_y"),
                                     row.lo(), row.hi()),
                     row.Int("y"));
         }));
}

TEST(Golden, TfLiteAdd) {
  Report("tflite_add", ForEachRow("tflite_add", [](const CsvRow& row) {
           const Rounding rounding = PathOf(row.Text("path"));
           const double a = row.Double("scale_a"), b = row.Double("scale_b");
           const double twice = 2 * std::max(a, b);
           const auto pair = [](double scale) { return numerics::TfLiteMultiplier(scale); };
           const RequantWords ma = pair(a / twice), mb = pair(b / twice);
           const RequantWords my = pair(twice / (1048576.0 * row.Double("scale_y")));
           const int32_t u = numerics::AddShiftedTerm(rounding, row.Int("a") - row.Int("zero_a"),
                                                      20, ma.multiplier, ma.rshift);
           const int32_t v = numerics::AddShiftedTerm(rounding, row.Int("b") - row.Int("zero_b"),
                                                      20, mb.multiplier, mb.rshift);
           EXPECT_EQ(numerics::RequantizeBy(rounding, u + v, my.multiplier, my.rshift,
                                            row.Int("zero_y"), row.lo(), row.hi()),
                     row.Int("y"));
         }));
}

TEST(Golden, FmaAdd) {
  Report("fma_add", ForEachRow("fma_add", [](const CsvRow& row) {
           const int32_t shift = numerics::UnsignedShift(row.lo() < 0);
           EXPECT_EQ(numerics::AddFma(row.Int("a") + shift, row.Int("b") + shift,
                                      row.Float("ratio_a"), row.Float("ratio_b"),
                                      row.Float("fixed"), shift, row.lo(), row.hi()),
                     row.Int("y"));
         }));
}

int32_t Average(const CsvRow& row, const std::vector<int32_t>& taps) {
  const std::string& form = row.Text("form");
  const auto count = static_cast<int32_t>(taps.size());
  const int32_t zero_x = row.Int("zero_x"), zero_y = row.Int("zero_y");
  const float scale_x = row.Float("scale_x"), scale_y = row.Float("scale_y");
  int32_t sum = 0;
  float total = 0;
  for (const int32_t tap : taps) {
    sum += tap;
    total += numerics::DequantizeValue(tap, scale_x, zero_x);
  }
  if (form == "integer") return numerics::AverageInteger(sum, count, row.lo(), row.hi());
  if (form == "scale_offset") {
    return numerics::AveragePool(sum, count, scale_x / scale_y, row.Float("offset"), row.lo(),
                                 row.hi());
  }
  if (form == "dequantized") {
    return numerics::AverageDequantized(total, count, scale_y, zero_y,
                                        numerics::UnsignedShift(row.lo() < 0), row.lo(), row.hi());
  }
  EXPECT_EQ(form, "scale_sum_away");
  return numerics::AverageScaleAway(sum - count * zero_x, count, scale_x / scale_y, zero_y,
                                    row.lo(), row.hi());
}

TEST(Golden, AveragePool) {
  Report("average_pool", ForEachRow("average_pool", [](const CsvRow& row) {
           std::vector<int32_t> taps;
           for (const std::string& tap : Split(row.Text("taps"), ';')) {
             taps.push_back(std::stoi(tap));
           }
           EXPECT_EQ(Average(row, taps), row.Int("y"));
         }));
}

}  // namespace
}  // namespace rshift
