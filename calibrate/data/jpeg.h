// JPEG by libjpeg itself, not by way of OpenCV: a damaged file is an error with a reason, and the
// colours come in the order that is wanted. The pixels are those of OpenCV, which calls the same
// library. Not for use outside calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_JPEG_H_
#define RSHIFT_CALIBRATE_DATA_JPEG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "calibrate/data/preprocess.h"

namespace rshift {

struct JpegPicture {
  Image image;          // as stored
  int orientation = 1;  // of Exif, 1 to 8: how it is to be turned; 1: not at all
};

// None for four colours (CMYK), which are checked and left to OpenCV. Throws kInvalidInput naming
// `where` for a file that is damaged or cut off, or larger than kMaxImagePixels.
std::optional<JpegPicture> DecodeJpeg(std::span<const uint8_t> file, InputPreprocess::Color color,
                                      const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_JPEG_H_
