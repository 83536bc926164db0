#include "runtime/kernels/softmax_rows.h"

#include <bit>

#include "runtime/kernels/avx512/vbmi.h"

namespace rshift {
namespace {

// The first difference from which every quotient is 0, whatever else a row holds. No row has a
// smaller sum than its greatest element alone, and a greater one makes no quotient larger but for
// the rounding of its factor, less than 2^-20 of it.
int32_t PlacesOf(const std::array<int32_t, 256>& words, const RequantWords& inverse_scale) {
  const numerics::SoftmaxQuotientRow row =
      numerics::QuotientRow(uint64_t{numerics::kSoftmaxOne}, inverse_scale);
  int32_t places = 1;
  for (int32_t d = 1; d < 256; ++d) {
    const uint64_t product = static_cast<uint64_t>(words[static_cast<size_t>(d)]) * row.factor;
    if (product + (product >> 20) + 1 >= uint64_t{1} << (row.rshift - 1)) places = d + 1;
  }
  return places;
}

}  // namespace

SoftmaxRowsArgs MakeSoftmaxRows(const std::array<int32_t, 256>& words, uint8_t flip,
                                const RequantWords& inverse_scale, const OutputBounds& bounds) {
  SoftmaxRowsArgs args;
  args.places = PlacesOf(words, inverse_scale);
  args.flip = flip;
  args.inverse_scale = inverse_scale;
  args.bounds = bounds;
  for (size_t d = 0; d < 256; ++d) {
    const auto word = static_cast<uint32_t>(words[d]);
    if (d < static_cast<size_t>(args.places)) args.entries[d] = word;
    for (size_t k = 0; k < 4; ++k) args.planes[k][d] = static_cast<uint8_t>(word >> (8 * k));
  }
  return args;
}

SoftmaxRowsFn SoftmaxRowsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Vnni && __builtin_cpu_supports("avx512vbmi")) return SoftmaxRowsVbmi;
#endif
  (void)isa;
  return nullptr;
}

}  // namespace rshift
