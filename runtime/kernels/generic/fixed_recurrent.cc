#include "runtime/kernels/fixed_recurrent.h"

#include "quantize/numerics/fixed_lstm.h"
#include "runtime/kernels/generic/targets.h"

// A block of columns goes through short loops, which the compiler vectorises for each instruction
// set. numerics::FixedGate and its like are what they compute.
namespace rshift {
namespace {

namespace nm = numerics;

struct Block {
  alignas(64) int32_t v[kFixedCellBlock] = {};
};

// numerics::RoundingDivideByPot in 32 bits; exponent in [0, 31].
[[gnu::always_inline]] inline int32_t DividedByPot(int32_t x, int32_t exponent) {
  const auto mask = static_cast<int32_t>((uint32_t{1} << exponent) - 1);
  const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

// numerics::FixedGate of sum; the multiplier is not negative, so that no product saturates.
struct GateWords {
  int32_t multiplier, left, right;
  explicit GateWords(const int32_t* words)
      : multiplier(words[0]),
        left(words[1] < 31 ? 31 - words[1] : 0),
        right(words[1] > 31 ? words[1] - 31 : 0) {}
};
[[gnu::always_inline]] inline int32_t Part(int32_t sum, const GateWords& w, int32_t before) {
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(sum) << w.left);
  const int64_t product = int64_t{shifted} * int64_t{w.multiplier} + (int64_t{1} << 30);
  const auto high = static_cast<int32_t>(static_cast<uint64_t>(product) >> 31);
  return nm::fixed16::Held(nm::SumModulo(DividedByPot(high, w.right), before));
}

[[gnu::always_inline]] inline void GateLoop(const FixedCellArgs& args, int64_t gate, int64_t at,
                                            int64_t n, int32_t* t) {
  const int64_t column = gate * args.hidden + at;
  const int32_t* a = args.a + column;
  const int32_t* biases = args.biases + column;
  const int32_t* words = args.gate_words + gate * nm::kWordsOfFixedGate;
  const GateWords first(words), second(words + 2);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) t[i] = Part(nm::SumModulo(a[i], biases[i]), first, 0);
  if (args.b == nullptr) return;
  const int32_t* b = args.b + column;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) t[i] = Part(b[i], second, t[i]);
}

// In whole groups: loops for what is left over would be as much code again.
constexpr int64_t kGroup = 32;
static_assert(kFixedCellBlock % kGroup == 0);

[[gnu::always_inline]] inline void LogisticLoop(int64_t n, int32_t* t) {
  for (int64_t at = 0; at < n; at += kGroup) {
#pragma omp simd
    for (int64_t i = 0; i < kGroup; ++i) t[at + i] = nm::fixed16::Logistic(t[at + i]);
  }
}

[[gnu::always_inline]] inline void TanhLoop(int64_t n, int32_t integer_bits, int32_t* t) {
  for (int64_t at = 0; at < n; at += kGroup) {
#pragma omp simd
    for (int64_t i = 0; i < kGroup; ++i) t[at + i] = nm::fixed16::Tanh(t[at + i], integer_bits);
  }
}

#define RSHIFT_TARGET(name, ...)                                                                \
  struct name {                                                                                 \
    [[gnu::flatten]] __VA_ARGS__ static void Gate(const FixedCellArgs& args, int64_t gate,      \
                                                  int64_t at, int64_t n, int32_t* t) noexcept { \
      GateLoop(args, gate, at, n, t);                                                           \
    }                                                                                           \
    [[gnu::flatten]] __VA_ARGS__ static void Logistic(int64_t n, int32_t* t) noexcept {         \
      LogisticLoop(n, t);                                                                       \
    }                                                                                           \
    [[gnu::flatten]] __VA_ARGS__ static void Tanh(int64_t n, int32_t integer_bits,              \
                                                  int32_t* t) noexcept {                        \
      TanhLoop(n, integer_bits, t);                                                             \
    }                                                                                           \
  }
RSHIFT_FOR_TARGETS(RSHIFT_TARGET);
#undef RSHIFT_TARGET

template <typename T>
constexpr FixedCellLoops kLoops = {.gate = T::Gate, .logistic = T::Logistic, .tanh = T::Tanh};

void Sigmoid(const FixedCellArgs& args, int64_t gate, int64_t at, int64_t n, Block* t) noexcept {
  args.loops->gate(args, gate, at, n, t->v);
  args.loops->logistic(n, t->v);
}

}  // namespace

void RunFixedLstmCell(const FixedCellArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t n = end - begin;
  const bool coupled = args.gates == 3;
  const int64_t forget = coupled ? 0 : 1;
  Block keep, take, fresh;
  if (coupled || args.state != nullptr) Sigmoid(args, forget, begin, n, &keep);
  if (!coupled) Sigmoid(args, 0, begin, n, &take);
  for (int64_t i = 0; coupled && i < n; ++i) take.v[i] = nm::fixed16::kOne - keep.v[i];
  args.loops->gate(args, forget + 1, begin, n, fresh.v);
  args.loops->tanh(n, nm::kFixedGateIntegerBits, fresh.v);
  const ClampQ clamp = {args.bounds.lo, args.bounds.hi};
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = args.state != nullptr;
    args.next[begin + i] = static_cast<int16_t>(
        nm::FixedNextState(kept ? keep.v[i] : 0, kept ? args.state[begin + i] : 0, take.v[i],
                           fresh.v[i], args.state_bits, clamp));
  }
}

void RunFixedGatedOutput(const FixedCellArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t n = end - begin;
  Block gate, value;
  Sigmoid(args, args.gates - 1, begin, n, &gate);
  for (int64_t i = 0; i < n; ++i) value.v[i] = args.state[begin + i];
  args.loops->tanh(n, nm::kMostFixedStateBits - args.state_bits, value.v);
  const ClampQ clamp = {args.bounds.lo, args.bounds.hi};
  for (int64_t i = 0; i < n; ++i) {
    args.y[begin + i] = static_cast<uint8_t>(
        nm::FixedOutput(gate.v[i], value.v[i], args.words, args.bounds.zero, clamp));
  }
}

const FixedCellLoops& FixedCellLoopsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni) return kLoops<Avx2>;
  if (isa == Isa::kAvx512Vnni) return kLoops<Avx512>;
#endif
  (void)isa;
  return kLoops<Scalar>;
}

}  // namespace rshift
