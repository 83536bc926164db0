// numpy's arrays of text, as far as we need them. Not for use outside calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_TEXT_ARRAY_H_
#define RSHIFT_CALIBRATE_DATA_TEXT_ARRAY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rshift {

// The bytes of an .npy file of UTF-8 texts, as `numpy.array(texts)` is saved. What is no UTF-8
// becomes U+FFFD.
std::vector<uint8_t> TextNpy(const std::vector<std::string>& texts);
// Whether an .npy file holds text by its header.
bool IsTextNpy(std::span<const uint8_t> file);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_TEXT_ARRAY_H_
