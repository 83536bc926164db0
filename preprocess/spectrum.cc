#include "preprocess/spectrum.h"

#include <numbers>

#include "base/portable_math.h"

namespace rshift {
namespace {

size_t LeastFactor(size_t number) {
  for (size_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

}  // namespace

Spectrum::Spectrum(size_t length) : length_(length), roots_(length), spectrum_(length) {
  for (size_t k = 0; k < length; ++k) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    roots_[k] = {portable::Cos(angle), -portable::Sin(angle)};
  }
  column_.resize(length);
}

std::vector<double> Spectrum::Powers(std::span<const double> frame) {
  Transform(frame.data(), 1, length_, spectrum_.data());
  std::vector<double> powers(length_ / 2 + 1);
  for (size_t k = 0; k < powers.size(); ++k) {
    const Complex& x = spectrum_[k];
    powers[k] = x.re * x.re + x.im * x.im;
  }
  return powers;
}

// Cooley and Tukey's decimation in time: the transforms of `parts` interleaved parts, put together.
void Spectrum::Transform(const double* from, size_t step, size_t length, Complex* to) {
  if (length == 1) {
    *to = {*from, 0};
    return;
  }
  const size_t parts = LeastFactor(length), part = length / parts;
  for (size_t p = 0; p < parts; ++p) Transform(from + p * step, step * parts, part, to + p * part);
  Combine(parts, length, to);
}

void Spectrum::Combine(size_t parts, size_t length, Complex* to) {
  const size_t part = length / parts, step = length_ / length;
  for (size_t k = 0; k < part; ++k) {
    for (size_t p = 0; p < parts; ++p) column_[p] = to[p * part + k];
    for (size_t q = 0; q < parts; ++q) {
      Complex sum = column_[0];
      const size_t frequency = q * part + k;
      for (size_t p = 1; p < parts; ++p) {
        const Complex& root = roots_[p * frequency % length * step];
        sum.re += column_[p].re * root.re - column_[p].im * root.im;
        sum.im += column_[p].re * root.im + column_[p].im * root.re;
      }
      to[frequency] = sum;
    }
  }
}

}  // namespace rshift
