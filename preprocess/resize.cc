#include "preprocess/resize.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rshift {
namespace {

// Weights are multiples of 1 / 2048. A sum over two columns has 19 bits, of which rows take the
// upper 15; the product with a row's weight loses 16 more, and two bits are left to round.
constexpr int kWeightBits = 11;
constexpr float kOne = 1 << kWeightBits;
constexpr int kRowShift = 4, kProductShift = 16, kRound = 2, kLastShift = 2;

// Where an output row or column lies: at `first` and `second` of the input, weighted.
struct Tap {
  int first = 0, second = 0;
  int16_t first_weight = 0, second_weight = 0;
};

int16_t Weight(float share) { return static_cast<int16_t>(std::nearbyint(share * kOne)); }

// `keeps_share`: beyond the border both taps are the border, weighted as if they differed, which
// rounds otherwise than one tap of full weight. OpenCV has it so for rows, not for columns.
std::vector<Tap> MakeTaps(int from, int to, bool keeps_share) {
  const double scale = 1.0 / (static_cast<double>(to) / from);
  std::vector<Tap> taps(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const auto at = static_cast<float>((i + 0.5) * scale - 0.5);
    const int first = static_cast<int>(std::floor(at));
    float share = at - static_cast<float>(first);
    if (!keeps_share && (first < 0 || first >= from - 1)) share = 0;
    taps[static_cast<size_t>(i)] = {std::clamp(first, 0, from - 1),
                                    std::clamp(first + 1, 0, from - 1), Weight(1.0f - share),
                                    Weight(share)};
  }
  return taps;
}

// One row of the input at the output's width.
template <int kChannels>
void ResizeRow(const uint8_t* row, const std::vector<Tap>& columns, int16_t* out) {
  for (const Tap& tap : columns) {
    const uint8_t* a = row + tap.first * kChannels;
    const uint8_t* b = row + tap.second * kChannels;
    for (int c = 0; c < kChannels; ++c)
      *out++ =
          static_cast<int16_t>((a[c] * tap.first_weight + b[c] * tap.second_weight) >> kRowShift);
  }
}

void JoinRows(const int16_t* a, const int16_t* b, const Tap& tap, size_t count, uint8_t* out) {
  const int wa = tap.first_weight, wb = tap.second_weight;
  for (size_t i = 0; i < count; ++i) {
    const int sum = ((a[i] * wa) >> kProductShift) + ((b[i] * wb) >> kProductShift);
    out[i] = static_cast<uint8_t>((sum + kRound) >> kLastShift);
  }
}

// To exactly half of both sides: the mean of four pixels, rounded half up.
Image Halve(const PixelView& image) {
  Image out{image.height / 2, image.width / 2, image.channels, {}};
  out.pixels.reserve(static_cast<size_t>(out.height) * out.width * out.channels);
  for (int y = 0; y < out.height; ++y) {
    const uint8_t *above = image.Row(2 * y), *below = image.Row(2 * y + 1);
    for (int x = 0; x < out.width; ++x) {
      for (int c = 0; c < out.channels; ++c) {
        const int left = 2 * x * out.channels + c, right = left + out.channels;
        out.pixels.push_back(static_cast<uint8_t>(
            (above[left] + above[right] + below[left] + below[right] + 2) >> 2));
      }
    }
  }
  return out;
}

}  // namespace

Image ResizeBilinear(const PixelView& image, int height, int width) {
  if (image.height == 2 * height && image.width == 2 * width) return Halve(image);
  const std::vector<Tap> rows = MakeTaps(image.height, height, true);
  const std::vector<Tap> columns = MakeTaps(image.width, width, false);
  const size_t count = static_cast<size_t>(width) * image.channels;
  Image out{height, width, image.channels, std::vector<uint8_t>(count * height)};
  // The two input rows at hand, and which they are.
  std::vector<int16_t> upper(count), lower(count);
  int upper_row = -1, lower_row = -1;
  const auto fill = [&](int row, std::vector<int16_t>& resized) {
    if (image.channels == 1)
      ResizeRow<1>(image.Row(row), columns, resized.data());
    else
      ResizeRow<3>(image.Row(row), columns, resized.data());
  };
  for (int y = 0; y < height; ++y) {
    const Tap& tap = rows[static_cast<size_t>(y)];
    if (tap.first == lower_row) {
      std::swap(upper, lower);
      std::swap(upper_row, lower_row);
    }
    if (tap.first != upper_row) fill(upper_row = tap.first, upper);
    const bool is_one = tap.second == tap.first;
    if (!is_one && tap.second != lower_row) fill(lower_row = tap.second, lower);
    JoinRows(upper.data(), (is_one ? upper : lower).data(), tap, count,
             out.pixels.data() + static_cast<size_t>(y) * count);
  }
  return out;
}

}  // namespace rshift
