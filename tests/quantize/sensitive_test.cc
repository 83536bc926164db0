// Functions that integers cannot follow are named in the report, others are not.
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

TensorRange Range(float low, float high) {
  return {low, high, std::max(-low, high), low, high, "max"};
}

// The note on y = f(x) with these ranges; empty without one.
std::string NoteOn(Op op, const TensorRange& x, const TensorRange& y, bool constant_first = false) {
  LittleGraph little;
  const Shape shape = {2, 3};
  std::vector<ValueId> inputs = {little.Input("x", shape)};
  if (std::holds_alternative<Binary>(op)) {
    const ValueId one = little.Constant("one", {1}, {1.0f});
    inputs.insert(constant_first ? inputs.begin() : inputs.end(), one);
  }
  little.Output(little.Add("y", std::move(op), inputs, shape));
  CalibrationTable table;
  table.tensors = {{"x", x}, {"y", y}};
  const auto notes = QuantizeGraph(little.graph(), table, {}).report.notes;
  return notes.empty() ? "" : Cat(notes[0].op, ": ", notes[0].text);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Sensitive, LogOfASigmoidLosesTheSmallValues) {
  const std::string note = NoteOn(Unary{UnaryOp::kLog}, Range(0.0f, 1.0f), Range(-12.0f, 0.0f));
  EXPECT_TRUE(Contains(note, "Log: it has no finite value at 0, which its input 'x' reaches"))
      << note;
}

TEST(Sensitive, TanHasPoles) {
  const std::string note = NoteOn(Unary{UnaryOp::kTan}, Range(-3, 3), Range(-250000, 250000));
  EXPECT_TRUE(Contains(note, "Tan: calibration saw results from -250000 to 250000, but")) << note;
  const std::string narrow = NoteOn(Unary{UnaryOp::kTan}, Range(-3, 3), Range(-40, 40));
  EXPECT_TRUE(Contains(narrow, "Tan: near ")) << narrow;
}

TEST(Sensitive, BoundsOfTheFunctionAreNotWhatCalibrationSaw) {
  // A gate whose input hardly moves is a gate all the same.
  TensorRange bounds = Range(0, 1);
  EXPECT_TRUE(Contains(NoteOn(Unary{UnaryOp::kHardSigmoid}, Range(-0.2f, 0.2f), bounds),
                       "HardSigmoid: calibration saw results from 0 to 1, but"));
  bounds.method = kKnownMethod;
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kHardSigmoid}, Range(-0.2f, 0.2f), bounds), "");
}

TEST(Sensitive, AQuotientByWhatReachesZeroHasAPole) {
  const Binary div{BinaryOp::kDiv, {}};
  EXPECT_TRUE(Contains(NoteOn(div, Range(-1, 1), Range(-90, 90), true), "no finite value at 0"));
  EXPECT_EQ(NoteOn(div, Range(-1, 1), Range(-1, 1)), "");
  EXPECT_TRUE(Contains(NoteOn(Unary{UnaryOp::kReciprocal}, Range(0.005f, 1), Range(0, 200)),
                       "of its range"));
}

TEST(Sensitive, OrdinaryFunctionsAreNotNoted) {
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kSigmoid}, Range(-8, 8), Range(0, 1)), "");
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kTanh}, Range(-4, 4), Range(-1, 1)), "");
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kSqrt}, Range(0.25f, 4), Range(0, 2)), "");
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kLog}, Range(0.5f, 4), Range(-0.7f, 1.4f)), "");
  EXPECT_EQ(NoteOn(Unary{UnaryOp::kSilu}, Range(-8, 8), Range(-0.3f, 8)), "");
}

}  // namespace
}  // namespace rshift::test
