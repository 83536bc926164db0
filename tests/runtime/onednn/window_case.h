// What the tests of windowed commands share.
#ifndef RSHIFT_TESTS_RUNTIME_ONEDNN_WINDOW_CASE_H_
#define RSHIFT_TESTS_RUNTIME_ONEDNN_WINDOW_CASE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <vector>

#include "runtime/onednn/float_library.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift::testing {

// One spatial dimension of a window.
struct WindowAxis {
  int64_t in = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  int64_t extra = 0;  // ceil_mode overhang, or output padding

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t ConvOut() const { return (in + before + after - extent()) / stride + 1; }
  int64_t TransposedOut() const { return (in - 1) * stride + extent() - before - after + extra; }
};

inline std::ostream& operator<<(std::ostream& out, const WindowAxis& a) {
  return out << "in " << a.in << " kernel " << a.kernel << " stride " << a.stride << " dilation "
             << a.dilation << " pads " << a.before << "," << a.after << " extra " << a.extra;
}

inline void SetWindow(const WindowAxis& h, const WindowAxis& w, CommandCase* test) {
  test->Set(Field::kKernelH, h.kernel).Set(Field::kKernelW, w.kernel);
  test->Set(Field::kStrideH, h.stride).Set(Field::kStrideW, w.stride);
  test->Set(Field::kDilationH, h.dilation).Set(Field::kDilationW, w.dilation);
  test->Set(Field::kPadTop, h.before).Set(Field::kPadLeft, w.before);
  test->Set(Field::kPadBottom, h.after).Set(Field::kPadRight, w.after);
}

inline int64_t Between(int64_t lo, int64_t hi, std::mt19937& random) {
  return lo + static_cast<int64_t>(random() % static_cast<uint32_t>(hi - lo + 1));
}

// Pads smaller than the window, and at least one output position.
inline WindowAxis RandomAxis(std::mt19937& random) {
  WindowAxis axis;
  axis.kernel = Between(1, 4, random);
  axis.stride = Between(1, 3, random);
  axis.dilation = Between(1, 2, random);
  axis.before = Between(0, axis.kernel - 1, random);
  axis.after = Between(0, axis.kernel - 1, random);
  axis.in = axis.extent() + Between(0, 7, random);
  return axis;
}

// A convolution, transposed or not.
struct WindowCase {
  WindowAxis h, w;
  int64_t batch = 1, groups = 1, ic = 1, oc = 1;  // channels per group
  bool bias = true, constant_weights = true, constant_bias = true;
  float lo = -INFINITY, hi = INFINITY;
};

// `test`, the command of the case, by oneDNN and by the portable kernels.
inline void ExpectClose(const WindowCase& c, uint32_t seed, const CommandCase& test,
                        const std::vector<double>& want) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed << " batch " << c.batch << " groups "
                                    << c.groups << " channels a group " << c.ic << " -> " << c.oc
                                    << "; h: " << c.h << "; w: " << c.w);
  RegisterFloatLibrary();
  // |sum| stays small while the terms do not: the tolerance is that of the terms.
  const double tolerance =
      1e-6 * std::sqrt(static_cast<double>(c.ic * c.h.kernel * c.w.kernel)) * 4;
  for (const int threads : {1, 2})
    ExpectClose(RunCommand(test, threads).As<float>(), want, tolerance);
  ExpectClose(RunOnAnyIsa(test, true).As<float>(), want, kPortableTolerance);
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_ONEDNN_WINDOW_CASE_H_
