// Every instruction set's kernels against the scalar ones: equal bytes on random shapes,
// remainders, pads, strides, dilations, groups, every rounding with and without weight zero points,
// every rshift and the extremes of the operands.
#include "runtime/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/runtime.h"
#include "tests/runtime/random_kernels.h"

namespace rshift {
#if defined(__x86_64__)
extern const KernelTable kAvxVnniByEvexKernels;  // avxvnni_by_evex.cc
#endif
namespace {

using namespace random_kernels;  // NOLINT: this is their test

constexpr int kShapes = 3200;  // a kernel and instruction set: 400 of each rounding

// AVX-VNNI is tested in another encoding where the CPU has only that one.
bool ByEvex(Isa isa) {
  return isa == Isa::kAvxVnni && !CpuSupports(isa) && CpuSupports(Isa::kAvx512Vnni);
}

// The unit's own table, gaps and all. Only for what this CPU has.
const KernelTable* Table(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2) return &kAvx2Kernels;
  if (isa == Isa::kAvxVnni) return ByEvex(isa) ? &kAvxVnniByEvexKernels : &kAvxVnniKernels;
  if (isa == Isa::kAvx512Vnni) return &kAvx512VnniKernels;
#elif defined(__aarch64__)
  if (isa == Isa::kNeonDot) return &kNeonDotKernels;
#endif
  return isa == Isa::kScalar ? &kScalarKernels : nullptr;
}

class KernelTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!CpuSupports(GetParam()) && !ByEvex(GetParam()))
      GTEST_SKIP() << "this CPU has no " << Name(GetParam());
  }
};

// Returns in how many of kShapes cases RequantArgs::ratio was there.
int CompareConvolutions(const KernelTable& table, Forms forms) {
  int by_ratio = 0;
  for (int seed = 0; seed < kShapes && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    ConvArgs a;
    a.window = RandomWindow(random);
    a.groups = random.OneIn(4) ? random.Int(2, 4) : 1;
    a.ic_per_group = random.OneIn(3) ? random.Int(1, 7) : random.Int(8, 70);
    a.oc_per_group = random.Int(1, random.OneIn(3) ? 200 : 70);
    a.ic = a.groups * a.ic_per_group;
    a.oc = a.groups * a.oc_per_group;
    a.ic4 = RoundUp(a.ic_per_group, 4);
    const int64_t taps = a.window.kernel_h * a.window.kernel_w;
    a.k = taps * a.ic4;
    a.stem_im2col = a.groups == 1 && a.window.dilation_w == 1 && random.OneIn(2);
    const int64_t row = a.stem_im2col ? taps * a.ic : a.ic_per_group;  // of K, unpadded
    if (a.stem_im2col) a.k = a.ic4 = RoundUp(row, 4);
    a.n = RoundUp(a.oc_per_group, 16);
    a.panels_per_group = (a.n + 63) / 64;
    a.batch = random.Int(1, 2);
    a.oh = random.OneIn(8) ? random.Int(6, 15) : random.Int(1, 5);
    a.ow = random.OneIn(20) ? random.Int(40, 150) : random.Int(1, 9);  // longer than a ring of rows
    a.ih = InputSize(random, a.oh, a.window.kernel_h, a.window.stride_h, a.window.dilation_h,
                     a.window.pad_top);
    a.iw = InputSize(random, a.ow, a.window.kernel_w, a.window.stride_w, a.window.dilation_w,
                     a.window.pad_left);
    a.pointwise = taps == 1 && a.window.stride_h == 1 && a.window.stride_w == 1 &&
                  a.window.pad_top == 0 && a.window.pad_left == 0 && a.ih == a.oh && a.iw == a.ow;
    a.src_signed = random.OneIn(2);
    const bool extremes = random.OneIn(10);
    a.src_pitch = a.ic + RandomGap(random);
    const AlignedBuffer src = RandomBytes(random, a.batch * a.ih * a.iw * a.src_pitch, extremes);
    AlignedBuffer weights = RandomBytes(random, a.groups * a.k * a.n, extremes);
    AlignedBuffer zero_row(static_cast<size_t>(a.ic) + 64);
    std::fill_n(zero_row.data(), zero_row.size(), RandomZero(random));
    Requant q;
    RandomRequant(random, forms, seed, a.groups * a.n, a.k, &q);
    by_ratio += q.args.ratio != nullptr ? 1 : 0;
    // Zero the weights of padding channels of K, and fold the shift of flipped inputs into
    // bias_flipped.
    for (int64_t g = 0; g < a.groups; ++g) {
      for (int64_t oc = 0; oc < a.n; ++oc) {
        int64_t sum = 0;
        const int64_t first = oc / 64 * 64, width = std::min<int64_t>(64, a.n - first);
        for (int64_t kk = 0; kk < a.k; ++kk) {
          auto* w = reinterpret_cast<int8_t*>(weights.data()) + g * a.k * a.n + first * a.k +
                    kk / 4 * width * 4 + (oc - first) * 4 + kk % 4;
          if (kk % a.ic4 >= row || oc >= a.oc_per_group) *w = 0;
          sum += *w;
        }
        Flip(a.src_signed, sum, g * a.n + oc, &q);
      }
    }
    a.requant = q.args;
    a.src = src.data();
    a.weights = reinterpret_cast<const int8_t*>(weights.data());
    a.zero_row = zero_row.data();
    const int64_t m = a.batch * a.oh * a.ow, panels = a.groups * a.panels_per_group;
    a.dst_pitch = a.oc + RandomGap(random);
    const AlignedBuffer addend = RandomAddend(random, m * a.dst_pitch, &q.post_op_args);
    const Twist twist{a.dst_pitch, static_cast<uint8_t>(random.Int(1, 255))};
    if (random.OneIn(4)) a.epilogue = {.run = TwistBytes, .state = &twist};
    std::vector<uint8_t> expected(m * a.dst_pitch + 8, 0x5a), actual(m * a.dst_pitch + 8, 0x5a);
    q.post_op_args.dst = a.dst = expected.data();
    kScalarKernels.conv(a, {0, m, 0, panels}, nullptr);
    q.post_op_args.dst = a.dst = actual.data();
    AlignedBuffer scratch(table.conv_scratch == nullptr ? 0 : table.conv_scratch(a));
    const int64_t m_cut = random.Int(0, m),
                  p_cut = random.Int(0, panels);  // four shares, as threads would take them
    table.conv(a, {0, m_cut, 0, p_cut}, scratch.data());
    table.conv(a, {m_cut, m, 0, p_cut}, scratch.data());
    table.conv(a, {0, m, p_cut, panels}, scratch.data());
    EXPECT_EQ(actual, expected);
  }
  return by_ratio;
}

TEST_P(KernelTest, ConvEqualsScalarOnRandomShapes) {
  ASSERT_NE(Table(GetParam())->conv, nullptr);
  EXPECT_GT(CompareConvolutions(*Table(GetParam()), Forms::kAll), kShapes / 60);
}

TEST_P(KernelTest, ConvOfTheCommonFormEqualsScalarOnRandomShapes) {
  EXPECT_GT(CompareConvolutions(*Table(GetParam()), Forms::kCommon), kShapes * 4 / 5);
}

// What a unit multiplies for this byte is 0.
bool MultipliesAsZero(Isa isa, bool is_signed, int zero) {
  if (isa == Isa::kScalar) return false;  // the specification skips nothing
  if (isa == Isa::kNeonDot) return zero == (is_signed ? 0 : 0x80);
  const bool flips = isa == Isa::kAvxVnni || isa == Isa::kAvx512Vnni;
  return zero == (flips && is_signed ? 0x80 : 0);
}

// That taps outside are skipped cannot be seen from the result. But where they are, and only the
// first tap is ever outside, nothing reads the row of zero points behind its first byte.
TEST_P(KernelTest, ConvSkipsTheTapsOutside) {
  const KernelTable& table = *Table(GetParam());
  for (const bool is_signed : {false, true}) {
    for (const int zero : {0, 0x80}) {
      SCOPED_TRACE(testing::Message()
                   << "zero point " << zero << (is_signed ? " of s8" : " of u8"));
      Random random(7);
      ConvArgs a{.src_signed = is_signed, .ih = 5, .iw = 8, .ic = 64, .oh = 5, .ow = 8, .oc = 64};
      a.window = {.kernel_h = 2, .pad_top = 1};
      a.src_pitch = a.dst_pitch = a.ic_per_group = a.oc_per_group = a.ic4 = a.n = 64;
      a.k = 128, a.panels_per_group = 1;
      const AlignedBuffer src = RandomBytes(random, 40 * 64, false);
      const AlignedBuffer weights = RandomBytes(random, a.k * a.n, false);
      AlignedBuffer zero_row(128), garbage = RandomBytes(random, 64, false);
      std::fill_n(zero_row.data(), zero_row.size(), static_cast<uint8_t>(zero));
      garbage.data()[0] = static_cast<uint8_t>(zero);
      Requant q;
      RandomRequant(random, Forms::kCommon, 0, a.n, a.k, &q);
      a.requant = q.args;
      a.requant.zero_w = nullptr;
      a.src = src.data();
      a.weights = reinterpret_cast<const int8_t*>(weights.data());
      std::vector<uint8_t> honest(40 * 64), other(40 * 64);
      AlignedBuffer scratch(table.conv_scratch == nullptr ? 0 : table.conv_scratch(a));
      a.dst = honest.data(), a.zero_row = zero_row.data();
      table.conv(a, {0, 40, 0, 1}, scratch.data());
      a.dst = other.data(), a.zero_row = garbage.data();
      table.conv(a, {0, 40, 0, 1}, scratch.data());
      EXPECT_EQ(honest == other, MultipliesAsZero(GetParam(), is_signed, zero));
    }
  }
}

int CompareDepthwise(const KernelTable& table, Forms forms) {
  int by_ratio = 0;
  for (int seed = 0; seed < kShapes && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    DepthwiseArgs a;
    a.window = RandomWindow(random);
    if (forms == Forms::kCommon && !random.OneIn(3)) {
      a.window.kernel_w = 3;
      a.window.dilation_w = 1;
    }
    a.channels = random.Int(1, 150);
    a.c64 = RoundUp(a.channels, 64);
    const int64_t taps = a.window.kernel_h * a.window.kernel_w;
    a.batch = random.Int(1, 2);
    a.oh = random.Int(1, 5);
    a.ow = random.Int(1, 9);
    a.ih = InputSize(random, a.oh, a.window.kernel_h, a.window.stride_h, a.window.dilation_h,
                     a.window.pad_top);
    a.iw = InputSize(random, a.ow, a.window.kernel_w, a.window.stride_w, a.window.dilation_w,
                     a.window.pad_left);
    a.src_signed = random.OneIn(2);
    const bool extremes = random.OneIn(10);
    a.src_pitch = a.channels + RandomGap(random);
    const AlignedBuffer src = RandomBytes(random, a.batch * a.ih * a.iw * a.src_pitch, extremes);
    const AlignedBuffer weights = RandomBytes(random, taps * a.c64, extremes);
    AlignedBuffer zero_row(static_cast<size_t>(a.channels) + 64);
    std::fill_n(zero_row.data(), zero_row.size(), RandomZero(random));
    Requant q;
    RandomRequant(random, forms, seed, a.c64, taps, &q);
    by_ratio += q.args.ratio != nullptr ? 1 : 0;
    for (int64_t c = 0; c < a.c64; ++c) {
      int64_t sum = 0;
      for (int64_t tap = 0; tap < taps; ++tap) {
        sum += reinterpret_cast<const int8_t*>(weights.data())[tap * a.c64 + c];
      }
      Flip(a.src_signed, sum, c, &q);
    }
    a.requant = q.args;
    a.src = src.data();
    a.weights = reinterpret_cast<const int8_t*>(weights.data());
    a.zero_row = zero_row.data();
    const int64_t m = a.batch * a.oh * a.ow;
    a.dst_pitch = a.channels + RandomGap(random);
    const AlignedBuffer addend = RandomAddend(random, m * a.dst_pitch, &q.post_op_args);
    const Twist twist{a.dst_pitch, static_cast<uint8_t>(random.Int(1, 255))};
    if (random.OneIn(4)) a.epilogue = {.run = TwistBytes, .state = &twist};
    std::vector<uint8_t> expected(m * a.dst_pitch + 8, 0x5a), actual(m * a.dst_pitch + 8, 0x5a);
    q.post_op_args.dst = a.dst = expected.data();
    kScalarKernels.depthwise(a, {0, m, 0, a.channels}, nullptr);
    q.post_op_args.dst = a.dst = actual.data();
    AlignedBuffer scratch(table.depthwise_scratch == nullptr ? 0 : table.depthwise_scratch(a));
    const int64_t m_cut = random.Int(0, m), c_cut = std::min(a.channels, random.Int(0, 2) * 64);
    table.depthwise(a, {0, m_cut, 0, c_cut}, scratch.data());
    table.depthwise(a, {m_cut, m, 0, c_cut}, scratch.data());
    table.depthwise(a, {0, m, c_cut, a.channels}, scratch.data());
    EXPECT_EQ(actual, expected);
  }
  return by_ratio;
}

TEST_P(KernelTest, DepthwiseEqualsScalarOnRandomShapes) {
  ASSERT_NE(Table(GetParam())->depthwise, nullptr);
  EXPECT_GT(CompareDepthwise(*Table(GetParam()), Forms::kAll), kShapes / 60);
}

TEST_P(KernelTest, DepthwiseOfTheCommonFormEqualsScalarOnRandomShapes) {
  EXPECT_GT(CompareDepthwise(*Table(GetParam()), Forms::kCommon), kShapes * 4 / 5);
}

TEST_P(KernelTest, PoolsEqualScalarOnRandomWindows) {
  const KernelTable& table = KernelsFor(GetParam());
  for (int seed = 0; seed < kShapes; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const int64_t count = random.Int(1, 200), pixel = count + random.Int(0, 9),
                  width = random.Int(1, 9);
    const bool is_signed = random.OneIn(2);
    PoolWindow window{.rows = random.OneIn(10) ? random.Int(1, 40) : random.Int(1, 6),
                      .columns = random.Int(1, width),
                      .row_step = random.Int(1, 2) * width * pixel,
                      .column_step = pixel};
    const int64_t bytes =
        window.rows * window.row_step + window.columns * window.column_step + count;
    const AlignedBuffer src = RandomBytes(random, bytes, random.OneIn(10));
    window.base = src.data();
    std::vector<uint8_t> expected(count + 8, 0x5a), actual(count + 8, 0x5a);
    kScalarKernels.max_pool(window, count, is_signed, expected.data());
    table.max_pool(window, count, is_signed, actual.data());
    ASSERT_EQ(actual, expected);
    std::vector<int32_t> expected_sum(count + 16, 7), actual_sum(count + 16, 7);
    kScalarKernels.sum_pool(window, count, is_signed, expected_sum.data());
    table.sum_pool(window, count, is_signed, actual_sum.data());
    expected_sum.resize(count);
    actual_sum.resize(count);
    ASSERT_EQ(actual_sum, expected_sum);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSets, KernelTest,
                         testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni,
                                         Isa::kNeonDot),
                         [](const auto& param) { return std::string(Name(param.param)); });

}  // namespace
}  // namespace rshift
