// Functions of one element in registers: against the C library in double, over samples of all
// floats, and the same bytes for every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "runtime/f32/row_kernels.h"
#include "runtime/runtime.h"

namespace rshift::f32 {
namespace {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Softplus(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

struct Function {
  const char* name;
  ElementFunction RowKernels::*kernel;
  std::function<double(double)> exact;
  double ulps;      // of the exact value
  double of_x = 0;  // or this much of |x|, where the formula cancels
  float alpha = 0, beta = 1;
};

const Function kFunctions[] = {
    {"sigmoid", &RowKernels::sigmoid, Logistic, 4},
    {"tanh", &RowKernels::tanh, [](double x) { return std::tanh(x); }, 4},
    {"silu", &RowKernels::silu, [](double x) { return x * Logistic(x); }, 4},
    {"mish", &RowKernels::mish, [](double x) { return x * std::tanh(Softplus(x)); }, 4},
    {"erf", &RowKernels::erf, [](double x) { return std::erf(x); }, 4},
    {"gelu", &RowKernels::gelu, [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }, 4,
     0x1p-22},
    {"gelu_tanh", &RowKernels::gelu_tanh,
     [](double x) { return x * Logistic(2 * 0.79788456080286536 * (x + 0.044715 * x * x * x)); }, 4,
     0x1p-22},
    {"elu", &RowKernels::elu, [](double x) { return 1.05f * (x > 0 ? x : 0.75f * std::expm1(x)); },
     4, 0, 0.75f, 1.05f},
    {"hard_sigmoid", &RowKernels::hard_sigmoid,
     [](double x) { return std::fmin(1, std::fmax(0, 0.2f * x + 0.5f)); }, 4, 0x1p-22, 0.2f, 0.5f},
    {"hard_swish", &RowKernels::hard_swish,
     [](double x) { return x * std::fmin(1, std::fmax(0, x / 6 + 0.5)); }, 4, 0x1p-22},
    {"leaky_relu", &RowKernels::leaky_relu, [](double x) { return x < 0 ? 0.1f * x : x; }, 1, 0,
     0.1f},
    {"clip", &RowKernels::clip, [](double x) { return std::fmin(6, std::fmax(-2, x)); }, 0, 0, -2,
     6},
};

std::vector<Isa> Available() {
  std::vector<Isa> found = {Isa::kScalar};
  for (const Isa isa : {Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kNeonDot})
    if (CpuSupports(isa)) found.push_back(isa);
  return found;
}

// Every finite float's neighbourhood: all exponents, 2^9 mantissas of each, both signs.
std::vector<float> AllMagnitudes(float most) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits <= std::bit_cast<uint32_t>(most); bits += 16381) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    x.push_back(-x.back());
  }
  return x;
}

// Where functions bend.
std::vector<float> AroundZero() {
  std::vector<float> x;
  for (int i = -220000; i <= 220000; ++i) x.push_back(static_cast<float>(i) * 0.00047f);
  return x;
}

std::vector<float> Compute(const Function& f, Isa isa, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  (RowKernelsFor(isa).*f.kernel)(x.data(), y.data(), static_cast<int64_t>(x.size()), f.alpha,
                                 f.beta);
  return y;
}

TEST(FunctionsTest, NearTheExactValueAndTheSameEverywhere) {
  for (const Function& f : kFunctions) {
    // Beyond 1e12 the cube of gelu_tanh leaves the floats.
    for (const std::vector<float>& x : {AllMagnitudes(1e12f), AroundZero()}) {
      const std::vector<float> y = Compute(f, Isa::kScalar, x);
      for (const Isa isa : Available()) {
        const std::vector<float> other = Compute(f, isa, x);
        ASSERT_EQ(std::memcmp(y.data(), other.data(), 4 * y.size()), 0) << f.name << Name(isa);
      }
      for (size_t i = 0; i < x.size(); ++i) {
        const double exact = f.exact(static_cast<double>(x[i]));
        const double size = std::fabs(exact);
        const double ulp = size > 0 ? std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23) : 0;
        const double bound = f.ulps * ulp + f.of_x * std::fabs(static_cast<double>(x[i]));
        // An exponential below the normal floats may be 0.
        if (size < 0x1p-125 * std::max(1.0, std::fabs(static_cast<double>(x[i]))) && y[i] == 0)
          continue;
        ASSERT_LE(std::fabs(static_cast<double>(y[i]) - exact), bound)
            << f.name << " of " << x[i] << ": " << y[i] << ", exact " << exact;
      }
    }
  }
}

TEST(FunctionsTest, NotANumberStaysOne) {
  const std::vector<float> x(70, std::numeric_limits<float>::quiet_NaN());
  for (const Function& f : kFunctions) {
    for (const Isa isa : Available()) {
      for (const float y : Compute(f, isa, x)) ASSERT_TRUE(std::isnan(y)) << f.name << Name(isa);
    }
  }
}

TEST(FunctionsTest, Ends) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {kInfinity, -kInfinity, 3e38f, -3e38f, 0.0f};
  for (const Isa isa : Available()) {
    EXPECT_EQ(Compute(kFunctions[0], isa, x), (std::vector<float>{1, 0, 1, 0, 0.5f}));
    EXPECT_EQ(Compute(kFunctions[1], isa, x), (std::vector<float>{1, -1, 1, -1, 0}));
    EXPECT_EQ(Compute(kFunctions[4], isa, x), (std::vector<float>{1, -1, 1, -1, 0}));
    EXPECT_EQ(Compute(kFunctions[5], isa, {kInfinity, 3e38f, -3e38f}),
              (std::vector<float>{kInfinity, 3e38f, 0}));
    EXPECT_TRUE(std::signbit(Compute(kFunctions[1], isa, {-0.0f})[0]));
  }
}

// Any length, in place and not; what follows is left alone.
TEST(FunctionsTest, EveryLength) {
  std::mt19937 random(5);
  for (const Function& f : kFunctions) {
    for (const Isa isa : Available()) {
      for (size_t n = 0; n <= 140; ++n) {
        std::vector<float> x(n + 1);
        for (float& v : x) v = static_cast<float>(random() % 2000) * 0.01f - 10;
        std::vector<float> whole = x;
        whole.resize(512);
        whole = Compute(f, isa, whole);
        std::vector<float> y(n + 1, 77.0f), place = x;
        const auto count = static_cast<int64_t>(n);
        (RowKernelsFor(isa).*f.kernel)(x.data(), y.data(), count, f.alpha, f.beta);
        (RowKernelsFor(isa).*f.kernel)(place.data(), place.data(), count, f.alpha, f.beta);
        EXPECT_EQ(y[n], 77.0f);
        EXPECT_EQ(place[n], x[n]);
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(y[i], whole[i]) << f.name << " " << n;
          ASSERT_EQ(place[i], whole[i]) << f.name << " " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rshift::f32
