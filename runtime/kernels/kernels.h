// The contract between the convolution steps and the units that compute them, one unit per
// instruction set. Plain data and function pointers only: a unit is compiled with its own -m flags
// and may include nothing but this header, <immintrin.h> or <arm_neon.h>, <cstdint> and <cstring>,
// so that no inline function built for a newer CPU leaks into the program.
//
// What every kernel computes, bit for bit (generic/reference.cc is the specification in code):
//   acc = bias[oc] + sum over taps and ic of x[pixel, ic] * (w[oc, tap, ic] - zero_w[oc])
//   y   = finish(acc), or without a finish function
//         clamp(((acc * multiplier[oc] + 2^(rshift[oc] - 1)) >> rshift[oc]) + zero_y, lo, hi)
// with x raw (s8 or u8), zero_x in the pads, w in [-128, 127], the product in 64 bits and no
// rounding term at rshift 0. The vector units have requantizers of their own for every
// rounding (simd/requant.h); post-operations are left to the finish
// function. The verifier has proved |bias| + 255 * sum|w - zero_w| < 2^31 for each channel: acc
// fits int32. What a kernel sums on its way (x + 128 for x, sum x * w and sum x apart, any order)
// may leave int32; all of it is added, subtracted and multiplied modulo 2^32 without saturation,
// and so arrives at acc.
#ifndef RSHIFT_RUNTIME_KERNELS_KERNELS_H_
#define RSHIFT_RUNTIME_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "codegen/packing/panel.h"  // a constant
#include "isa/functions.h"          // enumerations
#include "isa/kernel_attributes.h"  // plain structs
#include "runtime/kernels/s16_tiles.h"

namespace rshift {

// Per-channel requantization as separate arrays, 64-byte aligned, each `groups * n` entries
// (depthwise: RoundUp(C, 64)): channel oc of group g is entry g * n + oc. Padding entries have bias
// 0, multiplier 0 and a valid rshift.
struct RequantArgs;

// Complete accumulators of channels [0, count) of one output pixel, entry + i being channel i's
// place in the arrays -> the bytes dst[0, count). count <= 64. finish.h has them all.
using FinishFn = void (*)(const RequantArgs& args, int64_t entry, const int32_t* acc, int64_t count,
                          uint8_t* dst) noexcept;
struct PostOpArgs;  // finish.h

struct RequantArgs {
  Rounding rounding = Rounding::kHalfUp;
  bool post_ops = false;  // there are some, or the result is f32 or f16: only `finish` knows them
  const int32_t* bias = nullptr;
  // For kernels that take x XOR 0x80, modulo 2^32. x86-64, s8: that is x + 128 as unsigned, and
  // this is bias - 128 * sum(w). AArch64, u8: x - 128 as signed, and bias + 128 * sum(w). Equals
  // `bias` for the sources that no kernel of the architecture flips (weight_sums.h,
  // kFlippedSigned).
  const int32_t* bias_flipped = nullptr;
  // Integer roundings, and kDoubleAway's two words; null for the others.
  const int32_t* multiplier = nullptr;  // [2^30, 2^31), or 0
  const int32_t* rshift = nullptr;      // [0, 62]; kTwoStepUp also 64..126
  // Constants of the common case, precomputed (PrecomputeHighHalves, steps/requant_arrays.h). With
  //   high = the upper half of acc_factor * acc * multiplier, within 2^30
  // (high + high_half) >> high_shift is y - bias before the clamp, bias = 128 for hi > 127, else 0.
  //   acc_factor 1: kHalfUp with every rshift in [33, 54].
  //   acc_factor 4: kHalfUp, kTwoStep, kTwoStepUp with every rshift (less 64 where it is that much)
  //     in [31, 52] and every |acc| < 2^29; where a second step rounds away from zero (kTwoStep, or
  //     kTwoStepUp from 64 on, and not rshift 31), high_half is 2 less for a negative acc.
  //   acc_factor 0: neither; the arrays are null.
  int32_t acc_factor = 0;
  const int32_t* high_half = nullptr;  // within 2^30 + 2^21
  const int32_t* high_shift = nullptr;
  // multiplier / 2^rshift where binary32 has it and one fused multiply-add is the formula
  // (PrecomputeRatios in steps/requant_arrays.h), with |acc * ratio| < 2^15 - 512; else null.
  const float* ratio = nullptr;
  // Float roundings; null for the integer ones.
  const float* scale = nullptr;   // finite, >= 0; 0 in padding entries
  const float* bias_f = nullptr;  // finite; 0 where the rounding has none
  // Of the integer roundings, over all entries: they choose the vector form.
  int32_t min_rshift = 0, max_rshift = 0;
  int32_t zero_y = 0, lo = 0, hi = 0;  // lo..hi lies within the destination's type
  // Weight zero points in [-128, 127], 0 in padding entries; null: all 0.
  const int32_t* zero_w = nullptr;
  HalfEpilogue half = {};
  // kHalfUp: the words and what is precomputed of them for accumulators below 0, bias included; all
  // else in it is as here. ratio is set in both or in neither, acc_factor is 1 in both or 0 in
  // both; without either post_ops is set. Null: the same words.
  const RequantArgs* negative = nullptr;
  // Null: the half-up formula above.
  FinishFn finish = nullptr;
  const PostOpArgs* post_op_args = nullptr;  // what finish needs besides
};

// What a command does to the bytes it has stored, while a near cache holds them: a fused addition
// or table. Called once for each output pixel and block of channels, for some `pixels` that follow
// each other at a time: dst[0, count) are the block's channels of the first one, in place, those of
// the next lie the command's dst_pitch further.
struct EpilogueArgs {
  using Run = void(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept;
  Run* run = nullptr;  // null: nothing
  const void* state = nullptr;
};

// NHWC. `m` numbers output pixels: m = (batch * oh + y) * ow + x; its bytes start at
// dst + m * dst_pitch. MatMul is the case batch = 1, ih = oh = rows, iw = ow = 1 with a 1x1 window:
// output pixel m reads src + m * src_pitch. Readable (never writable) past the end of src, weights
// and zero_row: 64 bytes.
struct ConvArgs {
  const uint8_t* src = nullptr;  // s8 or u8 bytes
  uint8_t* dst = nullptr;        // s8 or u8 bytes: y truncated to its low byte
  // codegen/packing/packing.h: per group [panel][k/4][panel width][4].
  const int8_t* weights = nullptr;
  // One pixel outside the image: at least ic + 64 bytes of zero_x, 64-byte aligned.
  const uint8_t* zero_row = nullptr;
  bool src_signed = true;
  int64_t batch = 1, ih = 1, iw = 1, ic = 0, oh = 1, ow = 1, oc = 0;
  // Bytes from pixel to pixel: ic and oc, or more where the tensor is a view of a wider one.
  int64_t src_pitch = 0, dst_pitch = 0;
  int64_t groups = 1;
  int64_t ic_per_group = 0, oc_per_group = 0;
  int64_t ic4 = 0;  // bytes of a tap, ic_per_group, rounded up to 4; weights beyond are 0
  int64_t k = 0;    // taps * ic4: padded K of one group
  // One group of few channels: the window is one tap of kernel_h * kernel_w * ic bytes, in this
  // order; ic4 and k are that number rounded up to 4. dilation_w is 1: the bytes of a line are
  // neighbours in memory.
  bool stem_im2col = false;
  int64_t n = 0;  // oc_per_group rounded up to 16: padded N of one group
  // ceil(n / 64); panel p of a group holds channels [64p, min(64p + 64, n)).
  int64_t panels_per_group = 0;
  Window window = {};
  RequantArgs requant = {};
  EpilogueArgs epilogue = {};
  // 1x1 window, stride 1, no pads: output pixel m reads exactly the input pixel m.
  bool pointwise = false;
};

// What one thread computes: all output pixels of [m_begin, m_end) for panels [panel_begin,
// panel_end), where panel index = group * panels_per_group + panel. Only the oc_per_group real
// channels are written.
struct ConvRange {
  int64_t m_begin = 0, m_end = 0;
  int64_t panel_begin = 0, panel_end = 0;
};

// groups == ic == oc == channels. weights[tap * c64 + c].
struct DepthwiseArgs {
  const uint8_t* src = nullptr;
  uint8_t* dst = nullptr;
  const int8_t* weights = nullptr;
  const uint8_t* zero_row = nullptr;  // as in ConvArgs
  bool src_signed = true;
  int64_t batch = 1, ih = 1, iw = 1, oh = 1, ow = 1;
  int64_t channels = 0;
  int64_t c64 = 0;                       // channels rounded up to 64
  int64_t src_pitch = 0, dst_pitch = 0;  // as in ConvArgs
  Window window = {};
  RequantArgs requant = {};
  EpilogueArgs epilogue = {};
};

// Output pixels [m_begin, m_end), channels [c_begin, c_end); c_begin is a multiple of 64.
struct DepthwiseRange {
  int64_t m_begin = 0, m_end = 0;
  int64_t c_begin = 0, c_end = 0;
};

// The taps of one pooling window that lie inside the image: rows x columns of them (each >= 1),
// from `base`, which is the first channel wanted of the first tap. Readable past the last channel:
// 64 bytes.
struct PoolWindow {
  const uint8_t* base = nullptr;
  int64_t rows = 1, columns = 1;
  int64_t row_step = 0, column_step = 0;  // bytes from tap to tap
};

// Accumulators [0, count) -> bytes, all by the constants of entry 0; the arrays hold 16 equal
// entries. `acc` is readable up to `count` rounded up to 64. No post-operations.
using RequantizeFn = void (*)(const RequantArgs& args, const int32_t* acc, int64_t count,
                              uint8_t* dst) noexcept;

// Channels [0, count): the greatest of the taps, as bytes of s8 or u8.
using MaxPoolFn = void (*)(const PoolWindow& window, int64_t count, bool is_signed,
                           uint8_t* dst) noexcept;
// Channels [0, count): the sum of the taps; writes up to `count` rounded up to 16.
using SumPoolFn = void (*)(const PoolWindow& window, int64_t count, bool is_signed,
                           int32_t* sum) noexcept;

// numerics::AveragePool of the sum plus `pads`: factor * sum + offset, each operation rounded to
// binary32, to the nearest integer in [lo, hi].
struct PoolAverage {
  int32_t pads = 0;
  float factor = 1, offset = 0;
  int32_t lo = 0, hi = 0;
};
// Channels [0, count): the average of the taps, of which there are at most kMostAveraged.
constexpr int64_t kMostAveraged = 128;
using AveragePoolFn = void (*)(const PoolWindow& window, int64_t count, bool is_signed,
                               const PoolAverage& average, uint8_t* dst) noexcept;

// `scratch`: this thread's own memory, 64-byte aligned, of the size the matching ...Scratch
// function asked for.
using ConvFn = void (*)(const ConvArgs& args, const ConvRange& range, void* scratch) noexcept;
using ConvScratchFn = size_t (*)(const ConvArgs& args) noexcept;
using DepthwiseFn = void (*)(const DepthwiseArgs& args, const DepthwiseRange& range,
                             void* scratch) noexcept;
using DepthwiseScratchFn = size_t (*)(const DepthwiseArgs& args) noexcept;

// The fastest this instruction set multiplies and accumulates on registers alone: does `rounds` of
// a fixed number of independent dot products, returns the multiply-accumulates that were. For
// measuring, not for computing.
using PeakFn = int64_t (*)(int64_t rounds) noexcept;

// A null function is replaced by the next simpler instruction set's (AVX512-VNNI and AVX-VNNI ->
// AVX2 -> scalar, NEON -> scalar), together with its scratch; average_pool and peak are not. A null
// ...Scratch function asks for nothing.
struct KernelTable {
  ConvFn conv = nullptr;  // also MatMul
  ConvScratchFn conv_scratch = nullptr;
  DepthwiseFn depthwise = nullptr;
  DepthwiseScratchFn depthwise_scratch = nullptr;
  MaxPoolFn max_pool = nullptr;
  SumPoolFn sum_pool = nullptr;
  // May stay null: the step then takes sum_pool and scales the sums in a loop of its own, which is
  // as fast where the instruction set has no kernel.
  AveragePoolFn average_pool = nullptr;
  RequantizeFn requantize = nullptr;
  ConvS16Fn conv_s16 = nullptr;
  DepthwiseS16Fn depthwise_s16 = nullptr;
  // May stay null: another instruction set's peak would not be this one's.
  PeakFn peak = nullptr;
};

// Each defined by the unit of that name: AVX on x86-64 only, NEON on AArch64 only.
extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvxVnniKernels;
extern const KernelTable kAvx512VnniKernels;
extern const KernelTable kNeonDotKernels;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_KERNELS_H_
