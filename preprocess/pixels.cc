#include "preprocess/pixels.h"

#include <algorithm>
#include <utility>

namespace rshift {
namespace {

// ITU-R BT.601 in units of 1 / 2^15, as OpenCV has it for 8 bits.
constexpr int kRed = 9798, kGreen = 19235, kBlue = 3735, kLumaBits = 15;

uint8_t Luma(int red, int green, int blue) {
  return static_cast<uint8_t>(
      (red * kRed + green * kGreen + blue * kBlue + (1 << (kLumaBits - 1))) >> kLumaBits);
}

}  // namespace

Image ToColor(const PixelView& pixels, PixelOrder order, InputPreprocess::Color color) {
  const bool is_gray = order == PixelOrder::kGray;
  const int step = PixelBytes(order), channels = Channels(color);
  // Where red, green and blue of a pixel are.
  const bool red_first = order == PixelOrder::kRgb || order == PixelOrder::kRgba;
  const int red = is_gray     ? 0
                  : red_first ? 0
                              : 2,
            green = is_gray ? 0 : 1, blue = is_gray ? 0 : 2 - red;
  const int first = color == InputPreprocess::Color::kBgr ? blue : red;
  const int last = color == InputPreprocess::Color::kBgr ? red : blue;
  Image image{pixels.height, pixels.width, channels, {}};
  image.pixels.resize(static_cast<size_t>(image.height) * image.width * channels);
  uint8_t* to = image.pixels.data();
  for (int y = 0; y < pixels.height; ++y) {
    const uint8_t* from = pixels.Row(y);
    for (int x = 0; x < pixels.width; ++x, from += step, to += channels) {
      if (channels == 1) {
        to[0] = is_gray ? from[0] : Luma(from[red], from[green], from[blue]);
      } else {
        to[0] = from[first];
        to[1] = from[green];
        to[2] = from[last];
      }
    }
  }
  return image;
}

}  // namespace rshift
