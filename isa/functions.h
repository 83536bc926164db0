// The functions that operators and commands select by number: enumerations, how many there are and
// what each reads, all made from isa/functions.def, which says what they mean. No code: kernel
// units include it. Names and parsers: isa/function_names.h.
#ifndef RSHIFT_ISA_FUNCTIONS_H_
#define RSHIFT_ISA_FUNCTIONS_H_

#include <cstdint>

namespace rshift {

// clang-format off
#define RSHIFT_BEGIN(type, integer) enum class type : integer {
#define RSHIFT_ENTRY(id, name, text) k##name = id,
#define RSHIFT_END(type) };
#include "isa/functions.def"
// kUnaryOpCount, kBinaryOpCount...
#define RSHIFT_BEGIN(type, integer) inline constexpr int k##type##Count = 0
#define RSHIFT_ENTRY(...) +1
#define RSHIFT_END(type) ;
#include "isa/functions.def"
// clang-format on

// By BinaryOp: is the result bool, whatever the operands' type?
inline constexpr bool kResultIsBool[] = {
#define RSHIFT_RESULT_IS_Number false
#define RSHIFT_RESULT_IS_Bool true
#define RSHIFT_BINARY(id, name, result) RSHIFT_RESULT_IS_##result,
#include "isa/functions.def"
#undef RSHIFT_RESULT_IS_Number
#undef RSHIFT_RESULT_IS_Bool
};

// By ReduceOp: what it reduces.
enum class ReduceOperands : uint8_t { kFloats, kNumbers, kAny };
inline constexpr ReduceOperands kReduceOperands[] = {
#define RSHIFT_REDUCE(id, name, text, operands) ReduceOperands::k##operands,
#include "isa/functions.def"
};

// By Rounding: what its two words are.
enum class RoundingWords : uint8_t { kFactor, kScale, kScaleAndBias, kDouble };
inline constexpr RoundingWords kRoundingWords[] = {
#define RSHIFT_ROUNDING(id, name, text, words) RoundingWords::k##words,
#include "isa/functions.def"
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
enum class SoftmaxTable : uint8_t { kQ031, kF32, kQ230 };
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
