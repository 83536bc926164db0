// Operands of element-wise operators on two tensors, as integers.
#ifndef RSHIFT_QUANTIZE_OPS_OPERAND_H_
#define RSHIFT_QUANTIZE_OPS_OPERAND_H_

#include <cstdint>
#include <span>
#include <vector>

#include "quantize/emitter.h"

namespace rshift {

struct Operand {
  ValueId id;  // new
  IntType type;
};

struct ConstantIntegers {
  IntType type;
  std::vector<int8_t> bytes;
};

// A constant operand of an operator of two tensors: its own integers, where a QDQ model brings
// them, else quantized with its own range (NUMERICS.md 5.4), where an infinity of a sum is a
// number that takes it out of its range. Throws kInvalidInput for other infinities and NaN.
ConstantIntegers IntegersOf(Emitter& emitter, const Node& node, const Value& value);
// Throws kInvalidInput for infinities and NaN.
void RequireFinite(const Node& node, const Value& value);

// The bytes of constant `value` in its own shape: smaller ones are broadcast to `y` by the command.
ValueId AddOperandConstant(Emitter& emitter, const Value& value, const Value& y,
                           const IntType& type, std::span<const int8_t> bytes);
// Integers `x` of the old `value`, expanded to the shape of the node's output where it is smaller.
ValueId ExpandOperand(Emitter& emitter, const Node& node, const Value& value, ValueId x,
                      const IntType& type);
// Bytes that a function or an interpolation of s16 reads become s16 of 128 numbers to a step: a
// line between two entries of a table is then one between two bytes.
inline constexpr int32_t kBytesFactor = 128;

// s16 with zero point 0 that reaches the largest of the reals, and reals as integers of a type of
// s16.
IntType Int16TypeOf(std::span<const float> reals);
std::vector<int16_t> ToInt16(const Emitter& emitter, std::span<const float> reals,
                             const IntType& type);
// The s16 `numbers` of constant `value` in the last dimensions of the node's output. A 16-bit
// command repeats them along those before; what it cannot repeat is expanded.
Operand Int16Numbers(Emitter& emitter, const Node& node, const Value& value, const IntType& type,
                     std::span<const int16_t> numbers);
// s16 of one scale, zero point 0, that the model itself brings, and the operand of it.
bool IsInt16Constant(const Value& value);
Operand OwnInt16(Emitter& emitter, const Node& node, const Value& value);
// Either, of an input of the node.
Operand MakeOperand(Emitter& emitter, const Node& node, ValueId old_id);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_OPERAND_H_
