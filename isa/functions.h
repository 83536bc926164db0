// The functions that operators and commands select by number: enumerations, how many there are and
// what each reads, all made from isa/functions.def, which says what they mean. No code: kernel
// units include it. Names and parsers: isa/function_names.h.
#ifndef RSHIFT_ISA_FUNCTIONS_H_
#define RSHIFT_ISA_FUNCTIONS_H_

#include <cstdint>

namespace rshift {

#define RSHIFT_ENUMERATOR(id, name, ...) k##name = id,
#define RSHIFT_ONE(...) +1

enum class UnaryOp : uint8_t {
#define RSHIFT_UNARY RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kUnaryOpCount = 0
#define RSHIFT_UNARY RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class BinaryOp : uint8_t {
#define RSHIFT_BINARY RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kBinaryOpCount = 0
#define RSHIFT_BINARY RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class ReduceOp : uint8_t {
#define RSHIFT_REDUCE RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kReduceOpCount = 0
#define RSHIFT_REDUCE RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class Rounding : uint8_t {
#define RSHIFT_ROUNDING RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kRoundingCount = 0
#define RSHIFT_ROUNDING RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class RealRounding : uint8_t {
#define RSHIFT_REAL_ROUNDING RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kRealRoundingCount = 0
#define RSHIFT_REAL_ROUNDING RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class PostOpKind : int32_t {
#define RSHIFT_POST_OP RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kPostOpKindCount = 0
#define RSHIFT_POST_OP RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class PoolArithmetic : uint8_t {
#define RSHIFT_POOL_ARITHMETIC RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kPoolArithmeticCount = 0
#define RSHIFT_POOL_ARITHMETIC RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class SoftmaxArithmetic : uint8_t {
#define RSHIFT_SOFTMAX_ARITHMETIC RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kSoftmaxArithmeticCount = 0
#define RSHIFT_SOFTMAX_ARITHMETIC RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class AddBlocks : uint8_t {
#define RSHIFT_ADD_BLOCKS RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kAddBlocksCount = 0
#define RSHIFT_ADD_BLOCKS RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class ResizeMode : uint8_t {
#define RSHIFT_RESIZE_MODE RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kResizeModeCount = 0
#define RSHIFT_RESIZE_MODE RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class CoordinateMode : uint8_t {
#define RSHIFT_COORDINATE_MODE RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kCoordinateModeCount = 0
#define RSHIFT_COORDINATE_MODE RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class NearestMode : uint8_t {
#define RSHIFT_NEAREST_MODE RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kNearestModeCount = 0
#define RSHIFT_NEAREST_MODE RSHIFT_ONE
#include "isa/functions.def"
    ;

enum class PadMode : uint8_t {
#define RSHIFT_PAD_MODE RSHIFT_ENUMERATOR
#include "isa/functions.def"
};
inline constexpr int kPadModeCount = 0
#define RSHIFT_PAD_MODE RSHIFT_ONE
#include "isa/functions.def"
    ;

#undef RSHIFT_ENUMERATOR
#undef RSHIFT_ONE

// By BinaryOp: is the result bool, whatever the operands' type?
inline constexpr bool kResultIsBool[] = {
#define RSHIFT_RESULT_IS_Number false
#define RSHIFT_RESULT_IS_Bool true
#define RSHIFT_BINARY(id, name, result) RSHIFT_RESULT_IS_##result,
#include "isa/functions.def"
#undef RSHIFT_RESULT_IS_Number
#undef RSHIFT_RESULT_IS_Bool
};

// By PoolArithmetic: what an average reads of its command; the rest is at its default.
struct PoolParameters {
  bool scale, offset;
  bool words;  // rounding, multiplier, rshift; every window is whole
};
inline constexpr PoolParameters kPoolParameters[] = {
#define RSHIFT_POOL_ARITHMETIC(id, name, scale, offset, words) {scale, offset, words},
#include "isa/functions.def"
};

// By SoftmaxArithmetic: what the numbers of its table are.
enum class SoftmaxTable : uint8_t { kQ031, kF32 };
inline constexpr SoftmaxTable kSoftmaxTables[] = {
#define RSHIFT_SOFTMAX_ARITHMETIC(id, name, table) SoftmaxTable::k##table,
#include "isa/functions.def"
};

// By AddBlocks: elements of one block.
inline constexpr int kAddBlockSize[] = {
#define RSHIFT_ADD_BLOCKS(id, name, size) size,
#include "isa/functions.def"
};

}  // namespace rshift

#endif  // RSHIFT_ISA_FUNCTIONS_H_
