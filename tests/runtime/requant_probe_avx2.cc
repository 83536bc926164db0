#include "runtime/kernels/avx2/requant.h"
#include "tests/runtime/requant_probe.h"

namespace rshift::testing {

void RequantAvx2(const RequantArgs& q, const int32_t* acc, uint8_t* y) {
  WithRequantizer<Avx2>(q, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    const auto v = [&](int64_t c) { return S::Load(q, c).Scale(LoadEight(acc + c)); };
    const auto pack = SaturatingPack<S>::Load(q);
    for (int64_t c = 0; c < kProbeChannels; c += 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + c), pack.Pack(v(c), v(c + 8)));
    }
  });
}

}  // namespace rshift::testing
