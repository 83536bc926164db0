#include "runtime/kernels/avx2/requant.h"
#include "tests/runtime/requant_probe.h"

namespace rshift::testing {

void Requant256(const RequantArgs& q, const int32_t* acc, int32_t* y) {
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    for (int64_t c = 0; c < kProbeChannels; c += 8) {
      const auto s = Requant<S>::Load(q, c);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + c), s.Apply(LoadEight(acc + c)));
    }
  });
}

void Narrow256(const RequantArgs& q, const int32_t* acc, uint8_t* y) {
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    const auto v = [&](int64_t c) { return S::Load(q, c).Scale(LoadEight(acc + c)); };
    const Narrow narrow = Narrow::Load<S>(q);
    for (int64_t c = 0; c < kProbeChannels; c += 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + c), narrow.Pack(v(c), v(c + 8)));
    }
  });
}

}  // namespace rshift::testing
