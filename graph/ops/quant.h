// Integer operators: what quantization makes of the float ones. Formulas: quantize/NUMERICS.md;
// isa/functions.def says what multiplier and rshift mean under each Rounding.
// Data movement (Reshape, Transpose, Concat, Slice, Pad, MaxPool, nearest Resize, Gather...) keeps
// its float struct: on integer tensors it moves bytes, and its inputs and output have equal
// QuantParams.
#ifndef RSHIFT_GRAPH_OPS_QUANT_H_
#define RSHIFT_GRAPH_OPS_QUANT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "isa/attributes.h"

namespace rshift {

// f32 -> s8/u8 by the output's QuantParams: saturate(round(x / S) + Z).
struct Quantize {
  RealRounding rounding = RealRounding::kEven;
  bool by_reciprocal = false;  // x * f32(1 / S) in place of x / S: LiteRT's optimised kernel
};
struct Dequantize {};  // s8/u8 -> f32 by the input's QuantParams

// y = clamp(((x - zero_x) * multiplier >> rshift) + zero_y). Also a clip on its own: multiplier 0
// means factor 1 (x - zero_x + zero_y).
struct Requantize {
  int32_t multiplier = 0, rshift = 0;
  ClampQ clamp;
};

// inputs: x (s8/u8, NHWC), w (s8 constant, ONNX order [OC, IC/groups, KH, KW]). Pads hold zero_x
// (already folded into the bias only where no pads exist: the bias folds -zero_x * sum(w), pads are
// filled with zero_x).
struct QConv {
  Window window;
  int64_t groups = 1;
  std::vector<ChannelRequant> channels;  // OC
  std::vector<int32_t> zero_w;           // empty (all 0) or OC entries: x * (w - zero_w)
  ClampQ clamp;
  Rounding rounding = Rounding::kHalfUp;
  std::vector<PostOp> post_ops{};  // kFloatZeroEven only; kSum: the node has a third input
  HalfEpilogue ascend{};           // kHalfFloat only
};

// inputs: x (s8/u8, NHWC), w (s8 constant [OC, IC/groups, KH, KW]: output channels first). `conv`
// is as in QConv but for its window, which is ConvTranspose's: its pads crop. A tap that meets no
// position of x reads zero_x, so the bias folds -zero_x * sum(w - zero_w) of the whole kernel. It
// has no command: codegen/passes/subpixel_transpose.h makes convolutions of it.
struct QConvTranspose {
  QConv conv;
};

// inputs: x [..., M, K] (s8/u8), w (s8 constant [K, N]). channels: N entries.
struct QMatMul {
  std::vector<ChannelRequant> channels;
  std::vector<int32_t> zero_w;
  ClampQ clamp;
  Rounding rounding = Rounding::kHalfUp;
  std::vector<PostOp> post_ops{};
  HalfEpilogue ascend{};
};

// y = clamp((((a-Za)*multiplier_a + (b-Zb)*multiplier_b + 2^(rshift-1)) >> rshift) + Zy); rounding
// kHalfUp, or kHalfAway for the one rounding. The seed's symmetric form has zero points 0.
// Asymmetric (by_float): y = clamp(round((a-Za)*Sa + (b-Zb)*Sb) / Sy) + Zy), scales from
// QuantParams.
struct QAdd {
  bool by_float = false;
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;
  ClampQ clamp;
  Rounding rounding = Rounding::kHalfUp;
};

// TFLite: u = rescale((a-Za) << left_shift, a), v likewise, y = clamp(rescale(u + v, y) + Zy).
struct QAddShifted {
  int32_t left_shift = 20;
  int32_t multiplier_a = 0, rshift_a = 0, multiplier_b = 0, rshift_b = 0;
  int32_t multiplier_y = 0, rshift_y = 0;
  ClampQ clamp;
  Rounding rounding = Rounding::kTwoStep;  // or kHalfUp
  AddBlocks blocks = AddBlocks::kNone;     // kTwoStep only
};

// ONNX Runtime: y = clamp(to_even(fma(a, ratio_a, fma(b, ratio_b, fixed)))) on unsigned bytes: it
// turns s8 tensors into u8 before anything else, so a, b and Z of an s8 tensor are taken + 128, and
// 128 is subtracted from the result (`fixed` is of the unsigned zero points). fma: one rounding.
struct QAddFma {
  float ratio_a = 1, ratio_b = 1, fixed = 0;
  ClampQ clamp;
};

// y = requantize((a-Za) * (b-Zb)) + Zy. kFloatZeroEven (ONNX Runtime): float(product) * scale +
// float(Zy), to even, Zy of an s8 tensor taken + 128 as in QAddFma and subtracted afterwards.
struct QMul {
  int32_t multiplier = 0, rshift = 0;
  ClampQ clamp;
  Rounding rounding = Rounding::kHalfUp;
};

// y = clamp(round(scale[n] * sum + offset)) with n valid taps; scale[n] = Sx / (Sy * n), offset =
// Zy - Sx/Sy * Zx. `scale_x_over_y` = Sx / Sy as float; the kernel divides by n.
struct QAveragePool {
  Window window;
  bool count_include_pad = false;
  float scale_x_over_y = 1.0f;
  float offset = 0.0f;
  ClampQ clamp;
  PoolArithmetic arithmetic = PoolArithmetic::kScaleOffset;
  // kRequantize, kRawSum
  Rounding rounding = Rounding::kHalfUp;
  int32_t multiplier = 0, rshift = 0;
};

// y = x >= Zx ? positive(x - Zx) + Zy : ((x - Zx) * multiplier >> rshift) + Zy. `positive` is the
// identity when multiplier_positive == 0, else (v * multiplier_positive >> rshift_positive).
struct QLeakyRelu {
  int32_t multiplier = 0, rshift = 0;
  int32_t multiplier_positive = 0, rshift_positive = 0;
  ClampQ clamp;
};

// As QLeakyRelu with one s8 slope a channel (last dimension): v * slope[c] >> rshift.
struct QPRelu {
  std::vector<int8_t> slopes;  // C entries, or 1
  int32_t rshift = 0;
  int32_t multiplier_positive = 0, rshift_positive = 0;
  ClampQ clamp;
};

// 256 entries, indexed by the raw byte of x (s8 as its unsigned byte); each entry is the raw byte
// of y.
struct QTable {
  std::array<uint8_t, 256> table{};
};

// Over the last dimension, by a table over the difference to the row's greatest byte.
struct QSoftmax {
  SoftmaxArithmetic arithmetic = SoftmaxArithmetic::kFixedPoint;
  std::array<int32_t, 256> table{};
  ClampQ clamp;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_QUANT_H_
