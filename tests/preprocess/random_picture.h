// Pictures of noise with black and white in it, where rounding and saturation show.
#ifndef RSHIFT_TESTS_PREPROCESS_RANDOM_PICTURE_H_
#define RSHIFT_TESTS_PREPROCESS_RANDOM_PICTURE_H_

#include <random>

#include "preprocess/image.h"

namespace rshift {

inline Image RandomPicture(std::mt19937& random, int height, int width, int channels) {
  Image image{height, width, channels, {}};
  image.pixels.resize(static_cast<size_t>(height) * width * channels);
  for (uint8_t& x : image.pixels) {
    const auto bits = random();
    x = static_cast<uint8_t>(bits % 5 == 0 ? 255 : bits % 5 == 1 ? 0 : bits >> 8);
  }
  return image;
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_PREPROCESS_RANDOM_PICTURE_H_
