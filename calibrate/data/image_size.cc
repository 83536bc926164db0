#include "calibrate/data/image_size.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.h"
#include "calibrate/data/limits.h"

namespace rshift {
namespace {

// Numbers at any place of the file; 0 beyond its end.
class Bytes {
 public:
  Bytes(std::span<const uint8_t> file, bool big_endian) : file_(file), big_endian_(big_endian) {}
  int64_t Number(size_t at, size_t size) const {
    if (at > file_.size() || size > file_.size() - at) return 0;
    int64_t number = 0;
    for (size_t i = 0; i < size; ++i) {
      number = number << 8 | file_[at + (big_endian_ ? i : size - 1 - i)];
    }
    return number;
  }

 private:
  std::span<const uint8_t> file_;
  bool big_endian_;
};

bool Has(std::span<const uint8_t> file, size_t at, std::string_view text) {
  return at + text.size() <= file.size() &&
         std::equal(text.begin(), text.end(), file.begin() + static_cast<int64_t>(at),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

ImageSize BmpSize(std::span<const uint8_t> file) {
  const Bytes bytes(file, false);
  if (bytes.Number(14, 4) == 12) return {bytes.Number(18, 2), bytes.Number(20, 2)};  // OS/2
  const auto height = static_cast<int32_t>(bytes.Number(22, 4));  // negative: top row first
  return {bytes.Number(18, 4), height < 0 ? -int64_t{height} : int64_t{height}};
}

// A lossy, a lossless, or an extended file.
ImageSize WebpSize(std::span<const uint8_t> file) {
  const Bytes bytes(file, false);
  if (Has(file, 12, "VP8 ")) return {bytes.Number(26, 2) & 0x3fff, bytes.Number(28, 2) & 0x3fff};
  if (Has(file, 12, "VP8L")) {
    const int64_t packed = bytes.Number(21, 4);
    return {(packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1};
  }
  return {bytes.Number(24, 3) + 1, bytes.Number(27, 3) + 1};
}

ImageSize TiffSize(std::span<const uint8_t> file) {
  constexpr int64_t kWidth = 256, kHeight = 257, kShort = 3;
  const Bytes bytes(file, Has(file, 0, "MM"));
  const auto directory = static_cast<size_t>(bytes.Number(4, 4));
  ImageSize size;
  for (int64_t i = 0; i < bytes.Number(directory, 2); ++i) {
    const size_t entry = directory + 2 + 12 * static_cast<size_t>(i);
    const int64_t tag = bytes.Number(entry, 2);
    const int64_t value = bytes.Number(entry + 8, bytes.Number(entry + 2, 2) == kShort ? 2 : 4);
    if (tag == kWidth) size.width = value;
    if (tag == kHeight) size.height = value;
  }
  return size;
}

// "P6 # comment \n 640 480 ..."
ImageSize PnmSize(std::span<const uint8_t> file) {
  size_t at = 2;
  const auto number = [&] {
    while (at < file.size() && (std::isspace(file[at]) != 0 || file[at] == '#')) {
      if (file[at] == '#') {
        while (at < file.size() && file[at] != '\n') ++at;
      } else {
        ++at;
      }
    }
    int64_t value = 0;
    for (; at < file.size() && std::isdigit(file[at]) != 0; ++at) {
      value = std::min<int64_t>(value * 10 + (file[at] - '0'), int64_t{1} << 32);
    }
    return value;
  };
  const int64_t width = number();
  return {width, number()};
}

ImageSize SizeByKind(std::span<const uint8_t> file) {
  const Bytes big(file, true);
  if (Has(file, 0, "\x89PNG\r\n\x1a\n")) return {big.Number(16, 4), big.Number(20, 4)};
  if (Has(file, 0, "BM")) return BmpSize(file);
  if (Has(file, 0, "RIFF") && Has(file, 8, "WEBPVP8")) return WebpSize(file);
  if (Has(file, 0, {"II*\0", 4}) || Has(file, 0, {"MM\0*", 4})) return TiffSize(file);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6') return PnmSize(file);
  return {};
}

}  // namespace

bool IsJpeg(std::span<const uint8_t> file) { return Has(file, 0, "\xff\xd8\xff"); }

std::optional<ImageSize> FindImageSize(std::span<const uint8_t> file) {
  const ImageSize size = SizeByKind(file);
  if (size.width <= 0 || size.height <= 0) return std::nullopt;
  return size;
}

}  // namespace rshift
