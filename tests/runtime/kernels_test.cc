// Every instruction set's kernels against the scalar ones: equal bytes on random shapes, tails,
// pads, strides, dilations, groups, every rounding with and without weight zero points, every
// rshift and the extremes of the operands.
#include "runtime/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/finish.h"
#include "runtime/runtime.h"
#include "runtime/steps/requant_arrays.h"

namespace rshift {
#if defined(__x86_64__)
extern const KernelTable kAvxVnniByEvexKernels;  // avxvnni_by_evex.cc
#endif
namespace {

constexpr int kShapes = 3200;  // a kernel and instruction set: 400 of each rounding

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t Int(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(engine() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool OneIn(int n) { return Int(1, n) == 1; }
  std::mt19937_64 engine;
};

int64_t RoundUpTo(int64_t x, int64_t m) { return (x + m - 1) / m * m; }

// The arrays that RequantArgs points into.
struct Requant {
  std::vector<int32_t> bias, bias_flipped, multiplier, rshift, zero_w, high_half, high_shift;
  std::vector<float> scale, bias_f, ratio;
  FinishTail tail;
  RequantArgs args;
};

// Shifts that the various vector forms take.
void RandomIntegerWords(Random& random, int64_t entries, bool tails, Requant* q) {
  constexpr int64_t kRanges[][2] = {{0, 62}, {32, 62}, {33, 62}, {33, 54}, {31, 52}, {40, 44}};
  const int zeros = random.OneIn(2) ? 7 : 0;  // 24 bits left: RequantArgs::ratio
  const auto& [least, most] = kRanges[zeros != 0 && random.OneIn(2) ? 5 : random.Int(0, 4)];
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t kind = random.Int(0, 19);
    q->multiplier.push_back(kind == 0   ? 0
                            : kind == 1 ? 1 << 30
                            : kind == 2
                                ? INT32_MAX
                                : static_cast<int32_t>(random.Int(int64_t{1} << 30, INT32_MAX)));
    q->multiplier.back() = q->multiplier.back() >> zeros << zeros;
    if (zeros != 0 && kind == 1) q->multiplier.back() += 1 << random.Int(7, 20);
    const int64_t rshift = random.Int(least, most);
    q->rshift.push_back(static_cast<int32_t>(rshift + (tails && random.OneIn(9) ? 64 : 0)));
  }
  q->args.multiplier = q->multiplier.data();
  q->args.rshift = q->rshift.data();
  q->args.min_rshift = *std::min_element(q->rshift.begin(), q->rshift.end());
  q->args.max_rshift = *std::max_element(q->rshift.begin(), q->rshift.end());
}

void RandomDoubleWords(Random& random, int64_t entries, Requant* q) {
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t fraction = random.OneIn(3) ? 0 : random.Int(0, (int64_t{1} << 52) - 1);
    const double scale = random.OneIn(20)
                             ? 0.0
                             : std::ldexp(1.0 + static_cast<double>(fraction) * 0x1p-52,
                                          static_cast<int>(random.Int(-22, -4)));
    q->multiplier.push_back(numerics::UpperWord(scale));
    q->rshift.push_back(numerics::LowerWord(scale));
  }
  q->args.multiplier = q->multiplier.data();
  q->args.rshift = q->rshift.data();
}

// Powers of two among the scales: ties.
void RandomFloatWords(Random& random, int64_t entries, Requant* q) {
  for (int64_t i = 0; i < entries; ++i) {
    const auto exponent = static_cast<int>(random.Int(-22, random.OneIn(10) ? 100 : -4));
    const float mantissa =
        random.OneIn(3) ? 1.0f : 1.0f + static_cast<float>(random.Int(0, 1 << 23)) * 0x1p-23f;
    q->scale.push_back(random.OneIn(20) ? 0.0f : std::ldexp(mantissa, exponent));
    q->bias_f.push_back(random.OneIn(2) ? 0.0f : static_cast<float>(random.Int(-9999, 9999)) / 8);
  }
  q->args.scale = q->scale.data();
  q->args.bias_f = q->bias_f.data();
}

void RandomTail(Random& random, RequantArgs* args, FinishTail* tail) {
  for (int64_t i = random.Int(0, 3); i > 0; --i) {
    tail->post_ops.push_back(
        {static_cast<numerics::PostOpKind>(random.Int(1, numerics::kPostOpKinds - 1)),
         static_cast<float>(random.Int(-300, 300)) / 16,
         static_cast<float>(random.Int(-300, 300)) / 16,
         static_cast<float>(random.Int(-64, 64)) / 32});
  }
  args->half = {.quant_scale = static_cast<float>(random.Int(1, 999)) / 256,
                .quant_offset = static_cast<float>(random.Int(-128, 127)),
                .relu = random.OneIn(2),
                .sqrt_dequant = random.OneIn(4),
                .sqrt_quant = random.OneIn(4),
                .mode = static_cast<RealRounding>(random.Int(0, kRealRoundingCount - 1))};
}

// Every rounding in turn; weight zero points in one case of three. `entries` that hold no channel
// may be anything but for zero_w. `products`: in an accumulator.
void RandomRequant(Random& random, int64_t seed, int64_t entries, int64_t products, Requant* q) {
  const auto rounding = static_cast<Rounding>(seed % kRoundingCount);
  const int64_t bias = random.OneIn(8) ? 2000000000 : 2000000;
  for (int64_t i = 0; i < entries; ++i) {
    q->bias.push_back(static_cast<int32_t>(random.Int(-bias, bias)));
    q->zero_w.push_back(static_cast<int32_t>(random.Int(-128, 127)));
  }
  q->bias_flipped = q->bias;
  if (random.OneIn(3)) q->args.zero_w = q->zero_w.data();
  if (numerics::IsIntegerRounding(rounding)) {
    const bool tails = rounding == Rounding::kTwoStepUp && random.OneIn(3);
    RandomIntegerWords(random, entries, tails, q);
  } else if (rounding == Rounding::kDoubleAway) {
    RandomDoubleWords(random, entries, q);
  } else {
    RandomFloatWords(random, entries, q);
  }
  RandomTail(random, &q->args, &q->tail);
  q->args.bias = q->bias.data();
  q->args.bias_flipped = q->bias_flipped.data();
  q->args.tail = &q->tail;
  q->args.rounding = rounding;
  q->args.post_ops = rounding == Rounding::kFloatZeroEven && !q->tail.post_ops.empty();
  q->args.finish = FinishFor(rounding, q->args.post_ops);
  const int lo = random.OneIn(2) ? -128 : 0, hi = lo + 255;
  q->args.zero_y = static_cast<int32_t>(random.Int(lo, hi));
  q->args.lo = static_cast<int32_t>(random.Int(lo, q->args.zero_y));
  q->args.hi = static_cast<int32_t>(random.Int(q->args.zero_y, hi));
  q->high_half.resize(static_cast<size_t>(entries));
  q->high_shift.resize(static_cast<size_t>(entries));
  const int64_t most_sum = 255 * 255 * products;
  FoldConstants(entries, bias + most_sum, q->high_half.data(), q->high_shift.data(), &q->args);
  q->ratio.resize(static_cast<size_t>(entries));
  FoldRatios(entries, most_sum, q->ratio.data(), &q->args);
}

// The bias of an entry for kernels that take x XOR 0x80, from the sum of its weights; modulo 2^32.
void Flip(bool src_signed, int64_t sum, int64_t entry, Requant* q) {
  const auto at = static_cast<size_t>(entry);
  q->bias_flipped[at] = static_cast<int32_t>(q->bias[at] + (src_signed ? -128 : 128) * sum);
}

// A sum among the post-operations, with an addend for each of `bytes` of dst.
AlignedBuffer RandomAddend(Random& random, int64_t bytes, FinishTail* tail) {
  AlignedBuffer addend(static_cast<size_t>(bytes));
  for (size_t i = 0; i < addend.size(); ++i)
    addend.data()[i] = static_cast<uint8_t>(random.Int(0, 255));
  tail->addend_signed = random.OneIn(2);
  if (!tail->post_ops.empty()) {
    tail->post_ops[0].kind = numerics::PostOpKind::kSum;
    tail->addend = addend.data();
  }
  return addend;
}

AlignedBuffer RandomBytes(Random& random, int64_t size, bool extremes) {
  AlignedBuffer buffer(static_cast<size_t>(size) + 64);
  for (size_t i = 0; i < buffer.size(); ++i) {
    buffer.data()[i] =
        extremes ? (random.OneIn(2) ? 0x80 : 0x7f) : static_cast<uint8_t>(random.Int(0, 255));
  }
  return buffer;
}

// Bytes between the channels of one pixel and the next: parts of wider tensors have some.
int64_t RandomGap(Random& random) { return random.OneIn(3) ? random.Int(1, 70) : 0; }

// A command's second half that shows how often it ran on a byte.
struct Twist {
  int64_t pitch = 0;
  uint8_t added = 0;
};
void TwistBytes(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept {
  const Twist& twist = *static_cast<const Twist*>(state);
  for (int64_t i = 0; i < pixels; ++i, dst += twist.pitch) {
    for (int64_t c = 0; c < count; ++c) dst[c] = static_cast<uint8_t>(dst[c] * 3 + twist.added);
  }
}

WindowArgs RandomWindow(Random& random) {
  WindowArgs w;
  if (random.OneIn(3)) return w;
  w.kernel_h = random.Int(1, 5);
  w.kernel_w = random.Int(1, 5);
  w.stride_h = random.Int(1, 3);
  w.stride_w = random.Int(1, 3);
  w.dilation_h = random.Int(1, 2);
  w.dilation_w = random.Int(1, 2);
  w.pad_top = random.Int(0, 2);
  w.pad_left = random.Int(0, 2);
  return w;
}

// Input size that gives `out` outputs (with whatever bottom pad remains).
int64_t InputSize(Random& random, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                  int64_t pad) {
  const int64_t needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - pad;
  return std::max<int64_t>(1, needed - random.Int(0, 2));
}

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

TEST_P(KernelTest, ConvEqualsScalarOnRandomShapes) {
  const KernelTable& table = *Table(GetParam());
  ASSERT_NE(table.conv, nullptr);
  int by_ratio = 0;
  for (int seed = 0; seed < kShapes; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    ConvArgs a;
    a.window = RandomWindow(random);
    a.groups = random.OneIn(4) ? random.Int(2, 4) : 1;
    a.ic_per_group = random.OneIn(3) ? random.Int(1, 7) : random.Int(8, 70);
    a.oc_per_group = random.Int(1, random.OneIn(3) ? 200 : 70);
    a.ic = a.groups * a.ic_per_group;
    a.oc = a.groups * a.oc_per_group;
    a.ic4 = RoundUpTo(a.ic_per_group, 4);
    const int64_t taps = a.window.kernel_h * a.window.kernel_w;
    a.k = taps * a.ic4;
    a.gathers = a.groups == 1 && a.window.dilation_w == 1 && a.window.kernel_w * a.ic <= 64 &&
                random.OneIn(2);
    const int64_t row = a.gathers ? taps * a.ic : a.ic_per_group;  // of K, unpadded
    if (a.gathers) a.k = a.ic4 = RoundUpTo(row, 4);
    a.n = RoundUpTo(a.oc_per_group, 16);
    a.panels_per_group = (a.n + 63) / 64;
    a.batch = random.Int(1, 2);
    a.oh = random.Int(1, 5);
    a.ow = random.OneIn(20) ? random.Int(40, 90) : random.Int(1, 9);  // longer than a ring of rows
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
    std::fill_n(zero_row.data(), zero_row.size(), static_cast<uint8_t>(random.Int(0, 255)));
    Requant q;
    RandomRequant(random, seed, a.groups * a.n, a.k, &q);
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
    const AlignedBuffer addend = RandomAddend(random, m * a.dst_pitch, &q.tail);
    const Twist twist{a.dst_pitch, static_cast<uint8_t>(random.Int(1, 255))};
    if (random.OneIn(4)) a.after = {.run = TwistBytes, .state = &twist};
    std::vector<uint8_t> expected(m * a.dst_pitch + 8, 0x5a), actual(m * a.dst_pitch + 8, 0x5a);
    q.tail.dst = a.dst = expected.data();
    kScalarKernels.conv(a, {0, m, 0, panels}, nullptr);
    q.tail.dst = a.dst = actual.data();
    AlignedBuffer scratch(table.conv_scratch == nullptr ? 0 : table.conv_scratch(a));
    const int64_t m_cut = random.Int(0, m),
                  p_cut = random.Int(0, panels);  // four shares, as threads would take them
    table.conv(a, {0, m_cut, 0, p_cut}, scratch.data());
    table.conv(a, {m_cut, m, 0, p_cut}, scratch.data());
    table.conv(a, {0, m, p_cut, panels}, scratch.data());
    ASSERT_EQ(actual, expected);
  }
  EXPECT_GT(by_ratio, kShapes / 60);  // RequantArgs::ratio
}

TEST_P(KernelTest, DepthwiseEqualsScalarOnRandomShapes) {
  const KernelTable& table = *Table(GetParam());
  ASSERT_NE(table.depthwise, nullptr);
  int by_ratio = 0;
  for (int seed = 0; seed < kShapes; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    DepthwiseArgs a;
    a.window = RandomWindow(random);
    a.channels = random.Int(1, 150);
    a.c64 = RoundUpTo(a.channels, 64);
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
    std::fill_n(zero_row.data(), zero_row.size(), static_cast<uint8_t>(random.Int(0, 255)));
    Requant q;
    RandomRequant(random, seed, a.c64, taps, &q);
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
    const AlignedBuffer addend = RandomAddend(random, m * a.dst_pitch, &q.tail);
    const Twist twist{a.dst_pitch, static_cast<uint8_t>(random.Int(1, 255))};
    if (random.OneIn(4)) a.after = {.run = TwistBytes, .state = &twist};
    std::vector<uint8_t> expected(m * a.dst_pitch + 8, 0x5a), actual(m * a.dst_pitch + 8, 0x5a);
    q.tail.dst = a.dst = expected.data();
    kScalarKernels.depthwise(a, {0, m, 0, a.channels}, nullptr);
    q.tail.dst = a.dst = actual.data();
    AlignedBuffer scratch(table.depthwise_scratch == nullptr ? 0 : table.depthwise_scratch(a));
    const int64_t m_cut = random.Int(0, m), c_cut = std::min(a.channels, random.Int(0, 2) * 64);
    table.depthwise(a, {0, m_cut, 0, c_cut}, scratch.data());
    table.depthwise(a, {m_cut, m, 0, c_cut}, scratch.data());
    table.depthwise(a, {0, m, c_cut, a.channels}, scratch.data());
    ASSERT_EQ(actual, expected);
  }
  EXPECT_GT(by_ratio, kShapes / 60);  // RequantArgs::ratio
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
