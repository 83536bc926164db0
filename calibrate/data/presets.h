// Ready preprocessing by name, for --preprocess: the one registry of all tools.
#ifndef RSHIFT_CALIBRATE_DATA_PRESETS_H_
#define RSHIFT_CALIBRATE_DATA_PRESETS_H_

#include <string>

#include "calibrate/data/dataset.h"
#include "calibrate/data/preprocess.h"

namespace rshift {

bool IsPreset(const std::string& name);
// "torch-imagenet | tf-imagenet | ..."
std::string PresetNames();
// The preset as it fits the shape of this input: its size decides resize and crop, the place of its
// channels the layout. Throws kInvalidInput when the input takes no images.
InputPreprocess MakePreset(const std::string& name, const InputSpec& input);
// What a caller should know before this preset is taken for this input, "" for nothing: pictures
// are stretched, or cropped where they mostly are not.
std::string PresetNote(const std::string& name, const InputSpec& input);
// Whether the shape is that of images, NxCxHxW or NxHxWxC with 1 or 3 channels.
bool TakesImages(const InputSpec& input);

// A preprocessing file that reads back as these entries.
std::string WritePreprocess(const std::vector<InputPreprocess>& inputs);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_PRESETS_H_
