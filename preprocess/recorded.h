// Recipes as a program records them for runtimes without YAML (metadata "pixels"): a line for each
// input that takes pictures, by its number in the program,
//   0 color=BGR layout=NCHW resize=short_side:256x256 crop=224x224 mean=104,117,123 scale=1
// with height before width; `resize` and `crop` only where there is one, behind a letterbox
// `fill=0` and `align=center`. Mean and scale are those of the program's own input: of one that
// takes pixels (--input-type u8), 0 and 1.
#ifndef RSHIFT_PREPROCESS_RECORDED_H_
#define RSHIFT_PREPROCESS_RECORDED_H_

#include <map>
#include <string>

#include "preprocess/recipe.h"

namespace rshift {

inline constexpr const char* kRecordedKey = "pixels";

// The names of the recipes are not recorded: they are those of the inputs.
std::string WriteRecorded(const std::map<size_t, InputPreprocess>& recipes);
// Throws kCorrupt, naming `where`, for anything else than WriteRecorded gives.
std::map<size_t, InputPreprocess> ReadRecorded(const std::string& text, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_RECORDED_H_
