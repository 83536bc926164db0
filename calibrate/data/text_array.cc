#include "calibrate/data/text_array.h"

#include <algorithm>
#include <string_view>

#include "calibrate/data/npy.h"

namespace rshift {
namespace {

// The code points of a text; U+FFFD for each byte that fits nowhere.
std::u32string Decode(const std::string& text) {
  constexpr char32_t kReplacement = 0xfffd, kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const int ones = std::countl_one(first);
    const size_t length = ones == 0 ? 1 : static_cast<size_t>(ones);
    char32_t point = ones == 0 ? first : first & (0xff >> (ones + 1));
    bool ok = ones == 0 || (ones >= 2 && ones <= 4 && at + length <= text.size());
    for (size_t i = 1; ok && i < length; ++i) {
      const auto next = static_cast<uint8_t>(text[at + i]);
      ok = (next & 0xc0) == 0x80;
      point = point << 6 | (next & 0x3f);
    }
    ok = ok && (ones == 0 || point >= kSmallest[ones]) && point <= 0x10ffff &&
         (point < 0xd800 || point > 0xdfff);
    points += ok ? point : kReplacement;
    at += ok ? length : 1;
  }
  return points;
}

}  // namespace

std::vector<uint8_t> TextNpy(const std::vector<std::string>& texts) {
  std::vector<std::u32string> decoded;
  size_t longest = 1;
  for (const std::string& text : texts) {
    decoded.push_back(Decode(text));
    longest = std::max(longest, decoded.back().size());
  }
  std::vector<uint8_t> file =
      NpyHeaderOf("<U" + std::to_string(longest), {static_cast<int64_t>(texts.size())});
  for (std::u32string& points : decoded) {
    points.resize(longest);
    for (const char32_t point : points) {
      for (int byte = 0; byte < 4; ++byte) file.push_back(static_cast<uint8_t>(point >> 8 * byte));
    }
  }
  return file;
}

bool IsTextNpy(std::span<const uint8_t> file) {
  const std::string_view head(reinterpret_cast<const char*>(file.data()),
                              std::min<size_t>(file.size(), 256));
  const size_t key = head.find("'descr': '");
  if (!head.starts_with("\x93NUMPY") || key == std::string_view::npos) return false;
  const std::string_view type = head.substr(key + std::string_view("'descr': '").size(), 2);
  return type == "<U" || type == ">U" || type == "|S";
}

}  // namespace rshift
