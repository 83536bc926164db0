// Convolutions of planes give the bytes of a formula, whatever the instruction set, and those of
// the same convolution in NHWC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/onednn/window_case.h"

namespace rshift {
namespace {

using namespace rshift::testing;

struct PlanarCase {
  WindowAxis h, w;
  int64_t batch = 1, ic = 1, oc = 1;
  bool depthwise = true, bias = true;
  float lo = -INFINITY, hi = INFINITY;

  int64_t depth() const { return depthwise ? 1 : ic; }
};

std::ostream& operator<<(std::ostream& out, const PlanarCase& c) {
  return out << "batch " << c.batch << " channels " << c.ic << " -> " << c.oc << "; h: " << c.h
             << "; w: " << c.w << (c.bias ? "; bias" : "");
}

CommandCase CommandOf(const PlanarCase& c, uint32_t seed) {
  std::mt19937 random(seed);
  const TestTensor x = RandomFloats({c.batch, c.ic, c.h.in, c.w.in}, random);
  const TestTensor w = RandomFloats({c.oc, c.depth(), c.h.kernel, c.w.kernel}, random);
  CommandCase test(Opcode::kConvPlanarF32, {{Field::kSrc, x}, {Field::kWeights, Constant(w)}},
                   DType::kF32, {c.batch, c.oc, c.h.ConvOut(), c.w.ConvOut()});
  if (c.bias) test.inputs.push_back({Field::kSrc3, Constant(RandomFloats({c.oc}, random))});
  SetWindow(c.h, c.w, &test);
  test.Set(Field::kGroups, c.depthwise ? c.ic : 1);
  return test.SetFloat(Field::kClampLoF, c.lo).SetFloat(Field::kClampHiF, c.hi);
}

TestTensor ToNhwc(const TestTensor& planes) {
  const Shape& s = planes.shape;
  const std::vector<float> from = planes.As<float>();
  std::vector<float> to;
  ForEachIndex({s[0], s[2], s[3], s[1]}, [&](const Shape& o) {
    to.push_back(from[static_cast<size_t>(((o[0] * s[1] + o[3]) * s[2] + o[1]) * s[3] + o[2])]);
  });
  return Nhwc(Make<float>({s[0], s[2], s[3], s[1]}, to));
}

CommandCase InNhwc(const PlanarCase& c, uint32_t seed) {
  const CommandCase planar = CommandOf(c, seed);
  CommandCase test(Opcode::kConvF32, planar.inputs, DType::kF32,
                   {c.batch, c.h.ConvOut(), c.w.ConvOut(), c.oc}, Layout::kNhwc);
  test.inputs[0].second = ToNhwc(test.inputs[0].second);
  SetWindow(c.h, c.w, &test);
  test.Set(Field::kGroups, c.depthwise ? c.ic : 1);
  return test.SetFloat(Field::kClampLoF, c.lo).SetFloat(Field::kClampHiF, c.hi);
}

// Taps one after the other, each by a fused multiply-add, the bias last.
std::vector<float> Formula(const PlanarCase& c, const CommandCase& test) {
  const auto x = test.Input(Field::kSrc).As<float>(), w = test.Input(Field::kWeights).As<float>();
  const auto bias =
      c.bias ? test.Input(Field::kSrc3).As<float>() : std::vector<float>(static_cast<size_t>(c.oc));
  std::vector<float> want;
  ForEachIndex(test.dst.shape, [&](const Shape& o) {
    float sum = 0;
    for (int64_t i = 0; i < c.h.kernel; ++i) {
      for (int64_t j = 0; j < c.w.kernel; ++j) {
        const int64_t y = o[2] * c.h.stride + i * c.h.dilation - c.h.before;
        const int64_t z = o[3] * c.w.stride + j * c.w.dilation - c.w.before;
        if (y < 0 || y >= c.h.in || z < 0 || z >= c.w.in) continue;
        for (int64_t k = 0; k < c.depth(); ++k) {
          const int64_t channel = c.depthwise ? o[1] : k;
          const int64_t at = ((o[0] * c.ic + channel) * c.h.in + y) * c.w.in + z;
          const int64_t tap = ((o[1] * c.depth() + k) * c.h.kernel + i) * c.w.kernel + j;
          sum = std::fma(x[static_cast<size_t>(at)], w[static_cast<size_t>(tap)], sum);
        }
      }
    }
    want.push_back(std::min(std::max(sum + bias[static_cast<size_t>(o[1])], c.lo), c.hi));
  });
  return want;
}

PlanarCase RandomPlanes(std::mt19937& random) {
  PlanarCase c;
  c.depthwise = random() % 3 != 0;
  c.batch = Between(1, 2, random);
  c.ic = Between(1, c.depthwise ? 9 : 40, random);
  c.oc = c.depthwise ? c.ic : Between(1, 20, random);
  c.bias = random() % 3 != 0;
  if (random() % 3 == 0) c.lo = -1, c.hi = 1.5f;
  const int64_t kernel = Between(2, 7, random), stride = Between(1, 2, random);
  const bool square = random() % 2 == 0;
  for (WindowAxis* axis : {&c.h, &c.w}) {
    axis->in = random() % 4 == 0 ? Between(1, 90, random) : Between(1, 30, random);
    if (!c.depthwise) continue;
    axis->kernel = square ? kernel : Between(1, 7, random);
    axis->stride = square ? stride : Between(1, 4, random);
    axis->dilation = square ? 1 : Between(1, 2, random);
    axis->before = Between(0, axis->kernel, random);
    axis->after = Between(0, axis->kernel, random);
    axis->in = std::max(axis->in, axis->extent());
  }
  if (c.depthwise && c.h.kernel * c.w.kernel == 1) c.h.kernel = 2, c.h.in = c.h.in + 1;
  return c;
}

TEST(PlanarConvTest, EveryInstructionSetGivesTheFormulasBytes) {
  std::mt19937 random(77);
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const PlanarCase c = RandomPlanes(random);
    const CommandCase test = CommandOf(c, seed);
    EXPECT_EQ(RunOnAnyIsa(test).As<float>(), Formula(c, test)) << c << "; seed " << seed;
  }
}

TEST(PlanarConvTest, PortableOnesGiveTheBytesOfNhwc) {
  std::mt19937 random(78);
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const PlanarCase c = RandomPlanes(random);
    EXPECT_EQ(ToNhwc(RunOnAnyIsa(CommandOf(c, seed), true)).bytes,
              RunCommand(InNhwc(c, seed), 1, BestIsa(), true).bytes)
        << c << "; seed " << seed;
  }
}

// Of dilated windows oneDNN has another order, and of one channel, which is one group.
TEST(PlanarConvTest, OneDnnGivesTheSameBytesInNhwc) {
  if (!CpuSupports(Isa::kAvx512Vnni))
    GTEST_SKIP() << "this CPU has no AVX-512: oneDNN adds the bias first";
  RegisterFloatLibrary();
  std::mt19937 random(79);
  for (uint32_t seed = 0; seed < 100; ++seed) {
    PlanarCase c = RandomPlanes(random);
    c.h.dilation = c.w.dilation = 1;
    if (c.depthwise && c.ic == 1) c.ic = c.oc = 2;
    EXPECT_EQ(ToNhwc(RunCommand(CommandOf(c, seed), 1)).As<float>(),
              RunCommand(InNhwc(c, seed), 1).As<float>())
        << c << "; seed " << seed;
  }
}

// What stands for a product and a sum rounds both, in portable steps too.
TEST(PlanarConvTest, ScaleAndOffsetOfAChannelAreRoundedBoth) {
  for (const int64_t width : {1, 3, 14, 16, 49, 70}) {
    PlanarCase c{.h = {.in = 3}, .w = {.in = width}, .batch = 2, .ic = 5, .oc = 5};
    const CommandCase test = CommandOf(c, static_cast<uint32_t>(width));
    EXPECT_EQ(RunOnAnyIsa(test).As<float>(), Formula(c, test)) << width;
    EXPECT_EQ(RunOnAnyIsa(test, true).As<float>(), Formula(c, test)) << width;
  }
}

// As many outputs as inputs, but not of the same pixels.
TEST(PlanarConvTest, OnePixelWindowsWithStridesReadTheirPads) {
  const WindowAxis axis{.in = 28, .stride = 2, .before = 14, .after = 14};
  PlanarCase c{.h = axis, .w = axis, .ic = 3, .oc = 3};
  const CommandCase test = CommandOf(c, 5);
  EXPECT_EQ(test.dst.shape, (Shape{1, 3, 28, 28}));
  EXPECT_EQ(RunOnAnyIsa(test).As<float>(), Formula(c, test));
  c.depthwise = false;
  EXPECT_NE(ErrorOf(CommandOf(c, 5)).find("without strides or pads"), std::string::npos);
}

TEST(PlanarConvTest, TheVerifierRefusesWhatNoStepHas) {
  const PlanarCase good{
      .h = {.in = 40, .kernel = 3}, .w = {.in = 40, .kernel = 3}, .ic = 4, .oc = 4};
  EXPECT_EQ(ErrorOf(CommandOf(good, 1)), kNoError);
  PlanarCase tall = good;
  tall.h.kernel = 17;
  EXPECT_NE(ErrorOf(CommandOf(tall, 1)).find("16 x 16"), std::string::npos);
  PlanarCase dilated = good;
  dilated.w.dilation = 8;
  EXPECT_NE(ErrorOf(CommandOf(dilated, 1)).find("16 x 16"), std::string::npos);
  PlanarCase stepping = good;
  stepping.w.stride = 5;
  EXPECT_NE(ErrorOf(CommandOf(stepping, 1)).find("strides up to 4"), std::string::npos);
  PlanarCase dense = good;
  dense.depthwise = false;
  EXPECT_NE(ErrorOf(CommandOf(dense, 1)).find("one filter for each channel"), std::string::npos);
  CommandCase longer = CommandOf(good, 1);
  longer.dst.shape[3] += 1;
  EXPECT_NE(ErrorOf(longer).find("output width"), std::string::npos);
}

}  // namespace
}  // namespace rshift
