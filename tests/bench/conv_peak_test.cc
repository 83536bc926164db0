// The convolution kernels against the peak of their instruction set, both measured here: a compiler
// that spills the register tile costs half the speed and no other test would notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "runtime/kernels/dispatch.h"
#include "tools/peak.h"

namespace rshift {
namespace {

constexpr double kLeastShare = 0.7;

struct Shape2d {
  const char* name;
  int64_t side, ic, oc, kernel;
};
void PrintTo(const Shape2d& s, std::ostream* out) { *out << s.name; }

// A convolution of stride 1 with random s8 operands and everything it points to.
class Conv {
 public:
  explicit Conv(const Shape2d& s)
      : src_(static_cast<size_t>(s.side * s.side * s.ic + 64)),
        dst_(static_cast<size_t>(s.side * s.side * s.oc + 64)),
        weights_(static_cast<size_t>(s.oc * s.ic * s.kernel * s.kernel + 64)),
        zero_row_(static_cast<size_t>(s.ic + 64)),
        bias_(static_cast<size_t>(s.oc), 1000),
        multiplier_(static_cast<size_t>(s.oc), 1 << 30),
        rshift_(static_cast<size_t>(s.oc), 44) {
    std::mt19937 engine(1);
    for (AlignedBuffer* b : {&src_, &weights_}) {
      std::generate_n(b->data(), b->size(), [&] { return static_cast<uint8_t>(engine()); });
    }
    std::fill_n(zero_row_.data(), zero_row_.size(), uint8_t{0});
    args.src = src_.data();
    args.dst = dst_.data();
    args.weights = reinterpret_cast<const int8_t*>(weights_.data());
    args.zero_row = zero_row_.data();
    args.ih = args.iw = args.oh = args.ow = s.side;
    args.ic = args.ic_per_group = args.ic4 = args.src_pitch = s.ic;
    args.oc = args.oc_per_group = args.n = args.dst_pitch = s.oc;
    args.k = s.kernel * s.kernel * s.ic;
    args.panels_per_group = s.oc / 64;
    args.window = {.kernel_h = s.kernel,
                   .kernel_w = s.kernel,
                   .pad_top = s.kernel / 2,
                   .pad_left = s.kernel / 2};
    args.pointwise = s.kernel == 1;
    args.requant.bias = args.requant.bias_flipped = bias_.data();
    args.requant.multiplier = multiplier_.data();
    args.requant.rshift = rshift_.data();
    args.requant.min_rshift = args.requant.max_rshift = 44;
    args.requant.lo = -128;
    args.requant.hi = 127;
  }

  int64_t macs() const { return args.oh * args.ow * args.oc * args.k; }
  void Run(const KernelTable& table) {
    if (table.conv_scratch != nullptr && scratch_.empty()) {
      scratch_ = AlignedBuffer(table.conv_scratch(args));
    }
    table.conv(args, {0, args.oh * args.ow, 0, args.panels_per_group}, scratch_.data());
  }

  ConvArgs args;

 private:
  AlignedBuffer src_, dst_, weights_, zero_row_, scratch_;
  std::vector<int32_t> bias_, multiplier_, rshift_;
};

// 2e-9 x multiply-accumulates per second of the fastest of many runs: other programs only slow it.
double FastestGops(Conv& conv, const KernelTable& table) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 300; ++i) {
    const auto start = std::chrono::steady_clock::now();
    conv.Run(table);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2e-9 * static_cast<double>(conv.macs()) / best;
}

class ConvPeakTest : public testing::TestWithParam<Shape2d> {};

TEST_P(ConvPeakTest, ReachesMostOfTheDotProductPeak) {
  const Isa isa = BestIsa();
  if (isa != Isa::kAvx512Vnni && isa != Isa::kAvxVnni) {
    GTEST_SKIP() << "this CPU has no VNNI; the best it has is " << Name(isa);
  }
  const KernelTable& table = KernelsFor(isa);
  Conv conv(GetParam());
  double peak = PeakGops(isa, 1);
  const double reached = FastestGops(conv, table);
  peak = std::max(peak, PeakGops(isa, 1));  // of both: the clock may have changed between
  std::printf("%s %s: %.1f of %.1f GOPS, %.1f %%\n", Name(isa), GetParam().name, reached, peak,
              100 * reached / peak);
  EXPECT_GE(reached, kLeastShare * peak);
  EXPECT_LE(reached, 1.1 * peak) << "no kernel is faster than the peak: what was measured?";
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvPeakTest,
                         testing::Values(Shape2d{"conv 3x3 128 to 128, 28x28", 28, 128, 128, 3},
                                         Shape2d{"conv 1x1 1024 to 256, 14x14", 14, 1024, 256, 1}),
                         [](const auto& param) {
                           return param.param.kernel == 3 ? std::string("Conv3x3")
                                                          : std::string("Conv1x1");
                         });

TEST(PeakGops, IsNotBelowThatOfASimplerInstructionSet) {
  EXPECT_EQ(PeakGops(Isa::kScalar, 1), 0);
  double simpler = 0;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni}) {
    if (!CpuSupports(isa)) continue;
    const double peak = PeakGops(isa, 1);
    std::printf("%s: %.1f GOPS\n", Name(isa), peak);
    EXPECT_GT(peak, 0.9 * simpler) << Name(isa);
    simpler = peak;
  }
}

}  // namespace
}  // namespace rshift
