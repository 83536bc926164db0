// A step of an LSTM on bytes whose gates and state have 16 bits and whose functions are fixed
// point: LiteRT's integer kernel. NUMERICS.md section 31. Source: the public definition of that
// kernel and of gemmlowp's fixed-point library.
#ifndef RSHIFT_QUANTIZE_NUMERICS_FIXED_LSTM_H_
#define RSHIFT_QUANTIZE_NUMERICS_FIXED_LSTM_H_

#include <cstdint>

#include "isa/attributes.h"
#include "quantize/numerics/fixed_int16.h"

namespace rshift::numerics {

// A state counts in units of 2^-bits.
inline constexpr int32_t kLeastFixedStateBits = 9, kMostFixedStateBits = 15;
inline constexpr int32_t kFixedGateIntegerBits = 3;  // Q3.12
// Words of a gate: multiplier and rshift of the first product, then of the second.
inline constexpr int64_t kWordsOfFixedGate = 4;

inline constexpr int32_t SumModulo(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// What a product adds to a gate.
inline constexpr int32_t FixedGate(int32_t product, const RequantWords& words, int32_t before) {
  const int32_t part = MultiplyTwoStep(product, words.multiplier, words.rshift);
  return fixed16::Held(SumModulo(part, before));
}

// keep, take: Q0.15 of a sigmoid, so that neither quotient leaves 16 bits.
inline constexpr int32_t FixedNextState(int32_t keep, int32_t state, int32_t take, int32_t fresh,
                                        int32_t state_bits, const ClampQ& clamp) {
  const int32_t kept = RoundingDivideByPot(keep * state, 15);
  const int32_t added = RoundingDivideByPot(take * fresh, 30 - state_bits);
  return Clamp(kept + added, clamp.lo, clamp.hi);
}

// rshift from 31 on: the product of two numbers of Q0.15 grows no larger.
inline constexpr int32_t FixedOutput(int32_t gate, int32_t tanh, const RequantWords& words,
                                     int32_t zero, const ClampQ& clamp) {
  return Clamp(MultiplyTwoStep(gate * tanh, words.multiplier, words.rshift) + zero, clamp.lo,
               clamp.hi);
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_FIXED_LSTM_H_
