#include "tools/preprocess_options.h"

#include "calibrate/data/presets.h"

namespace rshift {

std::vector<CLI::Option*> PreprocessArguments::AddTo(CLI::App& app, const std::string& meaning) {
  return {app.add_option("--preprocess", source, "FILE.yaml, or " + PresetNames() + ": " + meaning),
          app.add_option("--mean", mean,
                         "M or M,M,M, of pixels from 0 to 255: changes the preset "
                         "or file (without one: raw)"),
          app.add_option("--scale", scale, "S or S,S,S: value = (pixel - mean) * scale"),
          app.add_option("--color", color, "rgb | bgr | gray: the order of the channels"),
          app.add_option("--resize", resize,
                         "SHORT_SIDE, HxW, HxW:letterbox (the whole picture in the middle of "
                         "black) or HxW:letterbox:FILL:top-left (FILL: grey, or one per channel)"),
          app.add_option("--crop", crop, "N or HxW of the middle, after resizing")};
}

}  // namespace rshift
