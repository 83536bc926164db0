// Pooling against the definition: ceil_mode, pads, dilation, count_include_pad.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct PoolCase {
  int64_t n, ih, iw, c, kh, kw, sh, sw, dh, dw, pt, pl, pb, pr, oh, ow;
};

int64_t OutSize(Random& random, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                int64_t before, int64_t after) {
  const int64_t room = in + before + after - dilation * (kernel - 1) - 1;
  if (room < 0) return 0;
  const int64_t ceil = (room + stride - 1) / stride + 1;
  // ONNX drops a window that would start behind the image and its left pads.
  if (random.Int(0, 1) == 1 && (ceil - 1) * stride - before < in) return ceil;
  return room / stride + 1;
}

bool EveryWindowMeetsTheImage(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                              int64_t dilation, int64_t before) {
  for (int64_t o = 0; o < out; ++o) {
    bool meets = false;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = o * stride - before + k * dilation;
      meets |= at >= 0 && at < in;
    }
    if (!meets) return false;
  }
  return true;
}

PoolCase RandomPool(Random& random) {
  PoolCase p{};
  do {
    p.n = random.Int(1, 2), p.ih = random.Int(1, 10), p.iw = random.Int(1, 10);
    p.c = random.Int(0, 3) == 0 ? random.Int(60, 140) : random.Int(1, 20);
    p.kh = random.Int(1, 4), p.kw = random.Int(1, 4), p.sh = random.Int(1, 3),
    p.sw = random.Int(1, 3);
    p.dh = random.Int(1, 2), p.dw = random.Int(1, 2);
    p.pt = random.Int(0, 2), p.pl = random.Int(0, 2), p.pb = random.Int(0, 2),
    p.pr = random.Int(0, 2);
    p.oh = OutSize(random, p.ih, p.kh, p.sh, p.dh, p.pt, p.pb);
    p.ow = OutSize(random, p.iw, p.kw, p.sw, p.dw, p.pl, p.pr);
  } while (p.oh == 0 || p.ow == 0 ||
           !EveryWindowMeetsTheImage(p.ih, p.oh, p.kh, p.sh, p.dh, p.pt) ||
           !EveryWindowMeetsTheImage(p.iw, p.ow, p.kw, p.sw, p.dw, p.pl));
  return p;
}

void SetWindow(Command* command, const PoolCase& p) {
  command->Set(Field::kKernelH, p.kh).Set(Field::kKernelW, p.kw).Set(Field::kStrideH, p.sh);
  command->Set(Field::kStrideW, p.sw).Set(Field::kDilationH, p.dh).Set(Field::kDilationW, p.dw);
  command->Set(Field::kPadTop, p.pt).Set(Field::kPadLeft, p.pl).Set(Field::kPadBottom, p.pb);
  command->Set(Field::kPadRight, p.pr);
}

// f(index of the input element, or -1 for a pad) for every tap of output pixel m, channel c; taps
// behind the pads (ceil_mode) are left out.
template <typename F>
void ForEachTap(const PoolCase& p, int64_t m, int64_t c, const F& f) {
  for (int64_t tap = 0; tap < p.kh * p.kw; ++tap) {
    const int64_t y = m / p.ow % p.oh * p.sh - p.pt + tap / p.kw * p.dh;
    const int64_t x = m % p.ow * p.sw - p.pl + tap % p.kw * p.dw;
    if (y >= p.ih + p.pb || x >= p.iw + p.pr) continue;
    const bool inside = y >= 0 && y < p.ih && x >= 0 && x < p.iw;
    f(inside ? ((m / p.ow / p.oh * p.ih + y) * p.iw + x) * p.c + c : -1);
  }
}

TEST(MaxPoolStep, TakesTheLargestTapOfTheImage) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const PoolCase p = RandomPool(random);
    const DType type = random.Byte();
    const Bytes data = random.Data(p.n * p.ih * p.iw * p.c);
    ProgramBuilder b;
    const int32_t src = b.Input({type, {p.n, p.ih, p.iw, p.c}}),
                  dst = b.Output({type, {p.n, p.oh, p.ow, p.c}});
    SetWindow(&b.Add(Opcode::kMaxPool, dst, src), p);
    Bytes expected;
    for (int64_t i = 0; i < p.n * p.oh * p.ow * p.c; ++i) {
      int32_t best = -1000;
      ForEachTap(p, i / p.c, i % p.c, [&](int64_t at) {
        if (at >= 0) best = std::max(best, Value(data[at], type));
      });
      expected.push_back(static_cast<uint8_t>(best));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

TEST(MaxPoolStep, TakesFloatsToo) {
  Random random(3);
  const PoolCase p = RandomPool(random);
  std::vector<float> data;
  for (int64_t i = 0; i < p.n * p.ih * p.iw * p.c; ++i) data.push_back(random.Float(-5.0f, -1.0f));
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kF32, {p.n, p.ih, p.iw, p.c}});
  const int32_t dst = b.Output({DType::kF32, {p.n, p.oh, p.ow, p.c}});
  SetWindow(&b.Add(Opcode::kMaxPool, dst, src), p);
  std::vector<float> expected;
  for (int64_t i = 0; i < p.n * p.oh * p.ow * p.c; ++i) {
    float best = -100.0f;
    ForEachTap(p, i / p.c, i % p.c,
               [&](int64_t at) { best = at >= 0 ? std::max(best, data[at]) : best; });
    expected.push_back(best);
  }
  EXPECT_EQ(RunEverywhere(b, {AsBytes(data)}), AsBytes(expected));
}

TEST(AveragePoolStep, DividesByTheTapsThatCount) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const PoolCase p = RandomPool(random);
    TensorSpec from{random.Byte(), {p.n, p.ih, p.iw, p.c}},
        to{random.Byte(), {p.n, p.oh, p.ow, p.c}};
    from.zero_point = random.Zero(from.dtype);
    to.zero_point = random.Zero(to.dtype);
    const bool include_pad = random.Int(0, 1) == 1;
    const float scale = random.Float(0.3f, 3.0f), offset = random.Float(-60.0f, 60.0f);
    const Bytes data = random.Data(p.n * p.ih * p.iw * p.c);
    ProgramBuilder b;
    const int32_t src = b.Input(from), dst = b.Output(to);
    Command& command = b.Add(Opcode::kAveragePool, dst, src);
    SetWindow(&command, p);
    command.SetFloat(Field::kScaleF, scale)
        .SetFloat(Field::kOffsetF, offset)
        .Set(Field::kFlags, include_pad);
    command.Set(Field::kClampLoQ, Lowest(to.dtype)).Set(Field::kClampHiQ, Highest(to.dtype));
    Bytes expected;
    for (int64_t i = 0; i < p.n * p.oh * p.ow * p.c; ++i) {
      int32_t sum = 0, count = 0;
      ForEachTap(p, i / p.c, i % p.c, [&](int64_t at) {
        if (at < 0 && !include_pad) return;
        sum += at >= 0 ? Value(data[at], from.dtype) : from.zero_point;
        ++count;
      });
      const float factor = scale / static_cast<float>(count);
      const float product = factor * static_cast<float>(sum);
      const auto rounded =
          static_cast<int64_t>(std::nearbyint(static_cast<double>(product + offset)));
      expected.push_back(
          static_cast<uint8_t>(Saturate(rounded, Lowest(to.dtype), Highest(to.dtype))));
    }
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

}  // namespace
}  // namespace rshift::testing
