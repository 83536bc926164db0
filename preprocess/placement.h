// Where the picture lies in what a preprocessing makes of it.
#ifndef RSHIFT_PREPROCESS_PLACEMENT_H_
#define RSHIFT_PREPROCESS_PLACEMENT_H_

#include <string>

#include "preprocess/recipe.h"

namespace rshift {

// The whole picture has width x height pixels of the result, the first of them at (left, top):
// negative where a crop has cut it off, positive within the border of a letterbox.
struct Placement {
  int height = 0, width = 0, top = 0, left = 0;
};

// Of resizing alone. Throws kInvalidInput naming `where` for a picture that becomes too large.
Placement PlaceResized(const InputPreprocess& preprocess, int height, int width,
                       const std::string& where);
// Of resizing and crop.
Placement PlacePicture(const InputPreprocess& preprocess, int height, int width,
                       const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_PLACEMENT_H_
