// Random arguments of kernels: shapes, operands, requantizations.
#ifndef RSHIFT_TESTS_RUNTIME_RANDOM_KERNELS_H_
#define RSHIFT_TESTS_RUNTIME_RANDOM_KERNELS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "base/round_up.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/finish.h"
#include "runtime/kernels/kernels.h"
#include "runtime/steps/requant_arrays.h"

namespace rshift::random_kernels {

struct Random {
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t Int(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(engine() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool OneIn(int n) { return Int(1, n) == 1; }
  std::mt19937_64 engine;
};

// The arrays that RequantArgs points into.
struct Requant {
  std::vector<int32_t> bias, bias_flipped, multiplier, rshift, zero_w, high_half, high_shift;
  std::vector<float> scale, bias_f, ratio;
  PostOpArgs post_op_args;
  RequantArgs args;
};

// Which requantizations a test takes.
enum class Forms {
  kAll,     // every rounding in turn; weight zero points in one case of three
  kCommon,  // what most layers have: one fused multiply-add (RequantArgs::ratio), mostly no clamp
};

struct ShiftRange {
  int64_t least, most;
};

// Multipliers whose last `zeros` bits are 0.
inline void RandomIntegerWords(Random& random, int64_t entries, int zeros, const ShiftRange& shifts,
                               bool scalar_remainder, Requant* q) {
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t kind = random.Int(0, 19);
    q->multiplier.push_back(kind == 0   ? 0
                            : kind == 1 ? 1 << 30
                            : kind == 2
                                ? INT32_MAX
                                : static_cast<int32_t>(random.Int(int64_t{1} << 30, INT32_MAX)));
    q->multiplier.back() = q->multiplier.back() >> zeros << zeros;
    if (zeros != 0 && kind == 1) q->multiplier.back() += 1 << random.Int(7, 20);
    const int64_t rshift = random.Int(shifts.least, shifts.most);
    q->rshift.push_back(
        static_cast<int32_t>(rshift + (scalar_remainder && random.OneIn(9) ? 64 : 0)));
  }
  q->args.multiplier = q->multiplier.data();
  q->args.rshift = q->rshift.data();
  q->args.min_rshift = *std::min_element(q->rshift.begin(), q->rshift.end());
  q->args.max_rshift = *std::max_element(q->rshift.begin(), q->rshift.end());
}

// Shifts that the various vector forms take.
inline void RandomIntegerWords(Random& random, int64_t entries, bool scalar_remainder, Requant* q) {
  constexpr ShiftRange kRanges[] = {{0, 62}, {32, 62}, {33, 62}, {33, 54}, {31, 52}, {40, 44}};
  const int zeros = random.OneIn(2) ? 7 : 0;  // 24 bits left: RequantArgs::ratio
  const ShiftRange& shifts = kRanges[zeros != 0 && random.OneIn(2) ? 5 : random.Int(0, 4)];
  RandomIntegerWords(random, entries, zeros, shifts, scalar_remainder, q);
}

// The least shifts that RequantArgs::ratio takes, for sums up to `most_acc`.
inline void RandomRatioWords(Random& random, int64_t entries, int64_t most_acc, Requant* q) {
  int64_t least = 33;
  while (std::ldexp(static_cast<double>(most_acc), static_cast<int>(31 - least)) >= 32768 - 512)
    ++least;
  RandomIntegerWords(random, entries, 7, {least, least + random.Int(0, 6)}, false, q);
}

inline void RandomDoubleWords(Random& random, int64_t entries, Requant* q) {
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t fraction = random.OneIn(3) ? 0 : random.Int(0, (int64_t{1} << 52) - 1);
    const double scale = random.OneIn(20)
                             ? 0.0
                             : std::ldexp(1.0 + static_cast<double>(fraction) * 0x1p-52,
                                          static_cast<int>(random.Int(-22, -4)));
    q->multiplier.push_back(numerics::UpperWord(scale));
    q->rshift.push_back(numerics::LowerWord(scale));
  }
  q->args.multiplier = q->multiplier.data();
  q->args.rshift = q->rshift.data();
}

// Powers of two among the scales: ties.
inline void RandomFloatWords(Random& random, int64_t entries, Requant* q) {
  for (int64_t i = 0; i < entries; ++i) {
    const auto exponent = static_cast<int>(random.Int(-22, random.OneIn(10) ? 100 : -4));
    const float mantissa =
        random.OneIn(3) ? 1.0f : 1.0f + static_cast<float>(random.Int(0, 1 << 23)) * 0x1p-23f;
    q->scale.push_back(random.OneIn(20) ? 0.0f : std::ldexp(mantissa, exponent));
    q->bias_f.push_back(random.OneIn(2) ? 0.0f : static_cast<float>(random.Int(-9999, 9999)) / 8);
  }
  q->args.scale = q->scale.data();
  q->args.bias_f = q->bias_f.data();
}

inline void RandomPostOps(Random& random, int64_t entries, RequantArgs* args,
                          PostOpArgs* post_op_args) {
  for (int64_t i = random.Int(0, 3); i > 0; --i) {
    post_op_args->post_ops.push_back({static_cast<PostOpKind>(random.Int(1, kPostOpKindCount - 1)),
                                      static_cast<float>(random.Int(-300, 300)) / 16,
                                      static_cast<float>(random.Int(-300, 300)) / 16,
                                      static_cast<float>(random.Int(-64, 64)) / 32});
    PostOp& op = post_op_args->post_ops.back();
    for (int64_t entry = 0; entry < entries * ChannelLists(op.kind); ++entry) {
      (entry < entries ? op.alphas : op.betas)
          .push_back(static_cast<float>(random.Int(-300, 300)) / 16);
    }
  }
  args->half.quant_scale = static_cast<float>(random.Int(1, 999)) / 256;
  args->half.quant_offset = static_cast<float>(random.Int(-128, 127));
  args->half.relu = random.OneIn(2);
  args->half.sqrt_dequant = random.OneIn(4);
  args->half.sqrt_quant = random.OneIn(4);
  args->half.mode = static_cast<RealRounding>(random.Int(0, kRealRoundingCount - 1));
}

// `entries` that hold no channel may be anything but for zero_w. `products`: in an accumulator.
inline void RandomRequant(Random& random, Forms forms, int64_t seed, int64_t entries,
                          int64_t products, Requant* q) {
  const bool common = forms == Forms::kCommon;
  const auto rounding = common ? Rounding::kHalfUp : static_cast<Rounding>(seed % kRoundingCount);
  const int64_t bias = !common && random.OneIn(8) ? 2000000000 : 2000000;
  const int64_t most_sum = 255 * 255 * products;
  for (int64_t i = 0; i < entries; ++i) {
    q->bias.push_back(static_cast<int32_t>(random.Int(-bias, bias)));
    q->zero_w.push_back(static_cast<int32_t>(random.Int(-128, 127)));
  }
  q->bias_flipped = q->bias;
  if (random.OneIn(common ? 10 : 3)) q->args.zero_w = q->zero_w.data();
  if (common) {
    RandomRatioWords(random, entries, bias + most_sum, q);
  } else if (numerics::IsIntegerRounding(rounding)) {
    const bool scalar_remainder = rounding == Rounding::kTwoStepUp && random.OneIn(3);
    RandomIntegerWords(random, entries, scalar_remainder, q);
  } else if (rounding == Rounding::kDoubleAway) {
    RandomDoubleWords(random, entries, q);
  } else {
    RandomFloatWords(random, entries, q);
  }
  RandomPostOps(random, entries, &q->args, &q->post_op_args);
  q->args.bias = q->bias.data();
  q->args.bias_flipped = q->bias_flipped.data();
  q->args.post_op_args = &q->post_op_args;
  q->args.rounding = rounding;
  q->args.post_ops = rounding == Rounding::kFloatZeroEven && !q->post_op_args.post_ops.empty();
  q->args.finish = FinishFor(rounding, q->args.post_ops);
  const int lo = random.OneIn(2) ? -128 : 0, hi = lo + 255;
  q->args.zero_y = static_cast<int32_t>(random.Int(lo, hi));
  q->args.lo = static_cast<int32_t>(random.Int(lo, q->args.zero_y));
  q->args.hi = static_cast<int32_t>(random.Int(q->args.zero_y, hi));
  if (common && !random.OneIn(4)) q->args.lo = lo, q->args.hi = hi;
  q->high_half.resize(static_cast<size_t>(entries));
  q->high_shift.resize(static_cast<size_t>(entries));
  PrecomputeHighHalves(entries, bias + most_sum, q->high_half.data(), q->high_shift.data(),
                       &q->args);
  q->ratio.resize(static_cast<size_t>(entries));
  PrecomputeRatios(entries, most_sum, q->ratio.data(), &q->args);
}

// The bias of an entry for kernels that take x XOR 0x80, from the sum of its weights; modulo 2^32.
inline void Flip(bool src_signed, int64_t sum, int64_t entry, Requant* q) {
  const auto at = static_cast<size_t>(entry);
  q->bias_flipped[at] = static_cast<int32_t>(q->bias[at] + (src_signed ? -128 : 128) * sum);
}

// A sum among the post-operations, with an addend for each of `bytes` of dst.
inline AlignedBuffer RandomAddend(Random& random, int64_t bytes, PostOpArgs* post_op_args) {
  AlignedBuffer addend(static_cast<size_t>(bytes));
  for (size_t i = 0; i < addend.size(); ++i)
    addend.data()[i] = static_cast<uint8_t>(random.Int(0, 255));
  post_op_args->addend_signed = random.OneIn(2);
  if (!post_op_args->post_ops.empty()) {
    post_op_args->post_ops[0].kind = PostOpKind::kSum;
    post_op_args->addend = addend.data();
  }
  return addend;
}

inline AlignedBuffer RandomBytes(Random& random, int64_t size, bool extremes) {
  AlignedBuffer buffer(static_cast<size_t>(size) + 64);
  for (size_t i = 0; i < buffer.size(); ++i) {
    buffer.data()[i] =
        extremes ? (random.OneIn(2) ? 0x80 : 0x7f) : static_cast<uint8_t>(random.Int(0, 255));
  }
  return buffer;
}

// A zero point, often one that kernels multiply as 0, with or without XOR 0x80.
inline uint8_t RandomZero(Random& random) {
  if (random.OneIn(3)) return static_cast<uint8_t>(random.Int(0, 255));
  return random.OneIn(2) ? 0 : 0x80;
}

// Bytes between the channels of one pixel and the next: views of wider tensors have some.
inline int64_t RandomGap(Random& random) { return random.OneIn(3) ? random.Int(1, 70) : 0; }

// A fused epilogue that shows how often it ran on a byte.
struct Twist {
  int64_t pitch = 0;
  uint8_t added = 0;
};
inline void TwistBytes(const void* state, uint8_t* dst, int64_t pixels, int64_t count) noexcept {
  const Twist& twist = *static_cast<const Twist*>(state);
  for (int64_t i = 0; i < pixels; ++i, dst += twist.pitch) {
    for (int64_t c = 0; c < count; ++c) dst[c] = static_cast<uint8_t>(dst[c] * 3 + twist.added);
  }
}

inline Window RandomWindow(Random& random) {
  Window w;
  if (random.OneIn(3)) return w;
  w.kernel_h = random.Int(1, 5);
  w.kernel_w = random.Int(1, 5);
  if (random.OneIn(12)) w.kernel_h = w.kernel_w = 7;
  w.stride_h = random.Int(1, 3);
  w.stride_w = random.Int(1, 3);
  w.dilation_h = random.Int(1, 2);
  w.dilation_w = random.Int(1, 2);
  w.pad_top = random.Int(0, 2);
  w.pad_left = random.Int(0, 2);
  return w;
}

// Input size that gives `out` outputs (with whatever bottom pad remains).
inline int64_t InputSize(Random& random, int64_t out, int64_t kernel, int64_t stride,
                         int64_t dilation, int64_t pad) {
  const int64_t needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - pad;
  return std::max<int64_t>(1, needed - random.Int(0, 2));
}

}  // namespace rshift::random_kernels

#endif  // RSHIFT_TESTS_RUNTIME_RANDOM_KERNELS_H_
