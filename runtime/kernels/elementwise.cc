#include "runtime/kernels/elementwise.h"

#include "quantize/numerics/add.h"
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/average_pool.h"
#include "quantize/numerics/quantize.h"

// Written for the vectoriser (-O3 -fno-trapping-math, see CMakeLists.txt). `omp simd`: an element
// depends on its own index only, in place as well.
namespace rshift {
namespace {

template <typename A, typename B>
[[gnu::always_inline]] inline void AddLoop(const AddArgs& args, int64_t begin, int64_t end) {
  const A* a = static_cast<const A*>(args.a);
  const B* b = static_cast<const B*>(args.b);
  uint8_t* y = args.y;
  const AddArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddCommonShift(a[i] - p.zero_a, b[i] - p.zero_b,
                                                         p.multiplier_a, p.multiplier_b, p.rshift,
                                                         p.zero_y, p.lo, p.hi));
  }
}

template <typename A, typename B>
[[gnu::always_inline]] inline void AddFloatLoop(const AddFloatArgs& args, int64_t begin,
                                                int64_t end) {
  const A* a = static_cast<const A*>(args.a);
  const B* b = static_cast<const B*>(args.b);
  uint8_t* y = args.y;
  const AddFloatArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddFloat(a[i], p.scale_a, p.zero_a, b[i], p.scale_b,
                                                   p.zero_b, p.scale_y, p.zero_y, p.lo, p.hi));
  }
}

// fma is one instruction where the function's instruction set has it, else the C library's: exact
// either way.
[[gnu::always_inline]] inline void AddFmaLoop(const AddFmaArgs& args, int64_t begin, int64_t end) {
  const uint8_t* a = args.a;
  const uint8_t* b = args.b;
  uint8_t* y = args.y;
  const AddFmaArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::AddFma(a[i] ^ p.flip_a, b[i] ^ p.flip_b, p.ratio_a,
                                                 p.ratio_b, p.fixed, p.shift_y, p.lo, p.hi));
  }
}

[[gnu::always_inline]] inline void QuantizeLoop(const QuantizeArgs& args, int64_t begin,
                                                int64_t end) {
  const float* x = args.x;
  uint8_t* y = args.y;
  const QuantizeArgs p = args;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    y[i] = static_cast<uint8_t>(numerics::QuantizeValue(x[i], p.scale, p.zero, p.lo, p.hi));
  }
}

[[gnu::always_inline]] inline void AverageLoop(const AverageArgs& args, int64_t count) {
  const AverageArgs p = args;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    p.y[i] = static_cast<uint8_t>(
        numerics::AveragePool(p.sum[i] + p.pads, p.taps, p.scale, p.offset, p.lo, p.hi));
  }
}

// The loops as functions for one instruction set, and their table.
#define RSHIFT_ELEMENTWISE(name, ...)                                                              \
  template <typename A, typename B>                                                                \
  __VA_ARGS__ void Add##name(const AddArgs& args, int64_t begin, int64_t end) noexcept {           \
    AddLoop<A, B>(args, begin, end);                                                               \
  }                                                                                                \
  template <typename A, typename B>                                                                \
  __VA_ARGS__ void AddFloat##name(const AddFloatArgs& args, int64_t begin, int64_t end) noexcept { \
    AddFloatLoop<A, B>(args, begin, end);                                                          \
  }                                                                                                \
  __VA_ARGS__ void AddFma##name(const AddFmaArgs& args, int64_t begin, int64_t end) noexcept {     \
    AddFmaLoop(args, begin, end);                                                                  \
  }                                                                                                \
  __VA_ARGS__ void Quantize##name(const QuantizeArgs& args, int64_t begin, int64_t end) noexcept { \
    QuantizeLoop(args, begin, end);                                                                \
  }                                                                                                \
  __VA_ARGS__ void Average##name(const AverageArgs& args, int64_t count) noexcept {                \
    AverageLoop(args, count);                                                                      \
  }                                                                                                \
  constexpr ElementwiseTable k##name = {                                                           \
      {{Add##name<uint8_t, uint8_t>, Add##name<uint8_t, int8_t>},                                  \
       {Add##name<int8_t, uint8_t>, Add##name<int8_t, int8_t>}},                                   \
      {{AddFloat##name<uint8_t, uint8_t>, AddFloat##name<uint8_t, int8_t>},                        \
       {AddFloat##name<int8_t, uint8_t>, AddFloat##name<int8_t, int8_t>}},                         \
      AddFma##name,                                                                                \
      Quantize##name,                                                                              \
      Average##name}

RSHIFT_ELEMENTWISE(Scalar, );
#if defined(__x86_64__)
RSHIFT_ELEMENTWISE(Avx2, [[gnu::target("avx2,fma")]]);
#if defined(__clang__)  // does not take the width here: 256 bits serve as well
RSHIFT_ELEMENTWISE(Avx512, [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]);
#else
RSHIFT_ELEMENTWISE(
    Avx512, [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]]);
#endif
#endif

}  // namespace

const ElementwiseTable& ElementwiseFor(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::kScalar:
      return kScalar;
    case Isa::kAvx2:
    case Isa::kAvxVnni:
      return kAvx2;
    case Isa::kAvx512Vnni:
      return kAvx512;
  }
#endif
  (void)isa;
  return kScalar;
}

}  // namespace rshift
