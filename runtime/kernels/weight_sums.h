// Sums over packed weights, one unit per instruction set. As in kernels.h, a unit compiled with its
// own -m flags includes nothing but this header, <immintrin.h>, <cstdint> and <cstring>.
#ifndef RSHIFT_RUNTIME_KERNELS_WEIGHT_SUMS_H_
#define RSHIFT_RUNTIME_KERNELS_WEIGHT_SUMS_H_

#include <cstdint>

namespace rshift {

// sums[c] += the weights of channel c in `count` quads of four K positions, modulo 2^32.
// quads: [count][width][4], width 16, 32, 48 or 64 (codegen/packing/packing.h).
using WeightSumFn = void (*)(const int8_t* quads, int64_t count, int64_t width,
                             uint32_t* sums) noexcept;

void SumWeightsPortable(const int8_t* quads, int64_t count, int64_t width, uint32_t* sums) noexcept;
#if defined(__x86_64__)
void SumWeightsAvx2(const int8_t* quads, int64_t count, int64_t width, uint32_t* sums) noexcept;
void SumWeightsAvx512Vnni(const int8_t* quads, int64_t count, int64_t width,
                          uint32_t* sums) noexcept;
#endif

// Of s8 or of u8 sources: whose bytes this architecture's dot products take XOR 0x80, so that the
// bias has to make good 128 * sum(w) (RequantArgs::bias_flipped). vpdpbusd wants unsigned
// activations, sdot signed ones.
#if defined(__aarch64__)
inline constexpr bool kFlippedSigned = false;
#else
inline constexpr bool kFlippedSigned = true;
#endif

// The fastest of those that run where kernels of `isa` do.
enum class Isa : uint8_t;
WeightSumFn WeightSumFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_WEIGHT_SUMS_H_
