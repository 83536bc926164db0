// Boxes and class maps drawn on pictures, by OpenCV.
#ifndef RSHIFT_CALIBRATE_DRAW_PICTURE_H_
#define RSHIFT_CALIBRATE_DRAW_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/data/preprocess.h"

namespace rshift {

struct DrawnBox {
  double left = 0, top = 0, right = 0, bottom = 0;  // in pixels of the picture
  int64_t label = 0;                                // chooses the colour
  std::string text;                                 // above the box; "": none
};

// A class for each pixel of the network's input, and where the whole picture lies in it.
struct ClassMap {
  int height = 0, width = 0;
  std::vector<int64_t> classes;
  double top = 0, left = 0, place_height = 0, place_width = 0;
};

// `picture`: three channels, BGR. Boxes are cut off at its edges; the first lies on top.
void DrawBoxes(Image& picture, const std::vector<DrawnBox>& boxes);
// Half of each pixel becomes the colour of its class; class 0, the background, leaves it.
void BlendClasses(Image& picture, const ClassMap& map);
// As .png.
void WriteImage(const std::string& path, const Image& picture);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DRAW_PICTURE_H_
