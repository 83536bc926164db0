// The part of a preprocessing file that says how sounds become an input. Not for use outside
// calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_AUDIO_PREPROCESS_H_
#define RSHIFT_CALIBRATE_DATA_AUDIO_PREPROCESS_H_

#include <string>

#include "preprocess/audio_recipe.h"
#include "yaml/reader.h"

namespace YAML {
class Emitter;
}

namespace rshift {

// Throws kInvalidInput with where:line for unknown keys and for what does not fit together.
AudioRecipe ReadAudio(const YamlPart& part, const std::string& what);
// As a value that reads back as this recipe.
void PutAudio(YAML::Emitter& out, const AudioRecipe& recipe);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_AUDIO_PREPROCESS_H_
