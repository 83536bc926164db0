// idx files of unsigned bytes (MNIST and its kin), plain or gzip. Not for use outside
// calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_IDX_H_
#define RSHIFT_CALIBRATE_DATA_IDX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/shape.h"

namespace rshift {

struct IdxArray {
  Shape shape;
  std::vector<uint8_t> bytes;
};

// Whether the (unpacked) file begins as idx files do. False when it cannot be read.
bool LooksLikeIdx(const std::string& path);
// The whole array, unpacked. Throws kInvalidInput for a damaged file or elements that are not
// unsigned bytes.
IdxArray ReadIdx(const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_IDX_H_
