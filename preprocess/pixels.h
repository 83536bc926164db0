// A caller's pixels as an image in the colours of a recipe.
#ifndef RSHIFT_PREPROCESS_PIXELS_H_
#define RSHIFT_PREPROCESS_PIXELS_H_

#include <string>

#include "preprocess/image.h"
#include "preprocess/recipe.h"

namespace rshift {

enum class PixelOrder { kGray, kRgb, kBgr, kRgba, kBgra };

constexpr int PixelBytes(PixelOrder order) {
  return order == PixelOrder::kGray                               ? 1
         : order == PixelOrder::kRgb || order == PixelOrder::kBgr ? 3
                                                                  : 4;
}

// Alpha is left out. Gray from colours is the luma of BT.601 as OpenCV rounds it.
Image ToColor(const PixelView& pixels, PixelOrder order, InputPreprocess::Color color);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_PIXELS_H_
