// What kind of picture a file is and how large, by its first bytes and before it is decoded. Not
// for use outside calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_
#define RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "preprocess/image.h"

namespace rshift {

bool IsJpeg(std::span<const uint8_t> file);
// Of PNG, BMP, WebP, TIFF and PNM files; none when it is of no such kind or its header is cut off.
// JPEG's headers are read by libjpeg itself (jpeg.h).
std::optional<ImageSize> FindImageSize(std::span<const uint8_t> file);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_
