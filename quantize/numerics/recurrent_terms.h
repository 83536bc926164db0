// The numbers of an integer LSTM or GRU cell (recurrent.h), from real ones. NUMERICS.md section 28.
#ifndef RSHIFT_QUANTIZE_NUMERICS_RECURRENT_TERMS_H_
#define RSHIFT_QUANTIZE_NUMERICS_RECURRENT_TERMS_H_

#include <array>
#include <cstdint>

#include "quantize/numerics/elementary.h"
#include "quantize/numerics/normalize_terms.h"
#include "quantize/numerics/recurrent.h"

namespace rshift::numerics {

// tanh(i / 128) in 2^-20, to the nearest.
inline std::array<int32_t, kTanhSteps + 1> MakeTanhTable() {
  std::array<int32_t, kTanhSteps + 1> table{};
  for (int32_t i = 0; i <= kTanhSteps; ++i) {
    const double t = static_cast<double>(i << kTanhStepBits) / PowerOfTwo(kGateBits);
    table[static_cast<size_t>(i)] =
        static_cast<int32_t>(RoundHalfEven(Tanh(t) * PowerOfTwo(kTanhEntryBits)));
  }
  return table;
}

// The rshift of gates whose greatest factor and offset, in units of t, are these: the largest in
// [0, 32] at which both are in bounds.
inline constexpr int32_t GateShift(double factor, double offset) {
  int32_t rshift = kMostGateRshift;
  while (rshift > 0 &&
         !(factor * PowerOfTwo(rshift) < static_cast<double>(kLargestGateFactor) &&
           offset * PowerOfTwo(rshift) < static_cast<double>(kLargestGateOffset / 2))) {
    --rshift;
  }
  return rshift;
}

// Saturates.
inline constexpr int32_t GateFactor(double factor, int32_t rshift) {
  const double scaled = factor * PowerOfTwo(rshift);
  if (!(scaled < static_cast<double>(kLargestGateFactor))) return kLargestGateFactor;
  return static_cast<int32_t>(scaled + 0.5);
}

// Of a bias in units of t, with the rounding term. Saturates.
inline constexpr int64_t GateOffset(double bias, int32_t rshift) {
  const double scaled = bias * PowerOfTwo(rshift) + PowerOfTwo(rshift) / 2;
  constexpr auto kMost = static_cast<double>(kLargestGateOffset);
  if (scaled >= kMost) return kLargestGateOffset;
  if (scaled <= -kMost) return -kLargestGateOffset;
  return static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// Bits of a state's fraction: the most, up to 15, at which |state| <= 2^(15 - bits).
inline constexpr int32_t StateBits(double magnitude) {
  int32_t bits = kMostStateBits;
  while (bits > 0 && magnitude > PowerOfTwo(kMostStateBits - bits)) --bits;
  return bits;
}

}  // namespace rshift::numerics

#endif  // RSHIFT_QUANTIZE_NUMERICS_RECURRENT_TERMS_H_
