// What kind of picture a file is and how large, by its first bytes and before it is decoded. Not
// for use outside calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_
#define RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rshift {

struct ImageSize {
  int64_t width = 0, height = 0;
};

bool IsJpeg(std::span<const uint8_t> file);
// Of PNG, BMP, WebP, TIFF and PNM files; none when it is of no such kind or its header is cut off.
// JPEG's headers are read by libjpeg itself (jpeg.h).
std::optional<ImageSize> FindImageSize(std::span<const uint8_t> file);
// Throws kInvalidInput naming `where` when there are more than kMaxImagePixels.
void RequireImageSize(const ImageSize& size, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_IMAGE_SIZE_H_
