#include "runtime/kernels/avx512vnni/requant.h"
#include "tests/runtime/requant_probe.h"

namespace rshift::testing {

void Requant512(const RequantArgs& q, const int32_t* acc, int32_t* y) {
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    for (int64_t c = 0; c < kProbeChannels; c += 16) {
      const auto s = Requant<S>::Load(q, c);
      _mm512_storeu_si512(y + c, s.Apply(_mm512_loadu_si512(acc + c)));
    }
  });
}

void Narrow512(const RequantArgs& q, const int32_t* acc, uint8_t* y) {
  WithRequant(q, [&](auto form) {
    using S = typename decltype(form)::Type;
    const auto v = [&](int64_t c) { return S::Load(q, c).Scale(_mm512_loadu_si512(acc + c)); };
    _mm512_storeu_si512(y, Narrow<S>::Load(q).Pack(v(0), v(16), v(32), v(48)));
  });
}

}  // namespace rshift::testing
