// Int16FinishTable::finish_tile of S16HighWords, for the CPUs that have the named registers.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_HIGH_WORDS_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_HIGH_WORDS_H_

#include "runtime/kernels/int16_finish.h"

namespace rshift {

void FinishHighWordsAvx2(const S16Tile& tile, const S16HighWords& words,
                         const S16Bounds& bounds) noexcept;
void FinishHighWordsAvx512(const S16Tile& tile, const S16HighWords& words,
                           const S16Bounds& bounds) noexcept;

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_INT16_HIGH_WORDS_H_
