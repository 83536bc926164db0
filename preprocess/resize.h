// Bilinear resizing, to the bit as OpenCV's resize does it on 8-bit pictures (INTER_LINEAR).
#ifndef RSHIFT_PREPROCESS_RESIZE_H_
#define RSHIFT_PREPROCESS_RESIZE_H_

#include "preprocess/image.h"

namespace rshift {

// Every side is at least 1. Pixel centres correspond: the output's column i lies at
// (i + 0.5) * width / new_width - 0.5 of the input, and what lies outside is the border's.
Image ResizeBilinear(const PixelView& image, int height, int width);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_RESIZE_H_
