// Pictures of 8 bits in memory.
#ifndef RSHIFT_PREPROCESS_IMAGE_H_
#define RSHIFT_PREPROCESS_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rshift {

// Of a picture in a file, and after resizing. Larger ones: scale them down first.
inline constexpr int64_t kMaxImagePixels = int64_t{100} << 20;  // 104,857,600

struct ImageSize {
  int64_t width = 0, height = 0;
};
// Throws kInvalidInput naming `where` when there are more than kMaxImagePixels.
void RequireImageSize(const ImageSize& size, const std::string& where);

// An 8-bit image, HWC, channels in the order of a recipe's `color`.
struct Image {
  int height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

// A part of somebody's picture; rows lie `row_bytes` apart.
struct PixelView {
  const uint8_t* pixels = nullptr;
  int height = 0, width = 0, channels = 0;
  ptrdiff_t row_bytes = 0;

  const uint8_t* Row(int y) const { return pixels + y * row_bytes; }
};

inline PixelView ViewOf(const Image& image) {
  return {image.pixels.data(), image.height, image.width, image.channels,
          static_cast<ptrdiff_t>(image.width) * image.channels};
}

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_IMAGE_H_
