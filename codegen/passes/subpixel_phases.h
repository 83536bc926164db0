// A transposed convolution as convolutions: its geometry, one dimension at a time.
//
//   y[o] = sum of x[i] w[k] over all i, k with i stride + k dilation - pad = o
//
// Outputs o = f + stride j of one phase f, 0 <= f < stride, read the same taps: those k for which
// f + pad - k dilation is a multiple of the stride. They follow each other by stride / g, the
// inputs that they meet by dilation / g, g the greatest common divisor of both. So each phase is a
// convolution of stride 1 over x by itself, and no product with a zero between pixels is computed.
#ifndef RSHIFT_CODEGEN_PASSES_SUBPIXEL_PHASES_H_
#define RSHIFT_CODEGEN_PASSES_SUBPIXEL_PHASES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "target/conv_forms.h"

namespace rshift {

// One dimension of a transposed convolution; in, out, kernel, stride, dilation >= 1.
struct TransposedSize {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

  // Outputs of each phase; those beyond `out` belong to no output.
  int64_t steps() const { return (out + stride - 1) / stride; }
};

// Where a convolution reads: of x without `cut_before` and `cut_after` positions, with pads. All
// >= 0, fewer are cut than there are.
struct PhaseWindow {
  int64_t taps = 1, dilation = 1;
  int64_t cut_before = 0, cut_after = 0, pad_before = 0, pad_after = 0;
  bool operator==(const PhaseWindow&) const = default;
};

// Taps [first_own, first_own + own) of the window are the kernel's first_tap, first_tap - tap_step,
// and so on; the others have weights of 0. own may be 0: no product reaches any output.
struct Phase {
  PhaseWindow window;
  int64_t first_own = 0, own = 1;
  int64_t first_tap = 0, tap_step = 1;

  // The kernel's tap, or -1.
  int64_t KernelTap(int64_t t) const {
    const int64_t i = t - first_own;
    return i >= 0 && i < own ? first_tap - i * tap_step : -1;
  }
};

// All phases, by f.
std::vector<Phase> Phases(const TransposedSize& size);

// The same phases under one window that holds all of theirs; as they are where there is none.
std::vector<Phase> UnderOneWindow(const std::vector<Phase>& phases, const TransposedSize& size);

// Neighbours among the phases, [first, first + count), whose windows are the same.
struct PhaseRun {
  int64_t first = 0, count = 1;
};

// Phases of rows and columns that one convolution may compute: each phase is a block of its output
// channels. In row-major order the blocks of all parts follow each other.
struct PhasePart {
  PhaseRun rows, columns;
};

// together: phases of the same window go into one part; else each is one.
std::vector<PhasePart> DividePhases(const std::vector<Phase>& rows,
                                    const std::vector<Phase>& columns, bool together);

struct PhasePlan {
  std::vector<Phase> rows, columns;
  std::vector<PhasePart> parts;
};

// More convolutions of one are avoided where there is a plan of fewer.
inline constexpr int64_t kMostParts = 1024;

// Phases of the same window in one convolution: every product is one of the definition. With
// `forms` the cheapest division for `ic` and `oc` channels: with few output channels one
// convolution of all phases under a larger window multiplies less padding than one for each. Groups
// have a part for each phase: the channels of a phase would not be neighbours.
PhasePlan PlanPhases(const TransposedSize& height, const TransposedSize& width, int64_t groups,
                     int64_t ic, int64_t oc, const std::optional<ConvForms>& forms);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_SUBPIXEL_PHASES_H_
