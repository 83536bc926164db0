// The instruction set: a struct for every command (isa/ops) says which fields it has, what they are
// and which values are allowed. The table of them drives encoder, decoder, verifier, disassembler
// and isa/ISA.md. Opcodes and fields are numbered for the file format: never
// renumber, only append.
//
// A command is one fused operator. Its tensors are indices into the program's tensor table, which
// holds their type, shape, layout, quantization and address; so a command carries only what is its
// own.
#ifndef RSHIFT_ISA_ISA_H_
#define RSHIFT_ISA_ISA_H_

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace rshift {

enum class Opcode : uint8_t {
  kEnd = 0,
  // --- integer: run inside the OpenMP region ---
  kQuantize = 1,    // dst s8/u8 <- src f32, by dst's scale and zero point
  kDequantize = 2,  // dst f32 <- src s8/u8, by src's
  kRequantize = 3,  // s8/u8 -> s8/u8: multiplier (0: factor 1), rshift, clamp
  kConv = 4,       // NHWC; weights packed (codegen/packing), requant records; window, groups, clamp
  kDepthwise = 5,  // NHWC; groups == IC, OC == IC; weights packed for depthwise
  kMatMul = 6,     // src [..., M, K] x packed weights [K, N]
  kAdd = 7,        // multiplier, multiplier2, rshift: one common shift
  kAddFloat = 8,   // asymmetric: dequantize, float add, requantize (scales from the tensor table)
  // NHWC; mode = PoolArithmetic: scale (Sx/Sy), offset, or multiplier, rshift, rounding; flags bit
  // 0 = count_include_pad
  kAveragePool = 9,
  kMaxPool = 10,    // NHWC, s8/u8/f32
  kLeakyRelu = 11,  // negative side: multiplier, rshift; positive: multiplier2 (0: 1), rshift2
  kPRelu = 12,      // src2 = constant s8 slopes [C] or [1]; rshift; multiplier2, rshift2 as above
  kTable = 13,      // dst byte = table[src byte]
  // rescale both << count, add, rescale: multiplier, rshift; multiplier2, rshift2; multiplier3...;
  // mode = AddBlocks
  kAddShifted = 14,
  kAddFma = 15,   // fma(src, scale, fma(src2, alpha, offset)), to even
  kMul = 16,      // requantize((src - Z) * (src2 - Z)): multiplier, rshift, rounding
  kSoftmax = 17,  // last dimension; mode = SoftmaxArithmetic, table: 1024 bytes, 256 s32 / f32
  // --- data movement: any element type, inside the region ---
  kTranspose = 20,  // list = perm
  kCopyInto = 21,   // dst[.., offset + i, ..] <- src on `axis`: a part of a Concat
  kSlice = 22,      // list = starts, list2 = steps
  kPad = 23,     // list = before, list2 = after; mode; fill = raw little-endian bits of one element
  kExpand = 24,  // broadcast to dst's shape
  kTile = 25,    // list = repeats
  kGather = 26,  // src, src2 = indices (s32/s64); axis
  kResizeNearest = 27,  // list = source index per output index, dims concatenated (precomputed)
  // --- F32, no third-party library; inside the region ---
  kBinaryF32 = 40,     // mode = BinaryOp; broadcasting; f32 (s64/s32 and bool where the op allows)
  kUnaryF32 = 41,      // mode = UnaryOp, alpha, beta
  kClipF32 = 42,       // clamp_lo, clamp_hi
  kLeakyReluF32 = 43,  // alpha
  kPReluF32 = 44,      // src2 = slope, broadcast
  kSoftmaxF32 = 45,    // axis; flags bit 0 = log
  kLayerNormF32 = 46,  // axis, epsilon; src2 = scale, src3 = bias (optional)
  kReduceF32 = 47,     // mode = ReduceOp, list = axes
  kArgMax = 48,        // axis; flags bit 0 = min, bit 1 = select last index
  kWhere = 49,         // src condition, src2, src3; broadcasting
  kCast = 50,          // by the tensors' types
  // list = f32 scales; mode, coordinate, nearest, alpha = cubic_a, flags bit 0 = exclude_outside
  kResizeF32 = 51,
  kLrnF32 = 52,           // axis, count = size, alpha, beta, bias_value
  kInstanceNormF32 = 53,  // NHWC or NCHW by src's layout; epsilon
  // --- F32 by oneDNN (rshift_float); outside the region ---
  // NHWC src/dst; weights f32 in ONNX order OIHW (constant or computed); window, groups, clamp
  kConvF32 = 80,
  kConvTransposeF32 = 81,
  kMatMulF32 = 82,       // src, src2, src3 = bias (optional); batched, broadcasting; clamp
  kAveragePoolF32 = 83,  // NHWC; flags bit 0 = count_include_pad
};

enum class Field : uint8_t {
  // tensors (index into the tensor table, -1 = absent where optional)
  // kWeights: kBytes (packed) for integer commands, f32 for F32 ones. kRequant: kBytes, 12 * OC.
  // kTable: kBytes, 256 (kSoftmax: 1024).
  // kList, kList2: 1-D s64 constants (kResizeF32: kList is the 1-D f32 scales; kConv, kDepthwise,
  // kMatMul: 1-D f32, four numbers for each post-operation: kind, alpha, beta, scale). kZeroW: 1-D
  // s32,
  // absent: all zero.
  kDst = 0,
  kSrc = 1,
  kSrc2 = 2,
  kSrc3 = 3,
  kWeights = 4,
  kRequant = 5,
  kTable = 6,
  kList = 7,
  kList2 = 8,
  kZeroW = 9,
  // window
  kKernelH = 10,
  kKernelW = 11,
  kStrideH = 12,
  kStrideW = 13,
  kDilationH = 14,
  kDilationW = 15,
  kPadTop = 16,
  kPadLeft = 17,
  kPadBottom = 18,
  kPadRight = 19,
  kGroups = 20,
  // integers
  kClampLoQ = 30,
  kClampHiQ = 31,
  kMultiplier = 32,
  kRshift = 33,
  kMultiplier2 = 34,
  kRshift2 = 35,
  kAxis = 36,
  kOffset = 37,
  kMode = 38,
  kFlags = 39,
  kCount = 40,
  kFill = 41,
  kCoordinate = 42,
  kNearest = 43,
  kRounding = 44,  // isa/functions.def
  kMultiplier3 = 45,
  kRshift3 = 46,
  kFuseWithPrevious = 47,  // 1: fused with the command before it, as its epilogue
  // f32, stored as their bit pattern
  kScaleF = 60,
  kOffsetF = 61,
  kAlphaF = 62,
  kBetaF = 63,
  kEpsilonF = 64,
  kClampLoF = 65,
  kClampHiF = 66,
  kBiasF = 67,
};
inline constexpr int kFieldCount = 68;

enum class FieldKind : uint8_t {
  kTensorOut,    // written by the command
  kTensorIn,     // read; required
  kTensorInOpt,  // read; -1 when absent
  kConst,        // read; must be a constant of the file
  kConstOpt,
  kInt,    // lo..hi inclusive
  kFloat,  // f32 bit pattern, not NaN (infinities allowed)
};

inline bool IsTensor(FieldKind kind) {
  return kind != FieldKind::kInt && kind != FieldKind::kFloat;
}

struct FieldSpec {
  Field field = Field::kDst;
  FieldKind kind = FieldKind::kInt;
  int64_t lo = 0, hi = 0;  // for kInt
  bool part = false;       // a tensor that may be a part of another: with a pitch, at any offset
};

enum class OpClass : uint8_t { kInteger, kMove, kFloat, kFloatLibrary };

struct OpTraits {
  // Reads an element before it writes it, on the same thread: dst may be the bytes of a source.
  bool in_place = false;
  // A command with fuse_with_previous may follow: it hands over its bytes while the nearest cache
  // holds them.
  bool leads_epilogue = false;
  // src or src2 may be a constant that broadcasts to dst.
  bool broadcasts_constant = false;
};

struct OpSpec {
  Opcode opcode = Opcode::kEnd;
  const char* name = "";  // "conv", "matmul_f32": as the disassembler prints it
  OpClass op_class = OpClass::kInteger;
  std::span<const FieldSpec> fields;
  const char* summary = "";  // one line for ISA.md
  OpTraits traits = {};
};

// All opcodes in ascending order, without kEnd.
std::span<const OpSpec> IsaTable();
// Null when the opcode does not exist.
const OpSpec* FindOp(Opcode opcode);
const char* Name(Field field);
const char* Name(FieldKind kind);
// Programs with more commands are refused: it bounds the memory that a small damaged file can ask
// for.
inline constexpr int64_t kMaxCommands = 65536;
// Of the opcode; all false when it does not exist.
OpTraits TraitsOf(Opcode opcode);
// Bytes 0..255 -> is this an F32 compute command (kFloat or kFloatLibrary)? Data movement is not.
bool IsFloatCompute(Opcode opcode);

// One decoded command. Fields that the opcode does not have are 0.
struct Command {
  Opcode opcode = Opcode::kEnd;
  std::array<int64_t, kFieldCount> fields{};

  int64_t Get(Field f) const { return fields[static_cast<size_t>(f)]; }
  int32_t Tensor(Field f) const { return static_cast<int32_t>(fields[static_cast<size_t>(f)]); }
  float GetFloat(Field f) const {
    return std::bit_cast<float>(static_cast<uint32_t>(fields[static_cast<size_t>(f)]));
  }
  Command& Set(Field f, int64_t value) {
    fields[static_cast<size_t>(f)] = value;
    return *this;
  }
  Command& SetFloat(Field f, float value) { return Set(f, std::bit_cast<uint32_t>(value)); }
  friend bool operator==(const Command&, const Command&) = default;
};

// A command with every field at its default: optional tensors absent (-1), integers 0 or the value
// of their range that is nearest to it (kernel, stride, groups 1), clamps of F32 commands wide
// open, other floats 0.
Command NewCommand(Opcode opcode);

// Stream: per command opcode byte, presence mask (LEB128, bit i = i-th field of the opcode's list
// differs from its sticky value), then zigzag LEB128 of (value - sticky[field]) for each present
// field; kEnd last. Sticky values start at 0 and are shared by all opcodes. One canonical encoding:
// decode(encode(x)) == x, encode(decode(b)) == b. EncodeCommands throws kInternal when a field is
// out of its table's range.
std::vector<uint8_t> EncodeCommands(std::span<const Command> commands);
// Throws kCorrupt on anything non-canonical, unknown or out of the table's range; `tensor_count`
// bounds tensor ids.
std::vector<Command> DecodeCommands(std::span<const uint8_t> bytes, int64_t tensor_count);

}  // namespace rshift

#endif  // RSHIFT_ISA_ISA_H_
