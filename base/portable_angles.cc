// Sin, Cos, Tan and their inverses.
//
// An angle x = m * 2^e, m of 53 bits, is taken apart as quadrant * pi/2 + r, |r| <= pi/4, by the
// bits of 2/pi: of m * 2^e * 2/pi only what is below 4 counts, so that 160 bits of 2/pi are enough
// for any e. At least 100 bits of the fraction are right; no float is nearer to a multiple of pi/2
// than 2^-60 of it.
#include <array>
#include <cmath>
#include <cstddef>

#include "base/portable_math.h"

namespace rshift::portable {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 2/pi, 32 bits each, behind 64 zero bits.
constexpr uint32_t kTwoByPi[] = {0,          0,          0xA2F9836E, 0x4E441529,
                                 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
                                 0xFE5163AB, 0xDEBBC561, 0xB7246E3A};
constexpr size_t kWords = 5;  // of the window

struct Angle {
  int quadrant = 0;
  double r = 0;
};

// The low 160 bits of m times the bits of 2/pi from `first` on; the least significant word first.
std::array<uint32_t, kWords> Product(uint64_t m, size_t first) {
  std::array<uint32_t, kWords> window{}, product{};
  const size_t word = first / 32, shift = first % 32;
  for (size_t i = 0; i < kWords; ++i) {
    const uint64_t two = uint64_t{kTwoByPi[word + i]} << 32 | kTwoByPi[word + i + 1];
    window[kWords - 1 - i] = static_cast<uint32_t>(two >> (32 - shift));
  }
  for (const size_t half : {size_t{0}, size_t{1}}) {
    const uint64_t factor = half == 0 ? m & 0xffffffff : m >> 32;
    uint64_t carry = 0;
    for (size_t i = half; i < kWords; ++i) {
      const uint64_t sum = factor * window[i - half] + product[i] + carry;
      product[i] = static_cast<uint32_t>(sum);
      carry = sum >> 32;
    }
  }
  return product;
}

Angle Reduce(double x) {
  const double size = std::fabs(x);
  if (size <= kHalfPi / 2) return {0, x};
  const auto raw = std::bit_cast<uint64_t>(size);
  const int64_t exponent = static_cast<int64_t>(raw >> 52) - 1075;  // size = m * 2^exponent
  const uint64_t m = (raw & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
  // Bit j of 2/pi, of weight 2^-j, stands at 63 + j; those up to exponent - 2 give multiples of 4.
  std::array<uint32_t, kWords> product = Product(m, static_cast<size_t>(exponent - 1 + 63));
  uint32_t& top = product[kWords - 1];  // two bits of the quadrant, 30 of the fraction
  int quadrant = static_cast<int>(top >> 30);
  top &= 0x3fffffff;
  const bool above_half = (top & 0x20000000) != 0;
  if (above_half) {  // from the next quadrant down
    quadrant = (quadrant + 1) % 4;
    uint64_t borrow = 0;
    for (uint32_t& word : product) {
      const uint64_t difference = (uint64_t{1} << 32) - word - borrow;
      word = static_cast<uint32_t>(difference);
      borrow = difference >> 32 == 0 ? 1 : 0;
    }
    top &= 0x3fffffff;
  }
  double fraction = 0, weight = 0x1p-158;
  for (const uint32_t word : product) {
    fraction += word * weight;
    weight *= 0x1p32;
  }
  const double r = (above_half ? -fraction : fraction) * kHalfPi;
  return x < 0.0 ? Angle{(4 - quadrant) % 4, -r} : Angle{quadrant, r};
}

// Taylor series for |r| <= pi/4: to r^19 and r^18.
double SinNear(double r) {
  const double square = r * r;
  double sum = 0.0;
  for (int n = 18; n >= 2; n -= 2) sum = (1.0 + sum) * -square / (n * (n + 1));
  return r + r * sum;
}
double CosNear(double r) {
  const double square = r * r;
  double sum = 0.0;
  for (int n = 18; n >= 4; n -= 2) sum = (1.0 + sum) * -square / (n * (n - 1));
  return 1.0 - 0.5 * square * (1.0 + sum);
}

bool Defined(double x) { return std::fabs(x) < 0x1p128; }

}  // namespace

double Sin(double x) {
  if (!Defined(x)) return kNan;
  const Angle angle = Reduce(x);
  const double value = angle.quadrant % 2 == 0 ? SinNear(angle.r) : CosNear(angle.r);
  return angle.quadrant < 2 ? value : -value;
}

double Cos(double x) {
  if (!Defined(x)) return kNan;
  const Angle angle = Reduce(x);
  const double value = angle.quadrant % 2 == 0 ? CosNear(angle.r) : SinNear(angle.r);
  return angle.quadrant == 0 || angle.quadrant == 3 ? value : -value;
}

double Tan(double x) {
  if (!Defined(x)) return kNan;
  const Angle angle = Reduce(x);
  const double sine = SinNear(angle.r), cosine = CosNear(angle.r);
  return angle.quadrant % 2 == 0 ? sine / cosine : -cosine / sine;
}

double Atan(double x) {
  if (x != x) return x;
  const double size = std::fabs(x);
  // atan(t) = 2 atan(t / (1 + sqrt(1 + t^2))), twice: t is below 0.199 then.
  double t = size > 1.0 ? 1.0 / size : size;
  t = t / (1.0 + std::sqrt(1.0 + t * t));
  t = t / (1.0 + std::sqrt(1.0 + t * t));
  const double square = t * t;
  double sum = 0.0;
  for (int n = 29; n >= 3; n -= 2) sum = (1.0 / n - sum) * square;
  const double quarter = t - t * sum;
  const double value = size > 1.0 ? kHalfPi - 4.0 * quarter : 4.0 * quarter;
  return x < 0.0 ? -value : value;
}

double Asin(double x) {
  const double size = std::fabs(x);
  if (!(size <= 1.0)) return kNan;
  const double value = size == 1.0 ? kHalfPi : Atan(size / std::sqrt((1.0 - size) * (1.0 + size)));
  return x < 0.0 ? -value : value;
}

double Acos(double x) {
  if (!(std::fabs(x) <= 1.0)) return kNan;
  return 2.0 * Atan(std::sqrt((1.0 - x) / (1.0 + x)));
}

}  // namespace rshift::portable
