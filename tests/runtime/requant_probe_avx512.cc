#include "runtime/kernels/avx512vnni/requant.h"
#include "tests/runtime/requant_probe.h"

namespace rshift::testing {

void RequantAvx512(const RequantArgs& q, const int32_t* acc, uint8_t* y) {
  WithRequantizer<Avx512>(q, [&](auto tag) {
    using S = typename decltype(tag)::Type;
    const auto v = [&](int64_t c) { return S::Load(q, c).Scale(_mm512_loadu_si512(acc + c)); };
    _mm512_storeu_si512(y, SaturatingPack<S>::Load(q).Pack(v(0), v(16), v(32), v(48)));
  });
}

}  // namespace rshift::testing
