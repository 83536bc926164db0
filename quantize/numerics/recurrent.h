// Cells of LSTM and GRU in integers. NUMERICS.md section 28.
//
// Gates are numbers t of 2^-16 (of half the real argument, where the gate is a sigmoid), their
// functions are of 2^-15, states 16 bits of 2^-state_bits.
#ifndef RSHIFT_QUANTIZE_NUMERICS_RECURRENT_H_
#define RSHIFT_QUANTIZE_NUMERICS_RECURRENT_H_

#include <cstdint>

#include "quantize/numerics/requantize.h"

namespace rshift::numerics {

inline constexpr int32_t kGateBits = 16;                     // of t
inline constexpr int32_t kMostGate = (1 << 19) - 1;          // of |t|: tanh(8) is 1 in 2^-15
inline constexpr int32_t kMostGatePart = 1 << 27;            // of a part of a GRU's memory gate
inline constexpr int32_t kFunctionBits = 15;                 // of tanh and sigmoid
inline constexpr int32_t kTanhSteps = 1024;                  // of |t| from 0 to 2^19
inline constexpr int32_t kTanhStepBits = 9;                  // each so many bits wide
inline constexpr int32_t kTanhEntryBits = 20;                // of the table's numbers
inline constexpr int32_t kTanhBytes = (kTanhSteps + 1) * 4;  // s32
inline constexpr int32_t kLargestGateFactor = (1 << 29) - 1;
inline constexpr int64_t kLargestGateOffset = int64_t{1} << 60;
inline constexpr int32_t kMostGateRshift = 32;
inline constexpr int32_t kMostStateBits = 15;

// A gate of two products of integers. Factors and offset are within the bounds above, so that the
// sum is below 2^62; the offset holds the rounding term.
inline constexpr int32_t GateSum(int32_t a, int32_t factor_a, int32_t b, int32_t factor_b,
                                 int64_t offset, int32_t rshift, int32_t most) {
  const int64_t sum = int64_t{a} * factor_a + int64_t{b} * factor_b + offset;
  return Clamp(sum >> rshift, -most, most);
}

// A GRU's memory gate where the reset gate (2^-15) multiplies the recurrent part.
inline constexpr int32_t ResetSum(int32_t part, int32_t reset, int32_t recurrent) {
  constexpr int64_t kHalf = int64_t{1} << (kFunctionBits - 1);
  const int64_t product = (int64_t{reset} * recurrent + kHalf) >> kFunctionBits;
  return Clamp(part + product, -kMostGate, kMostGate);
}

// tanh(t) by straight lines between the table's numbers: kTanhSteps + 1 of 2^-20, each at most
// 2^20. |t| <= 2^19.
inline constexpr int32_t TableTanh(const int32_t* table, int32_t t) {
  const int32_t magnitude = t < 0 ? -t : t;
  const int32_t u = magnitude < kMostGate ? magnitude : kMostGate;
  const int32_t step = u >> kTanhStepBits, part = u & ((1 << kTanhStepBits) - 1);
  const int32_t line = table[step] * ((1 << kTanhStepBits) - part) + table[step + 1] * part;
  constexpr int32_t kShift = kTanhEntryBits + kTanhStepBits - kFunctionBits;
  const int32_t y = (line + (1 << (kShift - 1))) >> kShift;
  return t < 0 ? -y : y;
}

// The sigmoid of 2 t.
inline constexpr int32_t LogisticOfTanh(int32_t tanh) {
  return ((1 << kFunctionBits) + tanh + 1) >> 1;
}

// keep * state + take * fresh: at most 2^31 in magnitude, and 2^31 itself only below 0.
inline constexpr int32_t NextState(int32_t keep, int32_t state, int32_t take, int32_t fresh,
                                   int32_t state_bits) {
  const int32_t sum =
      keep * state + ((take * fresh) >> (kMostStateBits - state_bits)) + (1 << (kFunctionBits - 1));
  return Clamp(sum >> kFunctionBits, -32768, 32767);
}

// The argument of tanh for a state.
inline constexpr int32_t GateOfState(int32_t state, int32_t state_bits) {
  const int32_t most = 1 << (state_bits + 3);
  return Clamp(state, -most, most) << (kGateBits - state_bits);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_RECURRENT_H_
