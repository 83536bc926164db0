// Integer operators: what quantization makes of the float ones. Formulas: quantize/NUMERICS.md.
// Data movement (Reshape, Transpose, Concat, Slice, Pad, MaxPool, nearest Resize, Gather...) keeps
// its float struct: on integer tensors it moves bytes, and its inputs and output have equal
// QuantParams.
#ifndef RSHIFT_GRAPH_OPS_QUANT_H_
#define RSHIFT_GRAPH_OPS_QUANT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "graph/ops/common.h"

namespace rshift {

// One output channel: y = saturate(((acc + bias) * multiplier >> rshift, rounded half up once) +
// zero_y).
struct ChannelRequant {
  int32_t bias = 0;
  int32_t multiplier = 0;  // [2^30, 2^31), or 0 for a channel that is constant zero_y
  int32_t rshift = 0;      // [0, 62]
};

// Quantized output clamp [lo, hi]: the range of the type, narrowed by a fused Relu/Clip.
struct ClampQ {
  int32_t lo = -128, hi = 127;
};

struct Quantize {};    // f32 -> s8/u8 by the output's QuantParams
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
  std::vector<int32_t> zero_w;           // empty (all 0) or OC entries
  ClampQ clamp;
};

// inputs: x [..., M, K] (s8/u8), w (s8 constant [K, N]). channels: N entries.
struct QMatMul {
  std::vector<ChannelRequant> channels;
  std::vector<int32_t> zero_w;
  ClampQ clamp;
};

// Symmetric: y = clamp((a*multiplier_a + b*multiplier_b + 2^(rshift-1)) >> rshift), zero points 0.
// Asymmetric (by_float): y = clamp(round((a-Za)*Sa + (b-Zb)*Sb) / Sy) + Zy), scales from
// QuantParams.
struct QAdd {
  bool by_float = false;
  int32_t multiplier_a = 0, multiplier_b = 0, rshift = 0;
  ClampQ clamp;
};

// y = clamp(round(scale[n] * sum + offset)) with n valid taps; scale[n] = Sx / (Sy * n), offset =
// Zy - Sx/Sy * Zx. `scale_x_over_y` = Sx / Sy as float; the kernel divides by n.
struct QAveragePool {
  Window window;
  bool count_include_pad = false;
  float scale_x_over_y = 1.0f;
  float offset = 0.0f;
  ClampQ clamp;
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

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_QUANT_H_
