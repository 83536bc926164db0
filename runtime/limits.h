// How much one run of a program may compute and how much memory a session may take: predicted from
// the program alone, before anything of it runs, and refused where it is more than the caller
// allows. So a small file cannot keep a machine busy for days or ask for its whole memory.
//
// Sizes never overflow, because three bounds hold for every file that is read:
//   tensors     the dimensions that are not 0 multiply to less than 2^40 (base/shape.h), so that
//               every product of some of them does, and every stride and offset in bytes is below
//               2^43; an extent with a pitch is below 2^41 (codegen/container/check.cc)
//   windows     kernel, stride, dilation, pads and groups are at most 2^20 (isa), so that
//               every coordinate is below 2^61
//   lists       starts, steps, pads, repeats and indices are compared with the dimensions they are
//               for, without arithmetic that may overflow (runtime/verify/move.cc)
// What multiplies sizes of several tensors or windows is in this file, and saturates.
#ifndef RSHIFT_RUNTIME_LIMITS_H_
#define RSHIFT_RUNTIME_LIMITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

// What a run takes. Elements: read, written or looked at in a window; those of a resize, pool or
// normalization count once for each tap.
struct RunWork {
  uint64_t macs = 0;      // multiply-accumulates of convolutions and matrix products
  uint64_t elements = 0;  // the work of all other commands, and the tensors of these
  uint64_t buffers = 0;  // bytes of a session on one thread besides the arena, at most: index maps,
                         // taps, tables, scratch, reordered weights
  uint64_t arena = 0;    // bytes
  // Of one thread with the best kernels of the machine that runtime/work_cost.cc names: the above,
  // each kind of command with what an element of it takes. Scalar kernels take up to 50 times it.
  uint64_t nanoseconds = 0;

  friend bool operator==(const RunWork&, const RunWork&) = default;
};

// The defaults let the largest networks in use pass many times over (ResNet-152 on one image of
// 1024 x 1024: 5 s in F32, 0.5 GB) and end in about a minute. Counts have no limit
// of their own.
struct Limits {
  static constexpr uint64_t kAny = UINT64_MAX;  // as much as is counted
  RunWork most = {.macs = kAny,
                  .elements = kAny,
                  .buffers = uint64_t{4} << 30,
                  .arena = uint64_t{16} << 30,
                  .nanoseconds = 60'000'000'000};

  // For programs of the caller's own making.
  static Limits None();
};

// "", the defaults, or "seconds=600,macs=2e13,elements=1e12,buffers=8G,arena=64G", any of them (the
// others keep their default; K, M, G, T: powers of 1024), or "none". Throws kInvalidInput.
Limits ParseLimits(const std::string& text);

// Of one command, whose fields are in the ranges of the ISA table; saturating. `arena` is 0.
RunWork PredictWork(const ProgramImage& image, const Command& command);
// Of all commands, with the arena.
RunWork PredictWork(const ProgramImage& image);
// Throws kUnsupported naming `where`, what is too much, and the command that has most of it. Gives
// the work.
RunWork CheckLimits(const ProgramImage& image, const Limits& limits, const std::string& where);

// "about 0.013 s on one thread, 1.3e9 multiply-accumulates, 4.1e6 elements computed or moved, arena
// 1.6 MB, buffers at most 0.2 MB".
std::string ToString(const RunWork& work);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_LIMITS_H_
