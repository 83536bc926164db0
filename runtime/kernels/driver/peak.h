// How fast an instruction set can multiply and accumulate at all: independent dot products on
// registers. For a unit to instantiate.
#ifndef RSHIFT_RUNTIME_KERNELS_DRIVER_PEAK_H_
#define RSHIFT_RUNTIME_KERNELS_DRIVER_PEAK_H_

#include <cstdint>

// The compiler's letter for a vector register.
#if defined(__aarch64__)
#define RSHIFT_VECTOR_REGISTER "w"
#else
#define RSHIFT_VECTOR_REGISTER "v"
#endif

namespace rshift {
namespace {

// A register that the compiler must have computed, and must not copy (avx512vnni/conv.h says why).
template <typename Vector>
inline void Pin(Vector& x) {
  asm("" : "+" RSHIFT_VECTOR_REGISTER(x));
}

// `rounds` times kCount dot products dot(acc, a, b), each on an accumulator of its own.
template <int kCount, typename Vector, typename Dot>
inline void RunDots(int64_t rounds, Vector a, Vector b, Dot dot) {
  Vector acc[kCount];
#pragma GCC unroll 24
  for (int i = 0; i < kCount; ++i) acc[i] = a;
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 24
    for (int i = 0; i < kCount; ++i) {
      acc[i] = dot(acc[i], a, b);
      Pin(acc[i]);
    }
  }
#pragma GCC unroll 24
  for (int i = 0; i < kCount; ++i) asm volatile("" : : RSHIFT_VECTOR_REGISTER(acc[i]));
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_DRIVER_PEAK_H_
