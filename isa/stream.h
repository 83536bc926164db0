// What encoder and decoder of the command stream share. Not for use outside isa.
#ifndef RSHIFT_ISA_STREAM_H_
#define RSHIFT_ISA_STREAM_H_

#include <array>
#include <cstdint>
#include <string>

#include "isa/isa.h"

namespace rshift {

// The last value of every field, whatever opcode it was for.
using StickyFields = std::array<int64_t, kFieldCount>;

// Small numbers of either sign become small unsigned ones: 0, -1, 1, -2 -> 0, 1, 2, 3. Deltas wrap
// around modulo 2^64, so that any two values have exactly one delta.
constexpr uint64_t ZigZag(uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }
constexpr uint64_t UnZigZag(uint64_t code) { return (code >> 1) ^ (0 - (code & 1)); }

// Empty when `value` is allowed for the field, else what is expected. Tensor ids must be <
// tensor_count.
std::string FieldError(const FieldSpec& spec, int64_t value, int64_t tensor_count);

}  // namespace rshift

#endif  // RSHIFT_ISA_STREAM_H_
