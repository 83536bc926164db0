#include "preprocess/placement.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rshift {
namespace {

constexpr int64_t kMaxResizedSide = 65536;

// Half to even, as Python's round().
int ScaledSide(int side, double factor, const std::string& where) {
  const double scaled = std::max(1.0, std::nearbyint(side * factor));
  RSHIFT_REQUIRE(scaled <= static_cast<double>(kMaxResizedSide), ErrorCode::kInvalidInput, where,
                 ": a side of ", side, " pixels becomes ", scaled,
                 " by resizing, expected at most ", kMaxResizedSide, "; crop the image");
  return static_cast<int>(scaled);
}

Placement PlaceInLetterbox(const InputPreprocess& p, int height, int width,
                           const std::string& where) {
  const double factor = std::min(static_cast<double>(p.resize_height) / height,
                                 static_cast<double>(p.resize_width) / width);
  Placement place{std::min(p.resize_height, ScaledSide(height, factor, where)),
                  std::min(p.resize_width, ScaledSide(width, factor, where)), 0, 0};
  if (p.align == InputPreprocess::Align::kCenter) {
    place.top = (p.resize_height - place.height) / 2;
    place.left = (p.resize_width - place.width) / 2;
  }
  return place;
}

}  // namespace

Placement PlaceResized(const InputPreprocess& p, int height, int width, const std::string& where) {
  switch (p.resize) {
    case InputPreprocess::ResizeMode::kNone:
      return {height, width, 0, 0};
    case InputPreprocess::ResizeMode::kStretch:
      return {p.resize_height, p.resize_width, 0, 0};
    case InputPreprocess::ResizeMode::kLetterbox:
      return PlaceInLetterbox(p, height, width, where);
    case InputPreprocess::ResizeMode::kShortSide:
      break;
  }
  const double factor = static_cast<double>(p.resize_height) / std::min(height, width);
  return {ScaledSide(height, factor, where), ScaledSide(width, factor, where), 0, 0};
}

Placement PlacePicture(const InputPreprocess& p, int height, int width, const std::string& where) {
  Placement place = PlaceResized(p, height, width, where);
  if (p.crop_height == 0) return place;
  const bool boxed = p.resize == InputPreprocess::ResizeMode::kLetterbox;
  place.top -= ((boxed ? p.resize_height : place.height) - p.crop_height) / 2;
  place.left -= ((boxed ? p.resize_width : place.width) - p.crop_width) / 2;
  return place;
}

}  // namespace rshift
