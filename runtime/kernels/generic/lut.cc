#include "runtime/kernels/lut.h"

#include "runtime/kernels/avx512/vbmi.h"

namespace rshift {
namespace {

void LutScalar(const uint8_t* table, const uint8_t* x, uint8_t* y, const RowBlock& rows) noexcept {
  for (int64_t r = 0; r < rows.rows; ++r, x += rows.pitch_a, y += rows.pitch_y) {
    for (int64_t i = 0; i < rows.count; ++i) y[i] = table[x[i]];
  }
}

void ChannelLutScalar(const ChannelLutArgs& args, int64_t first, const uint8_t* x, uint8_t* y,
                      int64_t n) noexcept {
  const int32_t* places = args.places + first;
  for (int64_t i = 0; i < n; ++i) {
    if (places[i] >= 0) y[i] = args.tables[places[i] + x[i]];
  }
}

}  // namespace

ChannelLutFn ChannelLutFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return ChannelLutVbmi;
#endif
  (void)isa;
  return ChannelLutScalar;
}

LutFn LutFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return LutVbmi;
#endif
  (void)isa;
  return LutScalar;
}

PReluFn PReluFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return PReluVbmi;
#endif
  (void)isa;
  return nullptr;
}

}  // namespace rshift
