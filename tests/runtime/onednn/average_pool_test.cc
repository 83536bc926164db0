#include <gtest/gtest.h>

#include "tests/runtime/onednn/window_case.h"

namespace rshift {
namespace {

using namespace rshift::testing;

struct PoolCase {
  WindowAxis h, w;
  int64_t batch = 1, channels = 1;
  bool count_pads = false;

  static int64_t Out(const WindowAxis& axis) { return axis.ConvOut() + axis.extra; }
};

CommandCase CommandOf(const PoolCase& c, uint32_t seed) {
  std::mt19937 random(seed);
  CommandCase test(
      Opcode::kAveragePoolF32,
      {{Field::kSrc, Nhwc(RandomFloats({c.batch, c.h.in, c.w.in, c.channels}, random))}},
      DType::kF32, {c.batch, PoolCase::Out(c.h), PoolCase::Out(c.w), c.channels}, Layout::kNhwc);
  SetWindow(c.h, c.w, &test);
  test.Set(Field::kFlags, c.count_pads ? 1 : 0);
  return test;
}

std::vector<double> Reference(const PoolCase& c, const CommandCase& test) {
  const auto x = test.Input(Field::kSrc).As<float>();
  std::vector<double> want;
  ForEachIndex(test.dst.shape, [&](const Shape& o) {
    double sum = 0;
    int64_t inside = 0, padded = 0;
    for (int64_t i = 0; i < c.h.kernel; ++i) {
      const int64_t y = o[1] * c.h.stride + i * c.h.dilation - c.h.before;
      for (int64_t j = 0; j < c.w.kernel; ++j) {
        const int64_t z = o[2] * c.w.stride + j * c.w.dilation - c.w.before;
        padded += y < c.h.in + c.h.after && z < c.w.in + c.w.after ? 1 : 0;
        if (y < 0 || y >= c.h.in || z < 0 || z >= c.w.in) continue;
        ++inside;
        sum += x[((o[0] * c.h.in + y) * c.w.in + z) * c.channels + o[3]];
      }
    }
    const int64_t divisor = c.count_pads ? padded : inside;
    want.push_back(divisor > 0 ? sum / divisor : 0);
  });
  return want;
}

void CheckPool(const PoolCase& c, uint32_t seed) {
  SCOPED_TRACE(::testing::Message()
               << "seed " << seed << " batch " << c.batch << " channels " << c.channels
               << " count pads " << c.count_pads << "; h: " << c.h << "; w: " << c.w);
  RegisterFloatLibrary();
  const CommandCase test = CommandOf(c, seed);
  ExpectClose(RunOnAnyThreads(test).As<float>(), Reference(c, test), 1e-6);
}

TEST(AveragePoolF32Test, RandomWindowsWithAndWithoutOverhang) {
  for (uint32_t seed = 0; seed < 80; ++seed) {
    std::mt19937 random(seed);
    PoolCase c;
    for (WindowAxis* axis : {&c.h, &c.w}) {
      *axis = RandomAxis(random);
      // ceil_mode adds a window when the stride leaves a rest and the window starts inside image or
      // front pads.
      const int64_t rest = (axis->in + axis->before + axis->after - axis->extent()) % axis->stride;
      const bool starts_inside = axis->ConvOut() * axis->stride < axis->in + axis->before;
      axis->extra = rest != 0 && starts_inside ? 1 : 0;
    }
    c.batch = Between(1, 2, random);
    c.channels = Between(1, 130, random);
    c.count_pads = random() % 2 == 0;
    CheckPool(c, seed);
  }
}

TEST(AveragePoolF32Test, WholeImage) {
  CheckPool({.h = {7, 7}, .w = {9, 9}, .batch = 2, .channels = 320}, 1);
}

// ONNX operator text, AveragePool with ceil_mode: x = 1..16 as 4x4, kernel 3, stride 2 gives
// 6, 7.5, 12, 13.5.
TEST(AveragePoolF32Test, CeilModeExampleOfTheStandard) {
  RegisterFloatLibrary();
  std::vector<float> x;
  for (int i = 1; i <= 16; ++i) x.push_back(static_cast<float>(i));
  for (const int flags : {0, 1}) {
    CommandCase test(Opcode::kAveragePoolF32, {{Field::kSrc, Nhwc(Make<float>({1, 4, 4, 1}, x))}},
                     DType::kF32, {1, 2, 2, 1}, Layout::kNhwc);
    SetWindow({.kernel = 3, .stride = 2}, {.kernel = 3, .stride = 2}, &test);
    test.Set(Field::kFlags, flags);
    EXPECT_EQ(RunOnAnyThreads(test).As<float>(), (std::vector<float>{6, 7.5f, 12, 13.5f}));
  }
}

}  // namespace
}  // namespace rshift
