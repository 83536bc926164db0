// The instruction table. Append fields to the end of an opcode's list only: their position is the
// bit in the presence mask.
#include <cstddef>
#include <limits>

#include "isa/functions.h"
#include "isa/isa.h"

namespace rshift {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 20;
constexpr int64_t kMaxDim = int64_t{1} << 40;
constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

constexpr FieldSpec Int(Field field, int64_t lo, int64_t hi) {
  return {field, FieldKind::kInt, lo, hi};
}
constexpr FieldSpec Float(Field field) { return {field, FieldKind::kFloat}; }
constexpr FieldSpec In(Field field) { return {field, FieldKind::kTensorIn}; }
constexpr FieldSpec Optional(Field field) { return {field, FieldKind::kTensorInOpt}; }
constexpr FieldSpec Const(Field field) { return {field, FieldKind::kConst}; }
constexpr FieldSpec OptionalConst(Field field) { return {field, FieldKind::kConstOpt}; }
// May be a part of another tensor: the command walks it row by row, with unaligned accesses.
constexpr FieldSpec Part(FieldSpec spec) {
  spec.part = true;
  return spec;
}

template <typename... Specs>
constexpr std::array<FieldSpec, sizeof...(Specs)> List(Specs... specs) {
  return {specs...};
}

template <size_t... N>
constexpr auto Join(const std::array<FieldSpec, N>&... parts) {
  std::array<FieldSpec, (N + ...)> all{};
  size_t next = 0;
  const auto append = [&](const auto& part) {
    for (const FieldSpec& spec : part) all[next++] = spec;
  };
  (append(parts), ...);
  return all;
}

// --- groups of fields ---
constexpr auto kDstSrc = List(FieldSpec{Field::kDst, FieldKind::kTensorOut}, In(Field::kSrc));
constexpr auto kSrc2In = List(In(Field::kSrc2));
constexpr auto kDstSrcParts =
    List(Part({Field::kDst, FieldKind::kTensorOut}), Part(In(Field::kSrc)));
constexpr auto kSrc2Part = List(Part(In(Field::kSrc2)));
constexpr auto kWeightsIn =
    List(Const(Field::kWeights), Const(Field::kRequant), OptionalConst(Field::kZeroW));
constexpr auto kWindow =
    List(Int(Field::kKernelH, 1, kMaxWindow), Int(Field::kKernelW, 1, kMaxWindow),
         Int(Field::kStrideH, 1, kMaxWindow), Int(Field::kStrideW, 1, kMaxWindow),
         Int(Field::kDilationH, 1, kMaxWindow), Int(Field::kDilationW, 1, kMaxWindow),
         Int(Field::kPadTop, 0, kMaxWindow), Int(Field::kPadLeft, 0, kMaxWindow),
         Int(Field::kPadBottom, 0, kMaxWindow), Int(Field::kPadRight, 0, kMaxWindow));
constexpr auto kGroups = List(Int(Field::kGroups, 1, kMaxWindow));
constexpr auto kClampQ = List(Int(Field::kClampLoQ, -128, 255), Int(Field::kClampHiQ, -128, 255));
constexpr auto kClampF = List(Float(Field::kClampLoF), Float(Field::kClampHiF));
constexpr auto kRounding = List(Int(Field::kRounding, 0, kRoundingCount - 1));
constexpr auto kRshift = List(Int(Field::kRshift, 0, 62));
// The second multiplier and shift: positive side of LeakyRelu, second operand of an addition.
constexpr auto kPositiveSide =
    List(Int(Field::kMultiplier2, 0, kInt32Max), Int(Field::kRshift2, 0, 62));
constexpr auto kAxis = List(Int(Field::kAxis, 0, 7));

// Of element-wise commands on bytes: markdown.cc says what it means.
constexpr auto kSamePass = List(Int(Field::kSamePass, 0, 1));

// One of the functions of isa/functions.def, of which there are `count`.
constexpr auto Choice(Field field, int count) { return List(Int(field, 0, count - 1)); }
constexpr auto Mode(int count) { return Choice(Field::kMode, count); }
constexpr auto Flags(int64_t all) { return List(Int(Field::kFlags, 0, all)); }

// What kFloatZeroEven and kHalfFloat add to a convolution or matrix product: post-operations with
// their addend; relu (flags 1), square-root forms (2, 4), rounding, scale and offset of
// AscendQuant.
constexpr auto kTail = List(Optional(Field::kSrc2), OptionalConst(Field::kList),
                            Int(Field::kFlags, 0, 7), Int(Field::kMode, 0, kRealRoundingCount - 1),
                            Float(Field::kScaleF), Float(Field::kOffsetF));

// --- fields of each opcode ---
constexpr auto kQuantizeFields = Join(kDstSrcParts, Mode(kRealRoundingCount), Flags(1));
constexpr auto kRequantizeFields = Join(kDstSrcParts, List(Int(Field::kMultiplier, 0, kInt32Max)),
                                        kRshift, kClampQ, kRounding, kSamePass);
constexpr auto kConvFields =
    Join(kDstSrcParts, kWeightsIn, kWindow, kGroups, kClampQ, kRounding, kTail);
constexpr auto kDepthwiseFields =
    Join(kDstSrcParts, kWeightsIn, kWindow, kClampQ, kRounding, kTail);
constexpr auto kMatMulFields = Join(kDstSrcParts, kWeightsIn, kClampQ, kRounding, kTail);
constexpr auto kAddFields = Join(kDstSrcParts, kSrc2Part,
                                 List(Int(Field::kMultiplier, kInt32Min, kInt32Max),
                                      Int(Field::kMultiplier2, kInt32Min, kInt32Max)),
                                 kRshift, kClampQ, kRounding, kSamePass);
constexpr auto kAddFloatFields = Join(kDstSrcParts, kSrc2Part, kClampQ, kSamePass);
constexpr auto kAddShiftedFields = Join(
    kDstSrcParts, kSrc2Part, List(Int(Field::kMultiplier, 0, kInt32Max)), kRshift, kPositiveSide,
    List(Int(Field::kMultiplier3, 0, kInt32Max), Int(Field::kRshift3, 0, 62),
         Int(Field::kCount, 0, 20)),
    kClampQ, kRounding, Mode(kAddBlocksCount), kSamePass);
constexpr auto kAddFmaFields = Join(
    kDstSrcParts, kSrc2Part,
    List(Float(Field::kScaleF), Float(Field::kAlphaF), Float(Field::kOffsetF)), kClampQ, kSamePass);
constexpr auto kMulFields =
    Join(kDstSrcParts, kSrc2Part, List(Int(Field::kMultiplier, 0, kInt32Max)), kRshift, kClampQ,
         kRounding, kSamePass);
constexpr auto kSoftmaxFields =
    Join(kDstSrc, List(Const(Field::kTable)), Mode(kSoftmaxArithmeticCount), kClampQ);
constexpr auto kAveragePoolFields = Join(
    kDstSrcParts, kWindow, List(Float(Field::kScaleF), Float(Field::kOffsetF)), Flags(1), kClampQ,
    Mode(kPoolArithmeticCount), kRounding, List(Int(Field::kMultiplier, 0, kInt32Max)), kRshift);
constexpr auto kMaxPoolFields = Join(kDstSrcParts, kWindow);
constexpr auto kLeakyReluFields =
    Join(kDstSrcParts, List(Int(Field::kMultiplier, kInt32Min, kInt32Max)), kRshift, kPositiveSide,
         kClampQ, kRounding, kSamePass);
constexpr auto kPReluFields = Join(kDstSrcParts, List(Const(Field::kSrc2)), kRshift, kPositiveSide,
                                   kClampQ, kRounding, kSamePass);
constexpr auto kTableFields = Join(kDstSrcParts, List(Const(Field::kTable)), kSamePass);
constexpr auto kListFields = Join(kDstSrc, List(Const(Field::kList)));
constexpr auto kListPartFields = Join(kDstSrcParts, List(Const(Field::kList)));
constexpr auto kTwoListFields = Join(kListPartFields, List(Const(Field::kList2)));
constexpr auto kCopyIntoFields = Join(kDstSrcParts, kAxis, List(Int(Field::kOffset, 0, kMaxDim)));
constexpr auto kPadFields =
    Join(kTwoListFields, Mode(kPadModeCount), List(Int(Field::kFill, kInt64Min, kInt64Max)));
constexpr auto kGatherFields = Join(kDstSrc, kSrc2In, kAxis);
constexpr auto kBinaryF32Fields = Join(kDstSrc, kSrc2In, Mode(kBinaryOpCount), kClampF);
constexpr auto kUnaryF32Fields =
    Join(kDstSrc, Mode(kUnaryOpCount), List(Float(Field::kAlphaF), Float(Field::kBetaF)));
constexpr auto kClipF32Fields = Join(kDstSrc, kClampF);
constexpr auto kLeakyReluF32Fields = Join(kDstSrc, List(Float(Field::kAlphaF)));
constexpr auto kPReluF32Fields = Join(kDstSrc, kSrc2In);
constexpr auto kSoftmaxF32Fields = Join(kDstSrc, kAxis, Flags(1));
constexpr auto kLayerNormF32Fields =
    Join(kDstSrc, kSrc2In, List(Optional(Field::kSrc3)), kAxis, List(Float(Field::kEpsilonF)));
constexpr auto kReduceF32Fields = Join(kListFields, Mode(kReduceOpCount));
constexpr auto kArgMaxFields = Join(kDstSrc, kAxis, Flags(3));
constexpr auto kWhereFields = Join(kDstSrc, kSrc2In, List(In(Field::kSrc3)));
constexpr auto kResizeF32Fields =
    Join(kListFields, Mode(kResizeModeCount), Choice(Field::kCoordinate, kCoordinateModeCount),
         Choice(Field::kNearest, kNearestModeCount), List(Float(Field::kAlphaF)), Flags(1));
constexpr auto kLrnF32Fields = Join(kDstSrc, kAxis,
                                    List(Int(Field::kCount, 1, kMaxWindow), Float(Field::kAlphaF),
                                         Float(Field::kBetaF), Float(Field::kBiasF)));
constexpr auto kInstanceNormF32Fields =
    Join(kDstSrc, kSrc2In, List(In(Field::kSrc3), Float(Field::kEpsilonF)));
constexpr auto kConvF32Fields =
    Join(kDstSrc, List(In(Field::kWeights), Optional(Field::kSrc3)), kWindow, kGroups, kClampF);
constexpr auto kMatMulF32Fields = Join(kDstSrc, kSrc2In, List(Optional(Field::kSrc3)), kClampF);
constexpr auto kAveragePoolF32Fields = Join(kDstSrc, kWindow, Flags(1));

using enum OpClass;

constexpr OpSpec kOps[] = {
    {Opcode::kQuantize, "quantize", kInteger, kQuantizeFields,
     "f32 to s8/u8 by dst's scale and zero point; mode: RealRounding; flags 1: times 1 / scale"},
    {Opcode::kDequantize, "dequantize", kInteger, kDstSrcParts,
     "s8/u8 to f32 by src's scale and zero point"},
    {Opcode::kRequantize, "requantize", kInteger, kRequantizeFields,
     "s8/u8 to s8/u8: clamp(((src - Zsrc) * multiplier >> rshift) + Zdst); multiplier 0 is factor "
     "1"},
    {Opcode::kConv, "conv", kInteger, kConvFields,
     "NHWC convolution, packed s8 weights, one requant record per output channel; pads hold Zsrc"},
    {Opcode::kDepthwise, "depthwise", kInteger, kDepthwiseFields,
     "NHWC convolution with one filter per channel (groups = IC = OC)"},
    {Opcode::kMatMul, "matmul", kInteger, kMatMulFields,
     "src [..., M, K] times packed s8 weights [K, N], one requant record per column"},
    {Opcode::kAdd, "add", kInteger, kAddFields,
     "clamp((((src - Z) * multiplier + (src2 - Z) * multiplier2) >> rshift) + Zdst)"},
    {Opcode::kAddFloat, "add_float", kInteger, kAddFloatFields,
     "dequantize both, add in float, requantize; scales and zero points from the tensor table"},
    {Opcode::kAveragePool, "average_pool", kInteger, kAveragePoolFields,
     "NHWC; mode: PoolArithmetic, 0: clamp(round(scale / taps * sum + offset)); flags 1: "
     "count_include_pad"},
    {Opcode::kMaxPool, "max_pool", kInteger, kMaxPoolFields,
     "NHWC maximum of s8, u8 or f32; pads never win"},
    {Opcode::kLeakyRelu, "leaky_relu", kInteger, kLeakyReluFields,
     "negative side * multiplier >> rshift, positive side * multiplier2 >> rshift2 (0: factor 1)"},
    {Opcode::kPRelu, "prelu", kInteger, kPReluFields,
     "as leaky_relu with s8 slopes src2 [C] or [1] along the last dimension"},
    {Opcode::kTable, "table", kInteger, kTableFields, "dst byte = table[src byte]"},
    {Opcode::kAddShifted, "add_shifted", kInteger, kAddShiftedFields,
     "each operand << count rescaled by its pair, the sum by the third; mode: AddBlocks"},
    {Opcode::kAddFma, "add_fma", kInteger, kAddFmaFields,
     "to_even(fma(src, scale, fma(src2, alpha, offset))), raw bytes"},
    {Opcode::kMul, "mul", kInteger, kMulFields, "requantize((src - Z) * (src2 - Z)) + Zdst"},
    {Opcode::kSoftmax, "softmax", kInteger, kSoftmaxFields,
     "over the last dimension; mode: SoftmaxArithmetic; table: 256 numbers by max - src"},
    {Opcode::kTranspose, "transpose", kMove, kListPartFields,
     "dst dimension i is src dimension list[i]; any element type"},
    {Opcode::kCopyInto, "copy_into", kMove, kCopyIntoFields,
     "src becomes dst[offset, offset + src's size) on axis: one part of a Concat, or a copy"},
    {Opcode::kSlice, "slice", kMove, kTwoListFields,
     "dst index i reads src index list[d] + i * list2[d] in each dimension d"},
    {Opcode::kPad, "pad", kMove, kPadFields,
     "list before and list2 after, both >= 0; mode 0 constant, 1 reflect, 2 edge; fill: bits of "
     "one element"},
    {Opcode::kExpand, "expand", kMove, kDstSrc, "broadcast to dst's shape"},
    {Opcode::kTile, "tile", kMove, kListFields, "repeat list[d] times in each dimension d"},
    {Opcode::kGather, "gather", kMove, kGatherFields,
     "slices of src on axis by indices src2 (s32/s64, negative from the end)"},
    {Opcode::kResizeNearest, "resize_nearest", kMove, kListPartFields,
     "list: the source index of every output index, dimension after dimension"},
    {Opcode::kBinaryF32, "binary_f32", kFloat, kBinaryF32Fields,
     "mode: BinaryOp; numpy broadcasting; f32 (s64, s32, bool where the operator allows)"},
    {Opcode::kUnaryF32, "unary_f32", kFloat, kUnaryF32Fields, "mode: UnaryOp with alpha, beta"},
    {Opcode::kClipF32, "clip_f32", kFloat, kClipF32Fields, "min(max(src, clamp_lo), clamp_hi)"},
    {Opcode::kLeakyReluF32, "leaky_relu_f32", kFloat, kLeakyReluF32Fields,
     "src >= 0 ? src : alpha * src"},
    {Opcode::kPReluF32, "prelu_f32", kFloat, kPReluF32Fields,
     "src >= 0 ? src : src2 * src, src2 broadcast"},
    {Opcode::kSoftmaxF32, "softmax_f32", kFloat, kSoftmaxF32Fields,
     "over one axis; flags 1: logarithm of it"},
    {Opcode::kLayerNormF32, "layer_norm_f32", kFloat, kLayerNormF32Fields,
     "over the dimensions from axis on; src2 scale, src3 bias"},
    {Opcode::kReduceF32, "reduce_f32", kFloat, kReduceF32Fields,
     "mode: ReduceOp over the axes in list"},
    {Opcode::kArgMax, "argmax", kFloat, kArgMaxFields,
     "index on axis as s64; flags 1: minimum, 2: the last of equals"},
    {Opcode::kWhere, "where", kFloat, kWhereFields, "src ? src2 : src3, broadcasting"},
    {Opcode::kCast, "cast", kFloat, kDstSrc, "element type by the tensors' types"},
    {Opcode::kResizeF32, "resize_f32", kFloat, kResizeF32Fields,
     "mode: ResizeMode, list: f32 scales, alpha: cubic coefficient, flags 1: exclude_outside"},
    {Opcode::kLrnF32, "lrn_f32", kFloat, kLrnF32Fields,
     "src / (bias + alpha / count * sum of squares of count neighbours on axis)^beta"},
    {Opcode::kInstanceNormF32, "instance_norm_f32", kFloat, kInstanceNormF32Fields,
     "per image and channel; src2 scale, src3 bias"},
    {Opcode::kConvF32, "conv_f32", kFloatLibrary, kConvF32Fields,
     "NHWC; weights f32 [OC, IC/groups, KH, KW], src3 bias [OC]"},
    {Opcode::kConvTransposeF32, "conv_transpose_f32", kFloatLibrary, kConvF32Fields,
     "NHWC; weights f32 [IC, OC/groups, KH, KW], src3 bias [OC]"},
    {Opcode::kMatMulF32, "matmul_f32", kFloatLibrary, kMatMulF32Fields,
     "src [..., M, K] times src2 [..., K, N] with broadcasting, src3 bias [N]"},
    {Opcode::kAveragePoolF32, "average_pool_f32", kFloatLibrary, kAveragePoolF32Fields,
     "NHWC; flags 1: count_include_pad"},
};

constexpr bool Ascending() {
  for (size_t i = 1; i < std::size(kOps); ++i) {
    if (kOps[i - 1].opcode >= kOps[i].opcode) return false;
  }
  return true;
}
static_assert(Ascending(), "FindOp and ISA.md rely on ascending opcodes");

}  // namespace

std::span<const OpSpec> IsaTable() { return kOps; }

}  // namespace rshift
