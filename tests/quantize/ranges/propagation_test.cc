#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "quantize/ranges/groups.h"
#include "quantize/ranges/ranges.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

// Builds a graph of 1-D values and a table side by side.
class RangesTest : public testing::Test {
 protected:
  ValueId Value(const std::string& name, float low, float high) {
    table_.tensors.emplace_back(
        name,
        TensorRange{low, high, std::max(std::fabs(low), std::fabs(high)), low, high, "minmax"});
    return graph_.AddValue({name, DType::kF32, {4}, Layout::kPlain, {}, nullptr});
  }
  ValueId Input(const std::string& name, float low, float high) {
    graph_.inputs.push_back(Value(name, low, high));
    return graph_.inputs.back();
  }
  ValueId Node(Op op, std::vector<ValueId> inputs, const std::string& name, float low, float high) {
    const ValueId y = Value(name, low, high);
    graph_.AddNode({name + "_node", std::move(op), std::move(inputs), {y}});
    return y;
  }
  ValueId Slope(std::vector<float> slopes) {
    const auto count = static_cast<int64_t>(slopes.size());
    return graph_.AddConstant<float>("slope", DType::kF32, {count}, slopes);
  }
  void Propagate(QuantMode mode) {
    options_.mode = mode;
    result_ = PropagateRanges(graph_, table_, options_);
  }
  const ValueRange& Range(const std::string& name) {
    return result_.ranges[graph_.FindValue(name).index()];
  }
  bool Equal(const std::string& a, const std::string& b) {
    return SameRange(Range(a), Range(b), options_.mode);
  }

  static Op Of(BinaryOp op) {
    Binary binary;
    binary.op = op;
    return binary;
  }

  const Op kRelu = Clip{{0.0f, INFINITY}};
  Graph graph_;
  CalibrationTable table_;
  RangeOptions options_;
  RangeResult result_;
};

TEST_F(RangesTest, WithoutRulesTheTableSpeaks) {
  const ValueId x = Input("x", -1, 3);
  graph_.outputs = {Node(Unary{}, {x}, "y", 0.2f, 0.9f)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Range("x").is_signed);
  EXPECT_EQ(Range("x").threshold, 3);
  EXPECT_FALSE(Range("y").is_signed);
  Propagate(QuantMode::kAsymmetric);
  EXPECT_EQ(Range("x").low, -1);
  EXPECT_EQ(Range("y").low, 0);  // extended to hold 0
  EXPECT_EQ(Range("y").high, 0.9f);
  EXPECT_TRUE(result_.changes.empty());
}

TEST_F(RangesTest, MovementTakesTheInputsRange) {
  ValueId v = Input("x", -1, 3);
  v = Node(Reshape{}, {v}, "r", -1, 2.5f);
  v = Node(Slice{{0}, {1}}, {v}, "s", 0, 1);
  graph_.outputs = {Node(Unary{}, {v}, "y", 0, 1)};
  for (QuantMode mode : {QuantMode::kSymmetric, QuantMode::kAsymmetric}) {
    Propagate(mode);
    EXPECT_TRUE(Equal("x", "r") && Equal("x", "s"));
    ASSERT_EQ(result_.changes.size(), 2u);
    EXPECT_EQ(result_.changes[0].tensor, "r");
    EXPECT_EQ(result_.changes[0].rule, "ForwardCalibration(Reshape)");
    EXPECT_EQ(result_.changes[1].tensor, "s");
  }
  EXPECT_EQ(Range("s").low, -1);
}

TEST_F(RangesTest, ReluAloneGivesItsInputTheOutputsRangeAndSign) {
  ValueId v = Input("x", -5, 5);
  v = Node(Unary{}, {v}, "c", -3, 2);
  v = Node(Reshape{}, {v}, "r", -3, 2);
  v = Node(kRelu, {v}, "y", 0, 2);
  graph_.outputs = {Node(Unary{}, {v}, "z", 0, 1)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("c", "y") && Equal("r", "y"));
  EXPECT_FALSE(Range("c").is_signed);
  EXPECT_EQ(Range("c").threshold, 2);
  EXPECT_EQ(result_.changes.back().rule, "BackwardCalibration(Clip)");
}

// What a Relu cuts off of means, it does not cut off of what the means are made of.
TEST_F(RangesTest, ReluBehindAnInterpolationLeavesTheInputsItsRange) {
  for (const ResizeMode how : {ResizeMode::kLinear, ResizeMode::kNearest}) {
    graph_ = Graph();
    table_ = CalibrationTable();
    Resize resize;
    resize.mode = how;
    const ValueId x = Input("x", -4, 3), r = Node(resize, {x}, "r", -2, 2.5f);
    graph_.outputs = {Node(kRelu, {r}, "y", 0, 2.5f)};
    for (const QuantMode mode : {QuantMode::kSymmetric, QuantMode::kAsymmetric}) {
      Propagate(mode);
      EXPECT_TRUE(Equal("x", "r"));
      EXPECT_EQ(Equal("x", "y"), how == ResizeMode::kNearest);
    }
  }
}

TEST_F(RangesTest, ASecondReaderAnywhereInTheGroupForbidsIt) {
  ValueId v = Input("x", -5, 5);
  const ValueId c = Node(Unary{}, {v}, "c", -3, 2);
  v = Node(Reshape{}, {c}, "r", -3, 2);
  v = Node(kRelu, {v}, "y", 0, 2);
  const ValueId other = Node(Unary{}, {c}, "o", 0, 1);
  graph_.outputs = {v, other};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("c", "r"));
  EXPECT_FALSE(Equal("r", "y"));
}

TEST_F(RangesTest, AGraphOutputKeepsItsRange) {
  const ValueId x = Input("x", -5, 5);
  const ValueId c = Node(Unary{}, {x}, "c", -3, 2);
  graph_.outputs = {c, Node(kRelu, {c}, "y", 0, 2)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("c").threshold, 3);
}

TEST_F(RangesTest, SlopesNeedRoomForTheNegativeSide) {
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", -1, 2), b = Node(LeakyRelu{0.1f}, {a}, "b", -0.1f, 2);
  const ValueId c = Node(Unary{}, {x}, "c", -4, 2), d = Node(LeakyRelu{0.1f}, {c}, "d", -0.4f, 2);
  const ValueId e = Node(Unary{}, {x}, "e", -1, 2), f = Node(LeakyRelu{-0.5f}, {e}, "f", 0, 2);
  graph_.outputs = {b, d, f};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("a", "b"));
  EXPECT_FALSE(Equal("c", "d"));  // -4 does not fit [-2, 2]
  EXPECT_FALSE(Equal("e", "f"));
  Propagate(QuantMode::kAsymmetric);
  EXPECT_FALSE(Equal("a", "b"));  // -1 does not fit [-0.1, 2]
}

TEST_F(RangesTest, PReluLooksAtEverySlope) {
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", -1, 2);
  graph_.outputs = {Node(PRelu{}, {a, Slope({0.1f, 1.0f})}, "b", -1, 2)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("a").threshold, Range("b").threshold);
  Propagate(QuantMode::kAsymmetric);
  EXPECT_TRUE(Equal("a", "b"));
}

TEST_F(RangesTest, PReluWithALargeSlopeKeepsItsScales) {
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", -1, 2);
  graph_.outputs = {Node(PRelu{}, {a, Slope({0.1f, 1.5f})}, "b", -1.5f, 2.5f)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_FALSE(Equal("a", "b"));
}

TEST_F(RangesTest, ConcatPullsItsSingleReaders) {
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", 0, 1), b = Node(Unary{}, {x}, "b", -3, 2);
  const ValueId c = Node(Unary{}, {x}, "c", -1, 1);
  const ValueId y = Node(Concat{0}, {a, b, c}, "y", -3, 2);
  graph_.outputs = {y, Node(Unary{}, {c}, "o", 0, 1)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("a", "y") && Equal("b", "y"));
  EXPECT_FALSE(Equal("c", "y"));
  EXPECT_TRUE(Range("a").is_signed);
}

TEST_F(RangesTest, DecisionsFlowBackThroughChains) {
  // a -> LeakyRelu -> b -> Concat y -> MaxPool -> z: all of them take z's range.
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", -1, 2), b = Node(LeakyRelu{0.5f}, {a}, "b", -0.5f, 2);
  const ValueId y = Node(Concat{0}, {b, b}, "y", -0.5f, 2);
  graph_.outputs = {Node(MaxPool{}, {y}, "z", -0.2f, 1.9f)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("a", "z") && Equal("b", "z") && Equal("y", "z"));
  EXPECT_EQ(Range("a").threshold, 1.9f);
}

TEST_F(RangesTest, MaxPoolGoesForwardWhenItsInputHasOtherReaders) {
  const ValueId x = Input("x", -5, 5);
  const ValueId a = Node(Unary{}, {x}, "a", -3, 2);
  const ValueId p = Node(MaxPool{}, {a}, "p", -1, 2);
  graph_.outputs = {p, Node(Unary{}, {a}, "o", 0, 1)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Equal("a", "p"));
  EXPECT_EQ(Range("p").threshold, 3);
}

TEST_F(RangesTest, NumbersComparedWithChosenOnesShareTheirRange) {
  const ValueId x = Input("x", -1, 3), z = Input("z", -4, 2);
  const ValueId m = Node(Reduce{ReduceOp::kMax, {0}}, {x}, "m", 1, 2);
  const ValueId n = Node(Of(BinaryOp::kMax), {m, z}, "n", 0, 5);
  const ValueId e = graph_.AddValue({"e", DType::kBool, {4}, Layout::kPlain, {}, nullptr});
  graph_.AddNode({"e_node", Of(BinaryOp::kEqual), {x, n}, {e}});
  graph_.outputs = {e};
  for (const QuantMode mode : {QuantMode::kSymmetric, QuantMode::kAsymmetric}) {
    Propagate(mode);
    EXPECT_TRUE(Equal("x", "m"));
    EXPECT_TRUE(Equal("x", "n"));
  }
  EXPECT_EQ(Range("x").low, -1);
  EXPECT_EQ(Range("x").high, 5);
}

TEST_F(RangesTest, ComparisonsOfOtherNumbersKeepTheirRanges) {
  const ValueId x = Input("x", -1, 3);
  const ValueId y = Node(Reduce{ReduceOp::kMean, {0}}, {x}, "y", -0.5f, 0.5f);
  const ValueId e = graph_.AddValue({"e", DType::kBool, {4}, Layout::kPlain, {}, nullptr});
  graph_.AddNode({"e_node", Of(BinaryOp::kLess), {x, y}, {e}});
  graph_.outputs = {e};
  Propagate(QuantMode::kAsymmetric);
  EXPECT_EQ(Range("x").high, 3);
  EXPECT_EQ(Range("y").high, 0.5f);
}

TEST_F(RangesTest, PadWidensTheGroup) {
  const ValueId x = Input("x", 0, 1);
  graph_.outputs = {Node(Pad{PadMode::kConstant, {1}, {1}, -3.0f}, {x}, "y", -3, 1)};
  Propagate(QuantMode::kSymmetric);
  EXPECT_TRUE(Range("x").is_signed);
  EXPECT_EQ(Range("x").threshold, 3);
  Propagate(QuantMode::kAsymmetric);
  EXPECT_EQ(Range("x").low, -3);
  EXPECT_TRUE(Equal("x", "y"));
}

TEST_F(RangesTest, FixedRangesWinTheirGroup) {
  const ValueId x = Input("x", -5, 5);
  const ValueId r = Node(Reshape{}, {x}, "r", -5, 5);
  graph_.outputs = {Node(Pad{PadMode::kConstant, {1}, {1}, 9.0f}, {r}, "y", -5, 9)};
  options_.fixed["r"] = {true, 2.0f, 0, 0};
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("x").threshold, 2);
  EXPECT_EQ(Range("y").threshold, 2);
  options_.fixed["x"] = {true, 1.0f, 0, 0};
  EXPECT_THROW(Propagate(QuantMode::kSymmetric), Error);
}

TEST_F(RangesTest, FloatNodesTakeNoPart) {
  const ValueId x = Input("x", -5, 5);
  const ValueId c = Node(Unary{}, {x}, "c", -3, 2);
  graph_.outputs = {Node(kRelu, {c}, "y", 0, 2)};
  options_.float_tensors = {"y"};
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("c").threshold, 3);
}

TEST_F(RangesTest, LayoutCopiesNeedNoEntry) {
  const ValueId x = Input("x", -5, 5);
  const ValueId t = Node(Transpose{{0}}, {x}, "x__nhwc_1", 0, 0);
  graph_.outputs = {Node(Unary{}, {t}, "y", 0, 1)};
  table_.tensors.erase(table_.tensors.begin() + 1);
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("x__nhwc_1").threshold, 5);
  const std::vector<ValueId> values = CalibratedValues(graph_);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(graph_.value(values[1]).name, "y");
}

TEST_F(RangesTest, MissingAndForeignTensorsAreNamed) {
  const ValueId x = Input("x", -5, 5);
  graph_.outputs = {Node(Unary{}, {x}, "y", 0, 1)};
  const auto message = [&] { return ErrorOf([&] { Propagate(QuantMode::kSymmetric); }); };
  table_.tensors.emplace_back("z", TensorRange{});
  EXPECT_NE(message().find("'z'"), std::string::npos);
  table_.tensors.resize(1);
  EXPECT_NE(message().find("'y'"), std::string::npos);
}

TEST_F(RangesTest, TpuMlirNamesCarryTheOperator) {
  const ValueId x = Input("x", -5, 5);
  graph_.outputs = {Node(Unary{}, {x}, "y", 0, 1)};
  table_.method = "tpu-mlir";
  table_.tensors[1].first = "y_Sigmoid";
  Propagate(QuantMode::kSymmetric);
  EXPECT_EQ(Range("y").threshold, 1);
}

// x -> SiLU s -> Conv y, and what else reads s or joins it.
class ShiftRuleTest : public RangesTest {
 protected:
  void SetUp() override {
    options_.shift_negative = true;
    x_ = Input("x", -9, 8);
    s_ = Node(Unary{UnaryOp::kSilu}, {x_}, "s", -0.25f, 8);
  }
  ValueId Product(ValueId x, const std::string& name) {
    return Node(Conv{}, {x, Slope({1})}, name, -1, 1);
  }
  bool IsShifted(const std::string& name) {
    Propagate(QuantMode::kSymmetric);
    const ValueRange& range = Range(name);
    return !range.is_signed && range.low < 0;
  }
  ValueId x_, s_;
};

TEST_F(ShiftRuleTest, AFunctionBeforeProductsIsUnsigned) {
  graph_.outputs = {Product(s_, "y"), Product(s_, "z")};
  EXPECT_TRUE(IsShifted("s"));
  EXPECT_EQ(Range("s").low, -0.25f);
  EXPECT_EQ(Range("s").threshold, 8);
  ASSERT_EQ(result_.changes.size(), 1u);
  EXPECT_EQ(result_.changes[0].rule, kShiftNegative);
  EXPECT_TRUE(Range("x").is_signed && Range("y").is_signed);  // an input; an output
  options_.shift_negative = false;
  EXPECT_FALSE(IsShifted("s"));
}

TEST_F(ShiftRuleTest, AsymmetricRangesStay) {
  graph_.outputs = {Product(s_, "y")};
  Propagate(QuantMode::kAsymmetric);
  EXPECT_EQ(Range("s").low, -0.25f);
  EXPECT_TRUE(result_.changes.empty());
}

TEST_F(ShiftRuleTest, AnyOtherReaderPreventsIt) {
  const ValueId t = Node(Unary{}, {s_}, "t", 0, 1);
  graph_.outputs = {Product(s_, "y"), t};
  EXPECT_FALSE(IsShifted("s"));
}

TEST_F(ShiftRuleTest, AnOutputOfTheModelIsNotShifted) {
  graph_.outputs = {Product(s_, "y"), s_};
  EXPECT_FALSE(IsShifted("s"));
}

TEST_F(ShiftRuleTest, AReaderInF32PreventsIt) {
  graph_.outputs = {Product(s_, "y")};
  options_.float_tensors = {"y"};
  EXPECT_FALSE(IsShifted("s"));
}

TEST_F(ShiftRuleTest, AGivenRangeStays) {
  graph_.outputs = {Product(s_, "y")};
  options_.fixed["s"] = {true, 8.0f, 0, 0};
  EXPECT_FALSE(IsShifted("s"));
}

TEST_F(ShiftRuleTest, FarBelowZeroIsNotShifted) {
  const ValueId far = Node(Unary{UnaryOp::kElu}, {x_}, "far", -1, 1.9f);
  const ValueId near = Node(Unary{UnaryOp::kElu}, {x_}, "near", -1, 2);
  graph_.outputs = {Product(far, "y"), Product(near, "z")};
  EXPECT_FALSE(IsShifted("far"));
  EXPECT_TRUE(IsShifted("near"));
}

TEST_F(ShiftRuleTest, TheWholeGroupIsShiftedToItsLeastNumber) {
  const ValueId pool = Node(MaxPool{}, {s_}, "pool", -0.125f, 8);
  const ValueId other = Node(Unary{UnaryOp::kGelu}, {x_}, "other", -0.5f, 6);
  graph_.outputs = {Product(Node(Concat{0}, {pool, other}, "cat", -0.5f, 8), "y")};
  EXPECT_TRUE(IsShifted("cat"));
  EXPECT_EQ(Range("cat").low, -0.5f);
  EXPECT_TRUE(Equal("cat", "s") && Equal("cat", "pool") && Equal("cat", "other"));
}

TEST_F(ShiftRuleTest, AConcatWithAConvolutionsResultIsNotShifted) {
  const ValueId c = Node(Conv{}, {x_, Slope({1})}, "c", -0.5f, 6);
  graph_.outputs = {Product(Node(Concat{0}, {s_, c}, "cat", -0.5f, 8), "y")};
  EXPECT_FALSE(IsShifted("cat"));
}

TEST_F(ShiftRuleTest, APaddedValueIsWithinTheRange) {
  const ValueId padded = Node(Pad{PadMode::kConstant, {1}, {1}, -2.0f}, {s_}, "padded", -2, 8);
  graph_.outputs = {Product(padded, "y")};
  EXPECT_TRUE(IsShifted("padded"));
  EXPECT_EQ(Range("s").low, -2);
}

}  // namespace
}  // namespace rshift
