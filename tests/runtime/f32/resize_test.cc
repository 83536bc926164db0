#include <gtest/gtest.h>

#include <cmath>

#include "isa/functions.h"
#include "tests/runtime/f32/command_harness.h"
#include "tests/runtime/f32/resize_cases.h"

namespace rshift {
namespace {

using namespace rshift::testing;

TestTensor Sawtooth(const Shape& shape) {
  std::vector<float> values(NumElements(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>((i * 37 + 11) % 101) / 16.0 - 3);
  }
  return Make<float>(shape, values);
}

CommandCase CaseOf(const ResizeCase& expected, const TestTensor& x, const Shape& out,
                   const std::vector<float>& scales) {
  CommandCase test(Opcode::kResizeF32,
                   {{Field::kSrc, x}, {Field::kList, ConstantList<float>(scales)}}, DType::kF32,
                   out);
  test.Set(Field::kMode, expected.mode).Set(Field::kCoordinate, expected.coordinate);
  test.SetFloat(Field::kAlphaF, expected.cubic_a).Set(Field::kFlags, expected.exclude_outside);
  return test;
}

TEST(ResizeTest, AgreesWithOnnxRuntime) {
  int number = 0;
  for (const ResizeCase& expected : kResizeCases) {
    SCOPED_TRACE(::testing::Message()
                 << "case " << number++ << " mode " << expected.mode << " coordinate "
                 << expected.coordinate << " " << ToString(expected.in));
    const CommandCase test = CaseOf(expected, Sawtooth(expected.in), expected.out, expected.scales);
    ExpectClose(RunOnAnyThreads(test).As<float>(), expected.expected, 2e-6);
  }
}

// [N, 1, H, W] values, each repeated over 21 channels as NHWC, must give the same image in every
// channel.
TEST(ResizeTest, ChannelsLastGivesTheSameImage) {
  constexpr int64_t kChannels = 21;
  for (const ResizeCase& expected : kResizeCases) {
    if (expected.in.size() != 4 || expected.in[1] != 1) continue;
    const TestTensor plain = Sawtooth(expected.in);
    std::vector<float> repeated;
    std::vector<double> want;
    for (const float value : plain.As<float>()) repeated.insert(repeated.end(), kChannels, value);
    for (const double value : expected.expected) want.insert(want.end(), kChannels, value);
    const Shape in{expected.in[0], expected.in[2], expected.in[3], kChannels};
    const Shape out{expected.out[0], expected.out[2], expected.out[3], kChannels};
    const std::vector<float> scales{1, expected.scales[2], expected.scales[3], 1};
    const CommandCase test = CaseOf(expected, Make<float>(in, repeated), out, scales);
    ExpectClose(RunOnAnyThreads(test).As<float>(), want, 2e-6);
  }
}

// Linear interpolation reproduces a linear function away from the border, in all dimensions at
// once.
TEST(ResizeTest, FourDimensionsAtOnce) {
  const Shape in{3, 4, 3, 5}, out{6, 8, 6, 10};
  std::vector<float> values;
  ForEachIndex(in, [&](const Shape& i) {
    values.push_back(static_cast<float>(i[0] + 10 * i[1] + 100 * i[2] + 1000 * i[3]));
  });
  ResizeCase attributes{};
  attributes.mode = static_cast<int>(ResizeMode::kLinear);
  const auto got =
      RunOnAnyThreads(CaseOf(attributes, Make<float>(in, values), out, {2, 2, 2, 2})).As<float>();
  size_t position = 0;
  ForEachIndex(out, [&](const Shape& o) {
    double want = 0, weight = 1;
    for (size_t d = 0; d < 4; ++d, weight *= 10) {
      const double x = std::min(std::max((o[d] + 0.5) / 2 - 0.5, 0.0), in[d] - 1.0);
      want += weight * x;
    }
    EXPECT_NEAR(got[position++], want, 1e-3);
  });
}

TEST(ResizeTest, RejectsNearestAndBadScales) {
  ResizeCase attributes{};
  const TestTensor x = Sawtooth({2, 3});
  EXPECT_NE(ErrorOf(CaseOf(attributes, x, {4, 6}, {2, 2})), kNoError);  // mode 0 is nearest
  attributes.mode = static_cast<int>(ResizeMode::kLinear);
  EXPECT_EQ(ErrorOf(CaseOf(attributes, x, {4, 6}, {2, 2})), kNoError);
  EXPECT_NE(ErrorOf(CaseOf(attributes, x, {4, 6}, {2})), kNoError);
  EXPECT_NE(ErrorOf(CaseOf(attributes, x, {4, 6}, {2, -2})), kNoError);
}

}  // namespace
}  // namespace rshift
