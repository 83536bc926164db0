// Attributes that several operators and commands have: each fact has one type, from the graph to
// the kernels.
#ifndef RSHIFT_ISA_ATTRIBUTES_H_
#define RSHIFT_ISA_ATTRIBUTES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "isa/functions.h"
#include "isa/kernel_attributes.h"

namespace rshift {

inline bool operator==(const Window&, const Window&) = default;

// A fused Relu / Relu6 / Clip: y = min(max(x, lo), hi). The default does nothing.
struct Clamp {
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  bool active() const {
    return lo != -std::numeric_limits<float>::infinity() ||
           hi != std::numeric_limits<float>::infinity();
  }
  friend bool operator==(const Clamp&, const Clamp&) = default;
};

// The same of integers: the range of the output's type, narrowed by a fused Relu / Clip.
struct ClampQ {
  int32_t lo = -128, hi = 127;
};

// real = scale * (q - zero_point); per tensor. The tensor's type (s8, u8) tells the integer range.
struct QuantParams {
  float scale = 0.0f;
  int32_t zero_point = 0;
  friend bool operator==(const QuantParams&, const QuantParams&) = default;
};

// The two words of a requantization: what they mean is its Rounding (isa/functions.def). Integer
// roundings: the factor is multiplier / 2^rshift.
struct RequantWords {
  int32_t multiplier = 0, rshift = 0;
  friend constexpr bool operator==(const RequantWords&, const RequantWords&) = default;
};

// One output channel: y = requantize(acc + bias) by the operator's Rounding. Also the record in a
// file: 12 bytes, little-endian.
struct ChannelRequant {
  int32_t bias = 0;
  // Integer roundings: [2^30, 2^31), or 0 for a channel that is constant zero_y. Float roundings:
  // the bits of an f32 scale >= 0.
  int32_t multiplier = 0;
  // Integer roundings: [0, 62]. kFloatZeroEven, kHalfFloat: the bits of the f32 bias_f; else 0.
  int32_t rshift = 0;
};
static_assert(sizeof(ChannelRequant) == 12);

// What kFloatZeroEven does between scale and zero point; the formula is its kind's in
// isa/functions.def.
struct PostOp {
  PostOpKind kind = PostOpKind::kRelu;
  float alpha = 0, beta = 0, scale = 1;
  // One for each output channel: kChannelLinear has both, kChannelRelu the first.
  std::vector<float> alphas{}, betas{};
};

// How many lists of numbers for each channel a post-operation has; they follow its own four numbers
// in a command's list, each padded with zeros to a multiple of four.
inline constexpr int ChannelLists(PostOpKind kind) {
  return kind == PostOpKind::kChannelLinear ? 2 : kind == PostOpKind::kChannelRelu ? 1 : 0;
}

}  // namespace rshift

#endif  // RSHIFT_ISA_ATTRIBUTES_H_
