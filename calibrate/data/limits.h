// What the readers of data sets take at most. Sizes are known from headers before anything is
// allocated or unpacked: a small file cannot cost minutes or gigabytes.
#ifndef RSHIFT_CALIBRATE_DATA_LIMITS_H_
#define RSHIFT_CALIBRATE_DATA_LIMITS_H_

#include <algorithm>
#include <cstdint>

namespace rshift {

// Of the file of a picture; of its pixels: kMaxImagePixels (preprocess/image.h).
inline constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;
// Of the file of a sound.
inline constexpr uint64_t kMaxSoundBytes = uint64_t{1} << 30;
// Of a packed file (.npz, .gz), unpacked: this much, or kMaxUnpackRatio times the file where that
// is more. Data that packs better: .npy, which is mapped and has no limit, or the file unpacked.
inline constexpr uint64_t kMaxUnpackedBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxUnpackRatio = 16;
// Of a text file: a list of samples, labels, names of classes.
inline constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;

inline uint64_t MaxUnpackedBytes(uint64_t file_bytes) {
  return std::max(kMaxUnpackedBytes, kMaxUnpackRatio * file_bytes);
}

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_LIMITS_H_
