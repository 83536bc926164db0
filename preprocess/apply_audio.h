// From the samples of a sound to the values of an input.
#ifndef RSHIFT_PREPROCESS_APPLY_AUDIO_H_
#define RSHIFT_PREPROCESS_APPLY_AUDIO_H_

#include <string>
#include <vector>

#include "base/shape.h"
#include "preprocess/recipe.h"

namespace rshift {

// One channel, from -1 to 1.
struct Sound {
  int sample_rate = 0;
  std::vector<double> samples;
};

// `recipe.audio` has to be there. `shape`: of one sample, in ONNX order; its dimensions of more
// than 1 are frames and bins in the recipe's order, or their product. Throws kInvalidInput when
// rate or size do not fit, or when there is nothing to hear (`where` names the sound).
std::vector<float> ApplyAudio(const InputPreprocess& recipe, Sound sound, const Shape& shape,
                              const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_APPLY_AUDIO_H_
