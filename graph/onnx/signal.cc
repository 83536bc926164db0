// Fourier transforms of a static length as products with a constant matrix, windows, and the
// weights of mel filters.
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/portable_math.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

// [rows, columns] of f(2 pi * row * column / period).
Expr Waves(OnnxNode& node, int64_t rows, int64_t columns, int64_t period, double (*f)(double)) {
  std::vector<float> elements(rows * columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto turn = static_cast<double>(r * c % period) / static_cast<double>(period);
      elements[r * columns + c] = static_cast<float>(f(kTwoPi * turn));
    }
  }
  return Floats(node, {rows, columns}, elements);
}

double Cosine(double x) { return portable::Cos(x); }
double Sine(double x) { return portable::Sin(x); }

// x: [..., length, 1 or 2] -> [..., bins, 2], the transform of the dimension before the last.
Expr Transform(const Expr& x, int64_t bins, bool inverse) {
  OnnxNode& node = x.node();
  const int64_t length = x.dim(x.rank() - 2);
  node.CheckSupported(length >= 1 && length * bins <= (int64_t{1} << 24), "transforms ", length,
                      " elements, which takes a matrix of ", length, "x", bins,
                      ", expected at most 2^24 entries");
  const Expr cosines = Waves(node, length, bins, length, Cosine);
  const Expr sines = Waves(node, length, bins, length, Sine);
  const Expr rows = Swapped(x);  // [..., 1 or 2, length]
  const Expr real = At(rows, -2, 0);
  // (a + bi) * (cos - i sin), or + i sin backwards.
  Expr re = Product(real, cosines), im = Product(real, sines) * (inverse ? 1.0 : -1.0);
  if (x.dim(x.rank() - 1) == 2) {
    const Expr imaginary = At(rows, -2, 1), turned = Product(imaginary, sines);
    re = inverse ? re - turned : re + turned;
    im = im + Product(imaginary, cosines);
  }
  const Expr both = Swapped(Joined({re, im}, -2));
  return inverse ? both / static_cast<double>(length) : both;
}

// `axis` to the place before the last, and back.
Expr WithAxisMoved(const Expr& x, int64_t axis) {
  std::vector<int64_t> perm(x.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm[perm.size() - 2]);
  return Transposed(x, perm);
}

int64_t OnlyInt(OnnxNode& node, int i, const char* role) {
  const auto list = node.ConstantInts(i, role);
  node.Check(list.size() == 1, role, " has ", list.size(), " elements, expected 1");
  return list[0];
}

// A half spectrum completed by its conjugate, for the inverse of a real signal.
Expr WithConjugates(const Expr& x, int64_t length) {
  OnnxNode& node = x.node();
  const int64_t mirrored = length - x.dim(x.rank() - 2);
  if (mirrored <= 0) return Part(x, -2, 0, length);
  const Expr tail = Flipped(Part(x, -2, 1, 1 + mirrored), -2);
  const Expr conjugate = Floats(node, {1, 2}, {1.0f, -1.0f});
  return Joined({x, tail * conjugate}, -2);
}

void ImportDft(OnnxNode& node) {
  Expr x = FloatIn(node, 0);
  const int64_t last = static_cast<int64_t>(x.rank()) - 1;
  node.Check(last >= 1 && (x.dim(last) == 1 || x.dim(last) == 2), "input has the shape ",
             ToString(x.shape()), ", expected 1 or 2 (real, complex) as the last dimension");
  const int64_t given = node.opset() >= 20
                            ? (node.HasInput(2) ? OnlyInt(node, 2, "axis") : int64_t{-2})
                            : node.Int("axis", 1);
  const int64_t axis = node.Axis(given, x.rank());
  node.Check(axis != last, "axis is the last dimension, which holds real and imaginary parts");
  const bool inverse = node.Int("inverse", 0) != 0, onesided = node.Int("onesided", 0) != 0;
  const bool to_real = inverse && onesided;
  x = WithAxisMoved(x, axis);
  const int64_t size = x.dim(x.rank() - 2);
  const int64_t length = node.HasInput(1) ? OnlyInt(node, 1, "dft_length")
                         : to_real        ? 2 * (size - 1)
                                          : size;
  node.Check(length >= 1, "dft_length is ", length, ", expected 1 or more");
  if (to_real) {
    const int64_t half = length / 2 + 1;
    x = size < half ? Padded(x, -2, 0, half - size) : Part(x, -2, 0, half);
    x = WithConjugates(x, length);
  } else {
    x = size < length ? Padded(x, -2, 0, length - size) : Part(x, -2, 0, length);
  }
  const Expr y = Transform(x, onesided && !inverse ? length / 2 + 1 : length, inverse);
  Give(WithAxisMoved(to_real ? At(y, -1, 0) : y, axis));
}

// signal [batch, length, 1 or 2], step, window, frame length -> [batch, frames, bins, 2].
void ImportStft(OnnxNode& node) {
  Expr x = FloatIn(node, 0);
  if (x.rank() == 2) x = Unsqueezed(x, 2);
  node.Check(x.rank() == 3, "signal has the shape ", ToString(x.shape()),
             ", expected [batch, length, 1 or 2]");
  const int64_t step = OnlyInt(node, 1, "frame_step");
  node.Check(node.HasInput(2) || node.HasInput(3), "has neither a window nor a frame length");
  const int64_t frame = node.HasInput(3) ? OnlyInt(node, 3, "frame_length") : node.ShapeOf(2)[0];
  node.Check(step >= 1 && frame >= 1 && frame <= x.dim(1), "takes frames of ", frame, " every ",
             step, " of a signal of ", x.dim(1));
  const int64_t frames = (x.dim(1) - frame) / step + 1;
  const Expr places =
      Iota(node, frames, 2, 0) * static_cast<double>(step) + Iota(node, frame, 2, 1);
  Expr cut = Gathered(x, places, 1);  // [batch, frames, frame, 1 or 2]
  if (node.HasInput(2)) cut = cut * Reshaped(FloatIn(node, 2), {frame, 1});
  const bool onesided = node.Int("onesided", 1) != 0 && x.dim(2) == 1;
  Give(Transform(cut, onesided ? frame / 2 + 1 : frame, false));
}

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
void ImportWindow(OnnxNode& node, double a0, double a1, double a2) {
  const int64_t size = OnlyInt(node, 0, "size");
  node.Check(size >= 1 && size < (int64_t{1} << 24), "size is ", size, ", expected 1 to 2^24");
  const int64_t period = node.Int("periodic", 1) != 0 ? size : std::max<int64_t>(size - 1, 1);
  std::vector<float> window(size);
  for (int64_t i = 0; i < size; ++i) {
    const double x = kTwoPi * static_cast<double>(i) / static_cast<double>(period);
    window[i] = static_cast<float>(a0 - a1 * portable::Cos(x) + a2 * portable::Cos(2 * x));
  }
  const DType type = ImportDType(static_cast<int>(node.Int("output_datatype", 1)), node.where());
  Give(CastTo(Floats(node, {size}, window), type));
}

constexpr ImportEntry kSignalImports[] = {
    {"DFT", ImportDft},
    {"STFT", ImportStft},
    {"HannWindow", [](OnnxNode& node) { ImportWindow(node, 0.5, 0.5, 0.0); }},
    {"HammingWindow", [](OnnxNode& node) { ImportWindow(node, 25.0 / 46, 21.0 / 46, 0.0); }},
    {"BlackmanWindow", [](OnnxNode& node) { ImportWindow(node, 0.42, 0.5, 0.08); }},
};

}  // namespace

std::span<const ImportEntry> SignalImports() { return kSignalImports; }

}  // namespace rshift
