// Factors between the channels of activations, powers of two: what a calibration table was measured
// with, and what quantize/equalize puts into the weights before the model becomes integer.
#ifndef RSHIFT_QUANTIZE_RANGES_EQUALIZATION_H_
#define RSHIFT_QUANTIZE_RANGES_EQUALIZATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rshift {

// Exponents beyond this many octaves say nothing of a network.
inline constexpr int kMaxChannelExponent = 64;

// Behind the names of tensors that no longer hold what the model's do.
inline constexpr std::string_view kEqualizedSuffix = "__equalized";
// Behind the names of what the model's own tensors hold, measured beside those.
inline constexpr std::string_view kUnequalizedSuffix = "__unequalized";

// What the model calls a tensor that may be scaled.
inline std::string ModelName(const std::string& tensor) {
  return tensor.ends_with(kEqualizedSuffix)
             ? tensor.substr(0, tensor.size() - kEqualizedSuffix.size())
             : tensor;
}

// The tensor's channel c (index of its last dimension in memory order) is computed as x / 2^e[c],
// under the name `tensor` and kEqualizedSuffix.
struct ChannelExponents {
  std::string tensor;
  std::vector<int32_t> exponents;
  friend bool operator==(const ChannelExponents&, const ChannelExponents&) = default;
};
using Equalization = std::vector<ChannelExponents>;  // in graph order; empty: the model as it is

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_EQUALIZATION_H_
