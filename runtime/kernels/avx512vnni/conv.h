// The register tiles of the AVX512-VNNI unit: up to 6 output pixels x 64 channels, or 12 x 32, in
// 24 accumulators, dot products of four (u8 x s8; s8 activations are XORed with 0x80, which the
// bias makes good).
#ifndef RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_H_
#define RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_H_

#include <cstring>

#include "runtime/kernels/avx512vnni/requant.h"
#include "runtime/kernels/driver/conv.h"

namespace rshift {
namespace {

// acc += dot of four. The empty asm keeps the accumulator where it is: without it g++ 12 copies and
// spills a tile of 24, and the kernel runs at 40 % of the machine's peak instead of 94 %.
inline void DotAccumulate(__m512i& acc, __m512i a, __m512i b) {
  acc = _mm512_dpbusd_epi32(acc, a, b);
  asm("" : "+v"(acc));
}

inline __m512i Broadcast4(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// Stores the first `count` of 64 bytes. Whole registers without a mask: stores under a mask are
// slow on many CPUs.
inline void StoreBytes(__m512i bytes, uint8_t* dst, int64_t count) {
  if (count == 64) {
    _mm512_storeu_si512(dst, bytes);
  } else if (count == 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst), _mm512_castsi512_si256(bytes));
  } else if (count == 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm512_castsi512_si128(bytes));
  } else {
    _mm512_mask_storeu_epi8(dst, (__mmask64{1} << count) - 1, bytes);
  }
}

// Where the bytes of a tile's pixels go.
enum class Storing {
  kSome,   // not every channel of the panel
  kWhole,  // every one
  kDense,  // and the pixels follow each other without a gap
};

// Bytes of several pixels in one register, in halves (V = 2) or quarters (V = 1), each to its
// pixel.
template <Storing kStoring, int V>
inline void StoreParts(__m512i bytes, uint8_t* dst, int64_t pitch, int64_t count) {
  if constexpr (kStoring == Storing::kDense) {
    StoreBytes(bytes, dst, 64);
  } else if constexpr (V == 2) {
    StoreBytes(bytes, dst, count);
    StoreBytes(_mm512_castsi256_si512(_mm512_extracti64x4_epi64(bytes, 1)), dst + pitch, count);
  } else {
    const auto part = [](__m128i x) { return _mm512_castsi128_si512(x); };
    StoreBytes(bytes, dst, count);
    StoreBytes(part(_mm512_extracti32x4_epi32(bytes, 1)), dst + pitch, count);
    StoreBytes(part(_mm512_extracti32x4_epi32(bytes, 2)), dst + 2 * pitch, count);
    StoreBytes(part(_mm512_extracti32x4_epi32(bytes, 3)), dst + 3 * pitch, count);
  }
}

// Bytes of the tile's pixels, from what S::Scale gave for them.
template <Storing kStoring, typename S, int R, int V>
[[gnu::always_inline]] inline void PackTile(const SaturatingPack<S>& pack, const TileArgs& t,
                                            const __m512i (&v)[R][V]) {
  // Pixels that fill a register together.
  constexpr int kTogether = V == 1 ? 4 : V == 2 ? 2 : 1;
  constexpr int kWhole = kTogether == 1 ? 0 : R / kTogether * kTogether;
  // Locals: bytes that are stored might be members, for all the compiler knows.
  uint8_t* const dst = t.dst;
  const int64_t pitch = t.dst_stride, count = kStoring == Storing::kSome ? t.real : 16 * V;
#pragma GCC unroll 6
  for (int r = 0; r < kWhole; r += kTogether) {
    const __m512i bytes =
        pack.Pack(v[r][0], V == 2 ? v[r][V - 1] : v[r + 1][0],
                  V == 2 ? v[r + 1][0] : v[r + kTogether / 2][0], v[r + kTogether - 1][V - 1]);
    StoreParts<kStoring, V>(bytes, dst + r * pitch, pitch, count);
  }
#pragma GCC unroll 6
  for (int r = kWhole; r < R; ++r) {
    const __m512i bytes =
        pack.Pack(v[r][0], v[r][V > 1 ? 1 : 0], v[r][V > 2 ? 2 : 0], v[r][V > 3 ? 3 : 0]);
    StoreBytes(bytes, dst + r * pitch, count);
  }
}

// Accumulators in registers -> what PackTile takes.
template <typename S, int R, int V>
inline SaturatingPack<S> ScaleTile(const RequantArgs& q, const TileArgs& t, __m512i (&acc)[R][V]) {
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const S requantizer = S::Load(q, t.entry + 16 * v);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) acc[r][v] = requantizer.Scale(acc[r][v]);
  }
  return SaturatingPack<S>::Load(q);
}

// Accumulators in registers -> bytes, by requantizer S.
template <typename S, int R, int V>
inline void FinishTile(const RequantArgs& q, const TileArgs& t, __m512i (&acc)[R][V]) {
  PackTile<Storing::kSome, S>(ScaleTile<S, R, V>(q, t, acc), t, acc);
}

// The same with a copy of the code for each way to store: for the most common requantizers.
template <typename S, int R, int V>
inline void FinishFast(const RequantArgs& q, const TileArgs& t, __m512i (&acc)[R][V]) {
  const SaturatingPack<S> pack = ScaleTile<S, R, V>(q, t, acc);
  if (t.real != 16 * V) return PackTile<Storing::kSome, S>(pack, t, acc);
  if (V <= 2 && t.dst_stride == 16 * V) return PackTile<Storing::kDense, S>(pack, t, acc);
  PackTile<Storing::kWhole, S>(pack, t, acc);
}

// The same through memory, for those that are not worth a copy of the tile each. Not inlined:
// the tile's accumulators would lose their registers (see DotAccumulate).
template <typename S>
[[gnu::noinline]] void FinishRows(const RequantArgs& q, const TileArgs& t, int32_t (*rows)[64]) {
  const auto load = [](const int32_t* p) { return _mm512_load_si512(p); };
  const SaturatingPack<S> pack = SaturatingPack<S>::Load(q);
  // 32 channels at a time, so that their constants stay in registers, to s16 in place.
  for (int64_t v = 0; v < t.width; v += 32) {
    const S first = S::Load(q, t.entry + v);
    const S second = S::Load(q, t.entry + (v + 16 < t.width ? v + 16 : v));
    for (int r = 0; r < t.count; ++r) {
      int32_t* row = rows[r] + v;
      const __m512i low = first.Scale(load(row)), high = second.Scale(load(row + 16));
      _mm512_store_si512(row, pack.Words(low, high));
    }
  }
  for (int r = 0; r < t.count; ++r) {
    const __m512i bytes = pack.PackWords(load(rows[r]), load(rows[r] + 32));
    StoreBytes(_mm512_permutexvar_epi32(pack.order, bytes), t.dst + r * t.dst_stride, t.real);
  }
}

[[gnu::noinline]] inline void FinishByAny(const RequantArgs& q, const TileArgs& t,
                                          int32_t (*rows)[64]) {
  if (q.post_ops) {
    for (int r = 0; r < t.count; ++r) {
      q.finish(q, t.entry, rows[r], t.real, t.dst + r * t.dst_stride);
    }
    return;
  }
  WithRequantizer<Avx512>(q,
                          [&](auto tag) { FinishRows<typename decltype(tag)::Type>(q, t, rows); });
}

// acc -= zero_w * (sum of x), pixel by pixel and channel by channel.
template <int R, int V>
inline void TakeOffZeroW(const RequantArgs& q, const TileArgs& t, __m512i (&acc)[R][V]) {
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const __m512i zero = _mm512_loadu_si512(q.zero_w + t.entry + 16 * v);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      acc[r][v] =
          _mm512_sub_epi32(acc[r][v], _mm512_mullo_epi32(zero, _mm512_set1_epi32(t.sums[r])));
    }
  }
}

// kSteps times four channels of R pixels x V * 16 output channels.
template <int kSteps, int R, int V>
[[gnu::always_inline]] inline void DotSteps(const uint8_t* const (&x)[R], int64_t k, __m512i flip,
                                            const int8_t* w, __m512i (&acc)[R][V]) {
#pragma GCC unroll 4
  for (int step = 0; step < kSteps; ++step, k += 4, w += V * 64) {
    __m512i b[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      b[v] = _mm512_loadu_si512(w + 64 * v);
      if (R == 2 || R == 3) asm("" : "+v"(b[v]));  // else g++ 12 loads it for each use
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const __m512i a = _mm512_xor_si512(Broadcast4(x[r] + k), flip);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) DotAccumulate(acc[r][v], a, b[v]);
    }
  }
}

// The requantizers that are not worth a copy of the convolution each.
struct AnyRequantizer {};

template <int R, int V>
inline void FinishBy(AnyRequantizer, const RequantArgs& q, const TileArgs& t,
                     __m512i (&acc)[R][V]) {
  // In registers where most pixels are: a copy of this for every remainder would be half of all
  // code.
  if constexpr (R == 5 || R == 6 || R == 12) {
    if (q.negative != nullptr) {
      if (q.ratio != nullptr) return FinishTile<ByTwoRatios<Avx512>, R, V>(q, t, acc);
      if (q.acc_factor == 1)
        return FinishTile<BySign<Avx512, HalfUpPrecomputed<Avx512>>, R, V>(q, t, acc);
    } else {
      if (q.ratio != nullptr) return FinishTile<ByRatio<Avx512>, R, V>(q, t, acc);
      if (q.acc_factor == 1) return FinishTile<HalfUpPrecomputed<Avx512>, R, V>(q, t, acc);
      if (q.acc_factor == 4) return FinishTile<TwoStepPrecomputed<Avx512>, R, V>(q, t, acc);
      if (q.rounding == Rounding::kFloatEven) return FinishTile<FloatEven<Avx512>, R, V>(q, t, acc);
      if (q.rounding == Rounding::kFloatZeroEven && !q.post_ops)
        return FinishTile<FloatZeroEven<Avx512>, R, V>(q, t, acc);
    }
  }
  alignas(64) int32_t rows[R][64];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) _mm512_store_si512(rows[r] + 16 * v, acc[r][v < V ? v : 0]);
  }
  FinishByAny(q, t, rows);
}

template <typename S, int R, int V>
inline void FinishBy(S, const RequantArgs& q, const TileArgs& t, __m512i (&acc)[R][V]) {
  FinishFast<S, R, V>(q, t, acc);
}

// What activations are XORed with.
inline uint8_t FlipOf(const ConvArgs& args) { return args.src_signed ? 0x80 : 0; }

// R pixels x V * 16 channels by requantizer S; the indirection buffer keeps kKept pointers for each
// tap.
template <typename S, int kKept, int R, int V>
[[gnu::noinline]] void DotTile(const ConvArgs& args, const TileArgs& t) {
  const RequantArgs& q = args.requant;
  __m512i acc[R][V];
  const int32_t* bias = (args.src_signed ? q.bias_flipped : q.bias) + t.entry;
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) acc[r][v] = _mm512_loadu_si512(bias + 16 * v);
  }
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(FlipOf(args)));
  // Few variables: what the registers do not hold goes through the vector pipes and waits there.
  const int64_t begin = t.channel_offset, whole = begin + args.ic4 / 16 * 16;
  const bool has_two = args.ic4 & 8, has_one = args.ic4 & 4;
  const uint8_t* const* const rows_end = t.rows + t.taps * kKept;
  const int64_t* gap = t.gaps;
  const int8_t* w = t.weights;
  for (const uint8_t* const* rows = t.rows; rows != rows_end; rows += kKept) {
    const uint8_t* x[R];
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) x[r] = rows[r];
    int64_t k = begin;
    // Without branches that depend on a count: the end of so short a loop is guessed wrong too
    // often.
    for (; k != whole; k += 16, w += 4 * V * 64) DotSteps<4>(x, k, flip, w, acc);
    if (has_two) {
      DotSteps<2>(x, k, flip, w, acc);
      k += 8, w += 2 * V * 64;
    }
    if (has_one) {
      DotSteps<1>(x, k, flip, w, acc);
      w += V * 64;
    }
    w += *gap++ * (16 * V);
  }
  if (t.sums != nullptr) TakeOffZeroW<R, V>(q, t, acc);
  FinishBy(S{}, q, t, acc);
}

// Two tiles of 6 pixels for 48 or 64 channels; one of 12 for at most 32, where it halves the loads
// of weights: layers of that few channels, and the last panels of others.
template <typename S>
struct ConvUnit {
  static constexpr int kRows = 12;
  static constexpr int64_t kMacsPerCycle = 64;
  static uint8_t Flip(const ConvArgs& args) { return FlipOf(args); }
  static int64_t TileRows(const ConvArgs& args) { return args.n <= 32 ? kRows : kRows / 2; }
  template <int R>
  static void Tile(const ConvArgs& args, TileArgs& tile) {
    if (tile.width == 16) return DotTile<S, kRows, R, 1>(args, tile);
    if (tile.width == 32) return DotTile<S, kRows, R, 2>(args, tile);
    if constexpr (R <= kRows / 2) {
      if (tile.width == 48) return DotTile<S, kRows, R, 3>(args, tile);
      DotTile<S, kRows, R, 4>(args, tile);
    } else {
      constexpr int kFirst = (R + 1) / 2;
      // In place: a copy of fields just written would wait for them.
      Move(tile, 0, kFirst);
      Tile<kFirst>(args, tile);
      Move(tile, kFirst, R - kFirst);
      Tile<R - kFirst>(args, tile);
      Move(tile, -kFirst, R);
    }
  }

 private:
  static void Move(TileArgs& tile, int pixels, int count) {
    tile.rows += pixels;
    tile.dst += pixels * tile.dst_stride;
    if (tile.sums != nullptr) tile.sums += pixels;
    tile.count = count;
  }
};

inline void DriveAnyConv(const ConvArgs& args, const ConvRange& range, void* scratch) noexcept {
  WithUnclamped<Avx512, AnyRequantizer>(args.requant, [&](auto tag) {
    DriveConv<ConvUnit<typename decltype(tag)::Type>>(args, range, scratch);
  });
}

}  // namespace
}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_AVX512VNNI_CONV_H_
