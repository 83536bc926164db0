// Comparisons, Mod, Pow, SquaredDifference and PRelu of two tensors with 16-bit integers: what each
// becomes, and that it errs by no more than NUMERICS.md section 29.11 says.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

QuantizeOptions All16(QuantMode mode) {
  QuantizeOptions options = Mode(mode);
  options.activation_bits = 16;
  return options;
}

// The second operand: computed, or a constant of the last dimension, or such a first one.
enum class Second { kComputed, kConstant, kConstantFirst };

struct Case {
  BinaryOp op;
  float a_low, a_high, b_low, b_high;
  double bound;  // quanta
};

TEST(Int16PairsTest, ErrorsAreBounded) {
  constexpr Case kCases[] = {{BinaryOp::kPow, 0.1f, 2, -2, 3, 0.75},
                             {BinaryOp::kMod, -5, 5, 0.5f, 2, 0.51},
                             {BinaryOp::kSquaredDifference, -3, 3, -2, 2, 1.51}};
  for (const Case& one : kCases) {
    for (const QuantMode mode : kModes) {
      for (const Second second : {Second::kComputed, Second::kConstant, Second::kConstantFirst}) {
        LittleGraph little(3);
        const Shape shape = {3, 5, 8};
        const bool first = second == Second::kConstantFirst;
        const ValueId a = first ? little.RandomConstant("a", {8}, one.a_low, one.a_high)
                                : little.Input("a", shape, one.a_low, one.a_high);
        const ValueId b =
            second == Second::kConstant
                ? little.Constant("b", {8}, {0.5f, 1, 2, 0.75f, 1.5f, 1, 0.5f, 2})
                : little.Input("b", first ? shape : Shape{3, 5, 1}, one.b_low, one.b_high);
        little.Output(little.Add("y", Binary{one.op, {}}, {a, b}, shape));
        const QuantizeResult result =
            QuantizeGraph(little.graph(), little.Calibrate(), All16(mode));
        SCOPED_TRACE(OpName(Binary{one.op, {}}));
        EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).dtype, DType::kS16);
        EXPECT_EQ(Count<Binary>(result.graph), 0);
        EXPECT_EQ(Count<QBinaryTable>(result.graph), 0);
        // A constant of many numbers is itself rounded to 16 bits.
        if (first) continue;
        EXPECT_LE(OwnError(little, result, "y"), one.bound);
      }
    }
  }
}

TEST(Int16PairsTest, ExponentsOfPowersOfTwoAreNotRounded) {
  LittleGraph little;
  const ValueId x = little.Input("x", {4, 4}, -2, 2);
  const ValueId p = little.Constant("p", {4}, {1, 2, 3, 0});
  little.Output(little.Add("y", Binary{BinaryOp::kPow, {}}, {x, p}, {4, 4}));
  for (const QuantMode mode : kModes) {
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16(mode));
    EXPECT_EQ(Count<QPowS16>(result.graph), 1);
    EXPECT_LE(OwnError(little, result, "y"), 1.0);  // bases below 0, too
  }
}

TEST(Int16PairsTest, SlopesThatAreComputed) {
  for (const QuantMode mode : kModes) {
    LittleGraph little;
    const Shape shape = {2, 6, 8};
    const ValueId x = little.Input("x", shape, -4, 4),
                  slopes = little.Input("slopes", shape, -1, 2);
    little.Output(little.Add("y", PRelu{}, {x, slopes}, shape));
    const QuantizeResult result = QuantizeGraph(little.graph(), little.Calibrate(), All16(mode));
    EXPECT_EQ(Count<isa::MulS16>(result.graph), 1);
    EXPECT_EQ(result.graph.value(result.graph.FindValue("y")).dtype, DType::kS16);
    EXPECT_LE(OwnError(little, result, "y"), 1.6);
  }
}

// One command of the integers, whichever side is constant; results of the real numbers.
TEST(Int16PairsTest, ComparisonsReadSixteenBits) {
  for (const BinaryOp op : {BinaryOp::kEqual, BinaryOp::kLess, BinaryOp::kLessOrEqual,
                            BinaryOp::kGreater, BinaryOp::kGreaterOrEqual}) {
    for (const Second second : {Second::kComputed, Second::kConstant, Second::kConstantFirst}) {
      LittleGraph little;
      const Shape shape = {4, 8};
      const auto computed = [&](const std::string& name) {
        return little.Add(name, Unary{UnaryOp::kTanh}, {little.Input(name + "_in", shape)}, shape);
      };
      const ValueId x = computed("x");
      const ValueId other =
          second == Second::kComputed
              ? computed("other")
              : little.Constant("other", {8}, {0, 0.25f, -0.5f, 1, -1, 0.125f, 0, 0.75f});
      const bool first = second == Second::kConstantFirst;
      little.Output(little.AddBool("y", Binary{op, {}},
                                   first ? std::vector{other, x} : std::vector{x, other}, shape));
      const QuantizeResult result =
          QuantizeGraph(little.graph(), little.Calibrate(), All16(QuantMode::kSymmetric));
      EXPECT_EQ(Count<isa::CompareS16>(result.graph), 1);
      EXPECT_EQ(Count<isa::RequantizeS16>(result.graph), 0);
    }
  }
}

// At the end of the range of what is compared, within it, beyond it, and of NaN.
TEST(Int16PairsTest, ConstantsAreIntegersOfWhatTheyAreComparedWith) {
  for (const float share : {1.0f, 0.5f, 0.0f, -0.25f, 2.0f, NAN}) {
    LittleGraph little;
    const ValueId s = little.Add("s", Unary{UnaryOp::kTanh}, {little.Input("x", {4, 8})}, {4, 8});
    const CalibrationTable measured = [&] {
      LittleGraph alone;
      alone.Output(alone.Add("s", Unary{UnaryOp::kTanh}, {alone.Input("x", {4, 8})}, {4, 8}));
      return alone.Calibrate();
    }();
    const float end = measured.Find("s")->threshold;
    const ValueId c = little.Constant("c", {}, {share * end});
    little.Output(little.AddBool("y", Binary{BinaryOp::kGreaterOrEqual, {}}, {s, c}, {4, 8}));
    const QuantizeResult result =
        QuantizeGraph(little.graph(), little.Calibrate(), All16(QuantMode::kSymmetric));
    ASSERT_EQ(Count<isa::CompareS16>(result.graph), std::isnan(share) ? 0 : 1) << share;
    for (const Node& node : result.graph.nodes()) {
      const auto* compare = std::get_if<isa::CompareS16>(&node.op);
      if (compare == nullptr) continue;
      EXPECT_EQ(compare->factor == compare->factor2, share <= 1) << share;
      if (share > 1) continue;
      const auto numbers = result.graph.value(node.inputs[1]).constant->As<int16_t>();
      EXPECT_EQ(numbers[0], share == 1 ? 32767 : static_cast<int>(share * 32768)) << share;
    }
  }
}

}  // namespace
}  // namespace rshift::test
