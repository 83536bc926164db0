// Operations whose output byte depends on one input byte only: a table of 256 made at load.
#ifndef RSHIFT_RUNTIME_STEPS_LUT_H_
#define RSHIFT_RUNTIME_STEPS_LUT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/byte_op.h"

namespace rshift {

using ByteTable = std::array<uint8_t, 256>;

// The integer a byte of an s8 or u8 tensor stands for.
inline int32_t ValueOf(uint8_t byte, DType type) {
  return type == DType::kS8 ? static_cast<int8_t>(byte) : byte;
}

// A byte tensor as the element-wise loops read it.
inline ByteOperand OperandOf(const StepContext& context, Field field) {
  const TensorRecord& record = context.Record(field);
  const bool is_signed = record.dtype == DType::kS8;
  return {.bytes = context.In<uint8_t>(field),
          .flip = static_cast<uint8_t>(is_signed ? 0x80 : 0),
          .zero = record.zero_point + (is_signed ? 128 : 0)};
}

// f(x) for each of the 256 values of the source.
template <typename F>
ByteTable MakeByteTable(DType src, const F& f) {
  ByteTable table;
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<size_t>(byte)] =
        static_cast<uint8_t>(f(ValueOf(static_cast<uint8_t>(byte), src)));
  }
  return table;
}

// dst byte = table[src byte].
std::unique_ptr<ByteOp> MakeLutOp(Isa isa, const ByteTable& table);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_LUT_H_
