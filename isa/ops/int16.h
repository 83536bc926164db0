// Commands on 16-bit integers: at least one of their tensors is s16 (zero point 0), the others are
// s16, s8 or u8. quantize/numerics/int16.h has the arithmetic. Movement commands take s16 as it is.
#ifndef RSHIFT_ISA_OPS_INT16_H_
#define RSHIFT_ISA_OPS_INT16_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct RequantizeS16 {
  RSHIFT_COMMAND(kRequantizeS16, "requantize_s16", kInteger,
                 "clamp(((src - Zsrc) * multiplier >> rshift) + Zdst); multiplier 0 is factor 1; "
                 "rounding: half_up, two_step",
                 .buffers = BufferForm::kNone, .element_ns = 0.3)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

// Weights: s8, output channels first, then kernel rows, columns and input channels of a group. One
// record for each output channel as of conv. Rounding half_up: the last 7 bits of its multiplier
// are 0, rshift is at most 69. two_step and two_step_up: the accumulator fits 32 bits.
struct ConvS16 {
  RSHIFT_COMMAND(kConvS16, "conv_s16", kInteger,
                 "NHWC convolution, s8 weights [OC, KH, KW, IC/groups], accumulators within 2^38, "
                 "one requant record per output channel; pads hold Zsrc; rounding: half_up, "
                 "two_step, two_step_up, double_away",
                 .macs = MacForm::kConv, .buffers = BufferForm::kWeights, .mac_ns = 0.02,
                 .element_ns = 1)

  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Window window;
  int64_t groups = 1;
  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kWeights), c.weights);
    visit(Const(Field::kRequant), c.requant);
    WindowFields(c.window, visit);
    visit(Int(Field::kGroups, 1, kMaxWindow), c.groups);
    ClampFieldsS16(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

struct MatMulS16 {
  RSHIFT_COMMAND(
      kMatMulS16, "matmul_s16", kInteger,
      "src [..., M, K] times s8 weights [N, K], as conv_s16; dst s32: the sums themselves, of "
      "s16 src, where they fit, the records all zero",
      .macs = MacForm::kMatMul, .buffers = BufferForm::kWeights, .mac_ns = 0.02, .element_ns = 1)

  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kWeights), c.weights);
    visit(Const(Field::kRequant), c.requant);
    ClampFieldsS16(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

// src2 may be a constant of the last dimensions of dst, which are its own from its first dimension
// that is not 1 on: it then repeats.
struct AddS16 {
  RSHIFT_COMMAND(kAddS16, "add_s16", kInteger,
                 "clamp((((src - Z) * multiplier + (src2 - Z) * multiplier2) >> rshift) + Zdst)",
                 .buffers = BufferForm::kNone, .element_ns = 0.5)

  int32_t multiplier = 0, multiplier2 = 0, rshift = 0;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kMultiplier, kInt32Min, kInt32Max), c.multiplier);
    visit(Int(Field::kMultiplier2, kInt32Min, kInt32Max), c.multiplier2);
    visit(Int(Field::kRshift, 0, 46), c.rshift);
    ClampFieldsS16(c.clamp, visit);
  }
};

// src2: as of add_s16.
struct MulS16 {
  RSHIFT_COMMAND(
      kMulS16, "mul_s16", kInteger,
      "clamp(((src - Z) * (src2 - Z) * multiplier >> rshift) + Zdst); rounding: half_up, "
      "two_step",
      .buffers = BufferForm::kNone, .element_ns = 0.5)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

// src2: as of add_s16. rshift: at most 46.
struct DivS16 {
  RSHIFT_COMMAND(kDivS16, "div_s16", kInteger,
                 "clamp((src - Z) * multiplier / ((src2 - Z) * 2^rshift) to the nearest integer, "
                 "ties upwards, + Zdst); by 0: an end of the clamp, by src's sign, and Zdst of 0",
                 .buffers = BufferForm::kNone, .element_ns = 8)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
  }
};

struct TableS16 {
  RSHIFT_COMMAND(kTableS16, "table_s16", kInteger,
                 "a function of s16 src; table: 2^n + 1 s32 with 8 fraction bits, n 9 to 13, for "
                 "every 2^(16-n)th number, between which it is a straight line, or 65,536 s16 from "
                 "-32768 on; + Zdst, clamped",
                 .buffers = BufferForm::kNone, .element_ns = 1)

  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kTable), c.table);
    ClampFieldsS16(c.clamp, visit);
  }
};

struct ChannelTablesS16 {
  RSHIFT_COMMAND(kChannelTablesS16, "channel_tables_s16", kInteger,
                 "as table_s16 of 513 numbers, channel c by those from 513 * src2[c] on; src2 [C] "
                 "along the last dimension",
                 .buffers = BufferForm::kNone, .element_ns = 2)

  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kSrc2), c.src2);
    visit(Const(Field::kTable), c.table);
    ClampFieldsS16(c.clamp, visit);
  }
};

// quantize/numerics/resize.h. The words are without zeros at the multiplier's end.
struct ResizeS16 {
  RSHIFT_COMMAND(kResizeS16, "resize_s16", kInteger,
                 "linear and cubic interpolation of s16 src: list as that of resize, coefficients "
                 "/ 2^15; clamp((sum * multiplier >> rshift) + Zdst), multiplier below 2^16",
                 .taps = TapForm::kResize, .buffers = BufferForm::kIndexMap, .element_ns = 0.5)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor list = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kList), c.list);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
  }
};

struct AveragePoolS16 {
  RSHIFT_COMMAND(
      kAveragePoolS16, "average_pool_s16", kInteger,
      "NHWC: sum of (src - Z) * multiplier / (taps * 2^rshift) to the nearest integer, "
      "+ Zdst; flags 1: pads count; rounding: half_up, half_away, or two_step of the sum "
      "of whole windows, not divided by taps",
      .taps = TapForm::kWindow, .buffers = BufferForm::kNone, .element_ns = 1)

  Window window;
  bool count_include_pad = false;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    WindowFields(c.window, visit);
    visit(Flags(1), c.count_include_pad);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
    RoundingField(c.rounding, visit);
  }
};

struct NormalizeS16 {
  RSHIFT_COMMAND(kNormalizeS16, "normalize_s16", kInteger,
                 "as normalize, of 16-bit integers; offset: epsilon in units of n^2 Ssrc^2 "
                 "2^-rshift / 4^k, k = max(0, ceil(log2 n) - 14)",
                 .buffers = BufferForm::kNone, .element_ns = 2)

  int64_t axis = 0;
  bool center = false, channels = false;
  int64_t epsilon = 0;
  int32_t variance_shift = 0, rshift = 1;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor factors = 0, offsets = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kSrc2), c.factors);
    visit(Const(Field::kList), c.offsets);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(2), c.center, c.channels);
    visit(Int(Field::kOffset, 0, (int64_t{1} << 62) - 1), c.epsilon);
    visit(Int(Field::kRshift, 0, 44), c.variance_shift);
    visit(Int(Field::kRshift2, 1, 62), c.rshift);
    ClampFieldsS16(c.clamp, visit);
  }
};

// TFLite: as add_shifted, of 16-bit integers. src2: as of add_s16.
struct AddShiftedS16 {
  RSHIFT_COMMAND(kAddShiftedS16, "add_shifted_s16", kInteger,
                 "each operand << count rescaled by its pair, the sum (flags 1: the difference) by "
                 "the third, all two_step; + Zdst, clamped",
                 .buffers = BufferForm::kNone, .element_ns = 2)

  RequantWords words, words2, words3;  // of src, of src2, of the sum
  int32_t left_shift = 0;
  ClampQ clamp = {0, 0};
  bool subtract = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    WordFields(Field::kMultiplier2, Field::kRshift2, c.words2, visit);
    WordFields(Field::kMultiplier3, Field::kRshift3, c.words3, visit);
    visit(Int(Field::kCount, 0, 15), c.left_shift);
    ClampFieldsS16(c.clamp, visit);
    visit(Flags(1), c.subtract);
  }
};

// quantize/numerics/softmax_int16.h.
struct SoftmaxS16 {
  RSHIFT_COMMAND(kSoftmaxS16, "softmax_s16", kInteger,
                 "over the last dimension, s16 to s16 of scale 1/32768; multiplier and rshift: "
                 "two_step of src - max; table: 513 s16 of exp and 513 s16 of 1 / (1 + x), between "
                 "which they are straight lines",
                 .buffers = BufferForm::kNone, .element_ns = 5)

  RequantWords words;
  Tensor dst = 0, src = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kTable), c.table);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
  }
};

// src2: as of add_s16.
struct ExtremumS16 {
  RSHIFT_COMMAND(kExtremumS16, "extremum_s16", kInteger,
                 "clamp(max(src, src2)) of s16 of one scale; flags 1: min",
                 .buffers = BufferForm::kNone, .element_ns = 0.3)

  bool min = false;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    ClampFieldsS16(c.clamp, visit);
    visit(Flags(1), c.min);
  }
};

// quantize/numerics/int16.h, ProductSumInt16.
struct BatchedMatMulS16 {
  RSHIFT_COMMAND(
      kBatchedMatMulS16, "batched_matmul_s16", kInteger,
      "s16 src [..., M, K] times s16 src2 [..., K, N] with broadcasting: clamp((sum of "
      "src * src2 * multiplier >> rshift) + Zdst); K * 2^30 * multiplier, less the zeros "
      "at its end, is within 2^61",
      .macs = MacForm::kMatMul, .buffers = BufferForm::kPackedSrc2, .mac_ns = 0.05, .element_ns = 1)

  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kMultiplier, 0, kInt32Max), c.words.multiplier);
    visit(Int(Field::kRshift, 0, 92), c.words.rshift);
    ClampFieldsS16(c.clamp, visit);
  }
};

// quantize/numerics/quotient_softmax.h.
struct QuotientSoftmaxS16 {
  RSHIFT_COMMAND(kQuotientSoftmaxS16, "quotient_softmax_s16", kInteger,
                 "over the last dimension of s16 src; table: 512 s32 of 30 fraction bits, exp of "
                 "-256 i, then of -i steps; each row's sum is inverted once; multiplier and "
                 "rshift: 1 / scale of dst; flags 1: the logarithm of it, multiplier and rshift: "
                 "2^-4 / scale of dst",
                 .buffers = BufferForm::kNone, .element_ns = 4)

  RequantWords words;
  ClampQ clamp = {0, 0};
  bool log = false;
  Tensor dst = 0, src = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kTable), c.table);
    WordFields(Field::kMultiplier, Field::kRshift, c.words, visit);
    ClampFieldsS16(c.clamp, visit);
    visit(Flags(1), c.log);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_INT16_H_
