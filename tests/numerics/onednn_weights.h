// Weights that oneDNN multiplies exactly on every CPU.
#ifndef RSHIFT_TESTS_NUMERICS_ONEDNN_WEIGHTS_H_
#define RSHIFT_TESTS_NUMERICS_ONEDNN_WEIGHTS_H_

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

namespace rshift {

// Without VNNI oneDNN adds two products of a u8 and an s8 in 16 bits, which saturate, and halves
// the weights of an s8 source: exact are even numbers of 7 bits.
inline bool MultipliesEveryByteExactly() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx512_core:
      return false;
    default:
      return true;
  }
}

// The weight, or an exact one near half of it.
inline int32_t ExactWeight(int32_t weight) {
  return MultipliesEveryByteExactly() ? weight : weight / 4 * 2;
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_NUMERICS_ONEDNN_WEIGHTS_H_
