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

// What each does: isa/ops, isa/ISA.md.
enum class Opcode : uint8_t {
  kEnd = 0,
  // --- integer: run inside the OpenMP region ---
  kQuantize = 1,
  kDequantize = 2,
  kRequantize = 3,
  kConv = 4,
  kDepthwise = 5,
  kMatMul = 6,
  kAdd = 7,
  kAddFloat = 8,
  kAveragePool = 9,
  kMaxPool = 10,
  kLeakyRelu = 11,
  kPRelu = 12,
  kTable = 13,
  kAddShifted = 14,
  kAddFma = 15,
  kMul = 16,
  kSoftmax = 17,
  kAddScaled = 18,
  kBatchedMatMul = 19,
  // --- data movement: any element type, inside the region ---
  kTranspose = 20,
  kCopyInto = 21,
  kSlice = 22,
  kPad = 23,
  kExpand = 24,
  kTile = 25,
  kGather = 26,
  kResizeNearest = 27,
  // --- integer, as those from 1 on ---
  kNormalize = 28,
  kGruCell = 29,
  kExtremum = 30,
  kDiv = 31,
  kBinaryTable = 32,
  kResize = 33,
  kDynamicRange = 34,
  kDynamicQuantize = 35,
  kDynamicConv = 36,
  kDynamicMatMul = 37,
  kLstmCell = 38,
  kGatedOutput = 39,
  // --- F32, no third-party library; inside the region ---
  kBinaryF32 = 40,
  kUnaryF32 = 41,
  kClipF32 = 42,
  kLeakyReluF32 = 43,
  kPReluF32 = 44,
  kSoftmaxF32 = 45,
  kLayerNormF32 = 46,
  kReduceF32 = 47,
  kArgMax = 48,
  kWhere = 49,
  kCast = 50,
  kResizeF32 = 51,
  kLrnF32 = 52,
  kInstanceNormF32 = 53,
  kFakeQuantizeF32 = 54,
  kNonMaxSuppression = 60,
  kNonZero = 61,
  kUnique = 62,
  // --- 16-bit integers; inside the region ---
  kRequantizeS16 = 64,
  kConvS16 = 65,
  kMatMulS16 = 66,
  kAddS16 = 67,
  kMulS16 = 68,
  kTableS16 = 69,
  kAveragePoolS16 = 70,
  kNormalizeS16 = 71,
  kAddShiftedS16 = 72,
  kSoftmaxS16 = 73,
  kExtremumS16 = 74,
  kBatchedMatMulS16 = 75,
  kQuotientSoftmaxS16 = 76,
  // --- F32, as those from 40 on ---
  kConvPlanarF32 = 77,
  // --- 16-bit integers ---
  kChannelTablesS16 = 78,
  // --- integer, as those from 1 on ---
  kChannelTables = 79,
  // --- F32 by oneDNN (rshift_float); outside the region ---
  kConvF32 = 80,
  kConvTransposeF32 = 81,
  kMatMulF32 = 82,
  kAveragePoolF32 = 83,
  // --- integer, as those from 1 on ---
  kResizeLinear = 84,
  kL2Normalize = 85,
  // --- 16-bit integers ---
  kResizeS16 = 86,
  kDivS16 = 87,
  // --- F32, as those from 40 on ---
  kTopK = 88,
  // --- 16-bit integers ---
  kCompareS16 = 89,
  kModS16 = 90,
  kPowS16 = 91,
  // --- integer, as those from 1 on ---
  kProduct = 92,
  kReduceSquares = 93,
  kFixedLstmCell = 94,
  kFixedGatedOutput = 95,
};

enum class Field : uint8_t {
#define RSHIFT_FIELD(id, name, text) k##name = id,
#include "isa/fields.def"
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
  bool view = false;       // may lie in another tensor's memory: with a pitch, at any offset
};

enum class OpClass : uint8_t { kInteger, kMove, kFloat, kFloatLibrary };

// How many multiply-accumulates a command makes (runtime/cost.cc).
enum class MacForm : uint8_t { kNone, kConv, kConvTranspose, kConvPlanar, kDepthwise, kMatMul };
// How often it works on an element of dst besides writing it (runtime/predict_work.cc).
enum class TapForm : uint8_t {
  kNone,
  kWindow,
  kDepthwiseWindow,
  kNeighbours,
  kResize,
  kSuppression,  // pairs of boxes, and their order
  kSort,         // rows compared while they are sorted
};
// What its step keeps in memory besides tensors (runtime/predict_work.cc).
enum class BufferForm : uint8_t {
  kUnstated,
  kNone,
  kRequant,         // words of every channel and a kernel's scratch
  kTable,           // 256 bytes
  kChannelTables,   // one for each channel
  kPlacesOfTables,  // where the table of each channel begins
  kRowPlan,         // the plan of one row of bytes
  kIndices,         // such a plan and the indices in src2
  kIndexMap,        // source indices or taps along every dimension
  kWeights,         // the weights in another order
  kSrc2,            // src2 in another order
  kPackedSrc2,      // one matrix of src2 as packed weights, with words of its columns
  kDynamicRequant,  // kRequant, and as much again for words made at run time
  kPlaces,          // two numbers for each box or row of src
};

struct OpTraits {
  // Reads an element before it writes it, on the same thread: dst may be the bytes of a source.
  bool in_place = false;
  // A command with fuse_with_previous may follow: it hands over its bytes while the nearest cache
  // holds them.
  bool leads_epilogue = false;
  // src or src2 may be a constant that broadcasts to dst: the step keeps it spread out, `buffers`
  // stays unstated.
  bool broadcasts_constant = false;
  MacForm macs = MacForm::kNone;
  TapForm taps = TapForm::kNone;
  BufferForm buffers = BufferForm::kUnstated;  // to be stated by every command, as is element_ns
  // Nanoseconds of one thread for a multiply-accumulate of a filled tile and for an element of any
  // tensor or tap: measured by tests/bench/work_test.cc on a Zen 4 with AVX512-VNNI (g++ 12, oneDNN
  // 2.7), 24 random programs of each opcode with 10^5 to 2 * 10^7 elements. The numbers are near
  // the ninth tenth of what was seen, so that few programs take more than twice what is predicted;
  // comments give the median and the most. Programs of real networks, whose channels fill the
  // kernels' tiles, take about half.
  double mac_ns = 0;
  double element_ns = 0;
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
// F32 compute; data movement is not.
inline constexpr bool IsFloatCompute(OpClass op_class) {
  return op_class == OpClass::kFloat || op_class == OpClass::kFloatLibrary;
}
// The same of bytes 0..255, false where the opcode does not exist.
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
