#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/onednn/window_case.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase CommandOf(const WindowCase& c, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t ic = c.ic * c.groups, oc = c.oc * c.groups;
  TestTensor weights = RandomFloats({ic, c.oc, c.h.kernel, c.w.kernel}, random);
  weights.constant = c.constant_weights;
  CommandCase test(Opcode::kConvTransposeF32,
                   {{Field::kSrc, Nhwc(RandomFloats({c.batch, c.h.in, c.w.in, ic}, random))},
                    {Field::kWeights, weights}},
                   DType::kF32, {c.batch, c.h.TransposedOut(), c.w.TransposedOut(), oc},
                   Layout::kNhwc);
  TestTensor bias = RandomFloats({oc}, random);
  bias.constant = c.constant_bias;
  if (c.bias) test.inputs.push_back({Field::kSrc3, bias});
  SetWindow(c.h, c.w, &test);
  test.Set(Field::kGroups, c.groups);
  test.SetFloat(Field::kClampLoF, c.lo).SetFloat(Field::kClampHiF, c.hi);
  return test;
}

// Every input element adds its window to the output.
std::vector<double> Reference(const WindowCase& c, const CommandCase& test) {
  const TestTensor& src = test.Input(Field::kSrc);
  const auto x = src.As<float>(), weights = test.Input(Field::kWeights).As<float>();
  const int64_t channels = c.oc * c.groups, height = test.dst.shape[1], width = test.dst.shape[2];
  std::vector<double> want(NumElements(test.dst.shape));
  if (c.bias) {
    const auto bias = test.Input(Field::kSrc3).As<float>();
    for (size_t i = 0; i < want.size(); ++i) want[i] = bias[i % channels];
  }
  int64_t position = 0;
  ForEachIndex(src.shape, [&](const Shape& at) {
    const double value = x[position++];
    for (int64_t i = 0; i < c.h.kernel; ++i) {
      const int64_t y = at[1] * c.h.stride + i * c.h.dilation - c.h.before;
      for (int64_t j = 0; j < c.w.kernel; ++j) {
        const int64_t z = at[2] * c.w.stride + j * c.w.dilation - c.w.before;
        if (y < 0 || y >= height || z < 0 || z >= width) continue;
        for (int64_t k = 0; k < c.oc; ++k) {
          const int64_t channel = at[3] / c.ic * c.oc + k;
          want[((at[0] * height + y) * width + z) * channels + channel] +=
              value * weights[((at[3] * c.oc + k) * c.h.kernel + i) * c.w.kernel + j];
        }
      }
    }
  });
  for (double& value : want) value = std::min<double>(std::max<double>(value, c.lo), c.hi);
  return want;
}

void CheckTranspose(const WindowCase& c, uint32_t seed) {
  const CommandCase test = CommandOf(c, seed);
  ExpectClose(c, seed, test, Reference(c, test));
}

// Pads that leave an output, output padding below the stride.
WindowAxis RandomTransposedAxis(std::mt19937& random) {
  WindowAxis axis = RandomAxis(random);
  axis.in = Between(2, 9, random);
  axis.extra = Between(0, axis.stride - 1, random);
  const int64_t room = axis.TransposedOut() - 1;
  if (room < 0) axis.before = axis.after = 0;
  return axis;
}

TEST(ConvTransposeF32Test, RandomShapes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    WindowCase c;
    c.h = RandomTransposedAxis(random);
    c.w = RandomTransposedAxis(random);
    c.batch = Between(1, 2, random);
    c.groups = seed % 3 == 0 ? Between(2, 5, random) : 1;
    c.ic = Between(1, 19, random);
    c.oc = Between(1, 19, random);
    c.bias = random() % 2 == 0;
    c.constant_weights = random() % 4 != 0;
    if (random() % 2 == 0) c.lo = 0;
    CheckTranspose(c, seed);
  }
}

TEST(ConvTransposeF32Test, CommonLayers) {
  CheckTranspose({.h = {8, 2, 2}, .w = {8, 2, 2}, .ic = 16, .oc = 8}, 1);
  CheckTranspose(
      {.h = {8, 4, 2, 1, 1, 1}, .w = {8, 4, 2, 1, 1, 1}, .ic = 16, .oc = 8, .lo = 0, .hi = 6}, 2);
  CheckTranspose({.h = {8, 3, 2, 1, 1, 1, 1}, .w = {8, 3, 2, 1, 1, 1, 1}, .ic = 16, .oc = 8}, 3);
  CheckTranspose({.h = {5, 4, 2, 1, 1, 1}, .w = {5, 4, 2, 1, 1, 1}, .groups = 21},
                 4);  // bilinear upsampling
  CheckTranspose({.h = {1}, .w = {17, 5, 3, 1, 1, 2, 1}, .ic = 3, .oc = 6}, 5);  // 1-D
}

// Computed as products of matrices where the weights are constant, else as the others.
TEST(ConvTransposeF32Test, WindowsThatMeetEdgeToEdge) {
  for (const bool constant : {true, false}) {
    for (const bool bias : {true, false}) {
      CheckTranspose({.h = {5, 3, 3},
                      .w = {7, 2, 2},
                      .batch = 2,
                      .ic = 24,
                      .oc = 17,
                      .bias = bias,
                      .constant_weights = constant,
                      .lo = 0},
                     1);
      CheckTranspose({.h = {4, 2, 2},
                      .w = {9, 2, 2},
                      .ic = 24,
                      .oc = 1,
                      .bias = bias,
                      .constant_weights = constant,
                      .lo = -0.5f,
                      .hi = 0.5f},
                     2);
      CheckTranspose({.h = {6, 1, 1},
                      .w = {5, 4, 4},
                      .ic = 3,
                      .oc = 64,
                      .bias = bias,
                      .constant_weights = constant},
                     3);
    }
  }
  // Near misses: a pad, an output padding, a dilation, groups.
  CheckTranspose({.h = {5, 3, 3, 1, 1}, .w = {5, 3, 3, 1, 0, 1}, .ic = 8, .oc = 8}, 4);
  CheckTranspose({.h = {5, 2, 2, 1, 0, 0, 1}, .w = {5, 2, 2}, .ic = 8, .oc = 8}, 5);
  CheckTranspose({.h = {5, 2, 2, 2}, .w = {5, 2, 2}, .ic = 8, .oc = 8}, 6);
  CheckTranspose({.h = {5, 2, 2}, .w = {5, 2, 2}, .groups = 3, .ic = 4, .oc = 4}, 7);
}

}  // namespace
}  // namespace rshift
