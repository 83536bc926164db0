// Discrete Fourier transform of real frames, in binary64 and by base/portable_math.h, so that every
// CPU gives the same bits: a library would ask libm for its sines.
#ifndef RSHIFT_PREPROCESS_SPECTRUM_H_
#define RSHIFT_PREPROCESS_SPECTRUM_H_

#include <cstddef>
#include <span>
#include <vector>

namespace rshift {

// For frames of one length, whatever its prime factors: n log n for small ones.
class Spectrum {
 public:
  explicit Spectrum(size_t length);
  // Re^2 + Im^2 of the frequencies 0 to length / 2.
  std::vector<double> Powers(std::span<const double> frame);

 private:
  struct Complex {
    double re = 0, im = 0;
  };
  // `from`: every `step`-th value, `length` of them.
  void Transform(const double* from, size_t step, size_t length, Complex* to);
  void Combine(size_t parts, size_t length, Complex* to);

  size_t length_;
  std::vector<Complex> roots_;  // exp(-2 pi i k / length)
  std::vector<Complex> spectrum_, column_;
};

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_SPECTRUM_H_
