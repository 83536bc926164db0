// What the verifier learned on its way and a Session needs: so the weights are read once.
#ifndef RSHIFT_RUNTIME_PROOF_H_
#define RSHIFT_RUNTIME_PROOF_H_

#include <cstdint>
#include <vector>

namespace rshift {

struct Proof {
  // One list per command. Conv, depthwise and matmul of an s8 source (AArch64: of a u8 source, see
  // kernels/weight_sums.h): sum of w modulo 2^32, one per output channel. Empty for the others.
  std::vector<std::vector<uint32_t>> weight_sums;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_PROOF_H_
