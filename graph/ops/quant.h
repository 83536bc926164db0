// Integer operators: what quantization makes of the float ones, with the numbers that become
// constants of the file. Those without are commands as they are (graph/op.h).
// Formulas: quantize/NUMERICS.md; isa/functions.def says what multiplier and rshift mean under each
// Rounding.
// Data movement (Reshape, Transpose, Concat, Slice, Pad, MaxPool, nearest Resize, Gather...) keeps
// its float struct: on integer tensors it moves bytes, and its inputs and output have equal
// QuantParams.
#ifndef RSHIFT_GRAPH_OPS_QUANT_H_
#define RSHIFT_GRAPH_OPS_QUANT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "isa/ops/activation.h"
#include "isa/ops/eltwise.h"
#include "isa/ops/int16.h"
#include "isa/ops/int16_pairs.h"
#include "isa/ops/norm.h"
#include "isa/ops/quant.h"
#include "isa/ops/resize.h"

namespace rshift {

// inputs: x, ranges (f32 constant [C,4] or [1,4]: input low and high, output low and high along the
// axis). F32 in, F32 out; models to be quantized have Quantize and Dequantize in its place
// (graph/passes/split_fake_quantize.h).
using FakeQuantize = isa::FakeQuantizeF32;

using isa::Dequantize;
using isa::Quantize;
using isa::Requantize;

// What follows the accumulator of a convolution or matrix product, for all channels alike.
struct LinearEpilogue {
  ClampQ clamp;
  Rounding rounding = Rounding::kHalfUp;
  std::vector<PostOp> post_ops{};  // kFloatZeroEven only; kSum: the node has a third input
  HalfEpilogue half{};             // kHalfFloat only
};

// A convolution or matrix product but for what its taps are.
struct QLinear : LinearEpilogue {
  std::vector<ChannelRequant> channels{};  // one for each output channel
  std::vector<int32_t> zero_w{};           // empty (all 0) or as many entries: x * (w - zero_w)
  // kHalfUp alone: the words for accumulators below 0, bias included; empty (the same) or as many.
  std::vector<RequantWords> negative{};
};

// inputs: x (s8/u8, NHWC), w (s8 constant, ONNX order [OC, IC/groups, KH, KW]). Pads hold zero_x
// (already folded into the bias only where no pads exist: the bias folds -zero_x * sum(w), pads are
// filled with zero_x).
struct QConv : QLinear {
  Window window{};
  int64_t groups = 1;
  // Of one filter for each channel (groups = IC = OC): the bytes that pads of each channel hold in
  // place of x's zero point, which its bias folds. Empty: x's.
  std::vector<uint8_t> zero_x{};
};

// inputs: x (s8/u8, NHWC), w (s8 constant [OC, IC/groups, KH, KW]: output channels first). `conv`
// is as in QConv but for its window, which is ConvTranspose's: its pads crop. A tap that meets no
// position of x reads zero_x, so the bias folds -zero_x * sum(w - zero_w) of the whole kernel. It
// has no command: codegen/passes/subpixel_transpose.h makes convolutions of it.
struct QConvTranspose {
  QConv conv;
};

// inputs: x [..., M, K] (s8/u8), w (s8 constant [K, N]). channels: N entries.
struct QMatMul : QLinear {};

// One s8 slope a channel (last dimension): C entries, or 1.
struct QPRelu : isa::PRelu {
  std::vector<int8_t> slopes;
};

// 256 entries, indexed by the raw byte of x (s8 as its unsigned byte); each entry is the raw byte
// of y.
struct QTable : isa::Table {
  std::array<uint8_t, 256> entries{};
};

// Channel c, an index of the last dimension, has the 256 entries from 256 * table_of_channel[c] on,
// each as in QTable.
struct QChannelTables : isa::ChannelTables {
  std::vector<uint8_t> entries;
  std::vector<uint8_t> table_of_channel;
};

// One reciprocal for each byte of the divisor: 256 entries.
struct QDiv : isa::Div {
  std::vector<int32_t> reciprocals;
};

// 65,536 entries, raw bytes as in QTable: entries[256 * byte of a + byte of b].
struct QBinaryTable : isa::BinaryTable {
  std::vector<uint8_t> entries;
};

// Taps as in the command's list.
struct QResize : isa::Resize {
  std::vector<int32_t> taps;
};

struct QResizeLinear : isa::ResizeLinear {
  std::vector<int32_t> taps;
};

// Over the last dimension, by a table over the difference to the row's greatest byte.
struct QSoftmax : isa::Softmax {
  std::array<int32_t, 256> entries{};
};

// Factors and offsets of the elements of a row, or of the channels.
struct QNormalize : isa::Normalize {
  std::vector<int32_t> row_factors;
  std::vector<int64_t> row_offsets;
};

// --- operators that read or write 16-bit integers (NUMERICS.md section 29) ---

// inputs: x (s16, s8 or u8, NHWC), w (s8 constant [OC, IC/groups, KH, KW]). channels: OC entries.
struct QConvS16 : isa::ConvS16 {
  std::vector<ChannelRequant> channels;
};

// inputs: x [..., M, K], w (s8 constant [K, N]). channels: N entries.
struct QMatMulS16 : isa::MatMulS16 {
  std::vector<ChannelRequant> channels;
};

// One of the two: 513, 1,025 ... 8,193 numbers between which it is a straight line, or one for each
// of 65,536.
struct QTableS16 : isa::TableS16 {
  std::vector<int32_t> interpolated;
  std::vector<int16_t> entries;
};

struct QResizeS16 : isa::ResizeS16 {
  std::vector<int32_t> taps;
};

// Channel c, an index of the last dimension, has the 513 numbers from 513 * table_of_channel[c] on.
struct QChannelTablesS16 : isa::ChannelTablesS16 {
  std::vector<int32_t> interpolated;
  std::vector<uint8_t> table_of_channel;
};

// Both tables, one behind the other.
struct QSoftmaxS16 : isa::SoftmaxS16 {
  std::vector<int16_t> entries;
};

// Both tables, one behind the other.
struct QQuotientSoftmaxS16 : isa::QuotientSoftmaxS16 {
  std::vector<int32_t> entries;
};

// The command's table.
struct QPowS16 : isa::PowS16 {
  std::vector<int32_t> entries;
};

// As QNormalize.
struct QNormalizeS16 : isa::NormalizeS16 {
  std::vector<int32_t> row_factors;
  std::vector<int64_t> row_offsets;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_QUANT_H_
