#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "tests/runtime/onednn/window_case.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase CommandOf(const WindowCase& c, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t ic = c.ic * c.groups, oc = c.oc * c.groups;
  TestTensor weights = RandomFloats({oc, c.ic, c.h.kernel, c.w.kernel}, random);
  weights.constant = c.constant_weights;
  CommandCase test(Opcode::kConvF32,
                   {{Field::kSrc, Nhwc(RandomFloats({c.batch, c.h.in, c.w.in, ic}, random))},
                    {Field::kWeights, weights}},
                   DType::kF32, {c.batch, c.h.ConvOut(), c.w.ConvOut(), oc}, Layout::kNhwc);
  TestTensor bias = RandomFloats({oc}, random);
  bias.constant = c.constant_bias;
  if (c.bias) test.inputs.push_back({Field::kSrc3, bias});
  SetWindow(c.h, c.w, &test);
  test.Set(Field::kGroups, c.groups);
  test.SetFloat(Field::kClampLoF, c.lo).SetFloat(Field::kClampHiF, c.hi);
  return test;
}

std::vector<double> Reference(const WindowCase& c, const CommandCase& test) {
  const auto x = test.Input(Field::kSrc).As<float>(),
             weights = test.Input(Field::kWeights).As<float>();
  const auto bias =
      c.bias ? test.Input(Field::kSrc3).As<float>() : std::vector<float>(c.oc * c.groups);
  std::vector<double> want;
  ForEachIndex(test.dst.shape, [&](const Shape& o) {
    const int64_t group = o[3] / c.oc;
    double sum = bias[o[3]];
    for (int64_t i = 0; i < c.h.kernel; ++i) {
      const int64_t y = o[1] * c.h.stride + i * c.h.dilation - c.h.before;
      for (int64_t j = 0; j < c.w.kernel; ++j) {
        const int64_t z = o[2] * c.w.stride + j * c.w.dilation - c.w.before;
        if (y < 0 || y >= c.h.in || z < 0 || z >= c.w.in) continue;
        for (int64_t k = 0; k < c.ic; ++k) {
          const int64_t at =
              ((o[0] * c.h.in + y) * c.w.in + z) * c.ic * c.groups + group * c.ic + k;
          sum += static_cast<double>(x[at]) *
                 weights[((o[3] * c.ic + k) * c.h.kernel + i) * c.w.kernel + j];
        }
      }
    }
    want.push_back(std::min<double>(std::max<double>(sum, c.lo), c.hi));
  });
  return want;
}

void CheckConv(const WindowCase& c, uint32_t seed) {
  const CommandCase test = CommandOf(c, seed);
  ExpectClose(c, seed, test, Reference(c, test));
}

TEST(ConvF32Test, RandomShapes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    WindowCase c;
    c.h = RandomAxis(random);
    c.w = RandomAxis(random);
    c.batch = Between(1, 3, random);
    c.groups = seed % 3 == 0 ? Between(2, 5, random) : 1;
    c.ic = Between(1, 19, random);
    c.oc = Between(1, 35, random);
    c.bias = random() % 2 == 0;
    c.constant_weights = random() % 4 != 0;
    c.constant_bias = seed % 4 != 0;
    if (random() % 2 == 0) c.lo = 0;
    if (random() % 2 == 0) c.hi = 6;
    CheckConv(c, seed);
  }
}

TEST(ConvF32Test, Depthwise) {
  for (uint32_t seed = 100; seed < 130; ++seed) {
    std::mt19937 random(seed);
    WindowCase c;
    c.h = RandomAxis(random);
    c.w = RandomAxis(random);
    c.groups = Between(2, 70, random);
    c.oc = seed % 5 == 0 ? 2 : 1;  // a channel multiplier
    c.constant_bias = seed % 4 != 0;
    c.lo = 0;
    CheckConv(c, seed);
  }
}

TEST(ConvF32Test, CommonLayers) {
  CheckConv(
      {.h = {32, 3, 2, 1, 0, 1}, .w = {32, 3, 2, 1, 0, 1}, .ic = 3, .oc = 32, .lo = 0, .hi = 6}, 1);
  CheckConv({.h = {7, 1}, .w = {7, 1}, .ic = 160, .oc = 64}, 2);
  CheckConv({.h = {1}, .w = {100, 9, 1, 1, 4, 4}, .ic = 8, .oc = 8}, 3);  // 1-D
  CheckConv({.h = {9, 3, 1, 4, 4, 4}, .w = {9, 3, 1, 4, 4, 4}, .ic = 16, .oc = 16}, 4);
  CheckConv({.h = {5, 5}, .w = {5, 5}, .ic = 3, .oc = 7, .lo = -1.5f}, 5);
  CheckConv({.h = {3, 2, 1, 1, 5, 5}, .w = {3, 2, 1, 1, 4, 3}, .ic = 2, .oc = 3},
            6);  // pads beyond the window
}

TEST(ConvF32Test, SessionsOnSeveralThreadsGiveTheBytesOfOne) {
  RegisterFloatLibrary();
  const CommandCase test =
      CommandOf({.h = {20, 3, 1, 1, 1, 1}, .w = {20, 3, 1, 1, 1, 1}, .ic = 24, .oc = 40}, 8);
  const std::vector<uint8_t> alone = RunCommand(test, 1).bytes;
  std::vector<std::vector<uint8_t>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = RunCommand(test, 1).bytes; });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, alone);
}

TEST(ConvF32Test, RejectsShapesThatDoNotFit) {
  RegisterFloatLibrary();
  const WindowCase good{.h = {8, 3}, .w = {8, 3}, .ic = 4, .oc = 4};
  EXPECT_EQ(ErrorOf(CommandOf(good, 1)), kNoError);
  CommandCase larger = CommandOf(good, 1);
  larger.dst.shape = {1, 7, 6, 4};
  EXPECT_NE(ErrorOf(larger), kNoError);
  CommandCase smaller = CommandOf(good, 1);
  smaller.dst.shape = {1, 5, 6, 4};
  EXPECT_NE(ErrorOf(smaller), kNoError);
  EXPECT_NE(ErrorOf(CommandOf(good, 1).Set(Field::kGroups, 3)), kNoError);
  EXPECT_NE(ErrorOf(CommandOf(good, 1).Set(Field::kKernelH, 2)), kNoError);
}

}  // namespace
}  // namespace rshift
