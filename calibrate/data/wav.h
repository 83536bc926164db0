// Sounds in .wav files, by libsndfile: integers of 8 to 32 bits and floating point, and what else
// it reads in such a file. Not for use outside calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_WAV_H_
#define RSHIFT_CALIBRATE_DATA_WAV_H_

#include <cstdint>
#include <span>
#include <string>

#include "preprocess/apply_audio.h"

namespace rshift {

// The mean of all channels; integers of n bits are divided by 2^(n - 1). Throws kInvalidInput
// naming `where` for a file that is damaged, cut off or no .wav, kUnsupported where the library is
// missing.
Sound ReadWav(std::span<const uint8_t> file, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_WAV_H_
