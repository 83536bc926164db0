#include "preprocess/audio_recipe.h"

namespace rshift {

const char* Name(AudioFrames::Shape shape) {
  constexpr const char* kNames[] = {"hann", "hamming", "rectangle"};
  return kNames[static_cast<int>(shape)];
}

const char* Name(AudioFrames::Of of) { return of == AudioFrames::Of::kWindow ? "window" : "fft"; }

const char* Name(AudioFrames::Border border) {
  constexpr const char* kNames[] = {"none", "zero", "reflect"};
  return kNames[static_cast<int>(border)];
}

const char* Name(MelFilters::Scale scale) {
  return scale == MelFilters::Scale::kHtk ? "htk" : "slaney";
}

const char* Name(MelFilters::Sides sides) {
  return sides == MelFilters::Sides::kHertz ? "hertz" : "mel";
}

const char* Name(MelFilters::Norm norm) {
  return norm == MelFilters::Norm::kNone ? "none" : "slaney";
}

const char* Name(AudioLogarithm::Unit unit) {
  constexpr const char* kNames[] = {"ln", "log10", "db"};
  return kNames[static_cast<int>(unit)];
}

const char* Name(CosineTransform::Norm norm) {
  return norm == CosineTransform::Norm::kOrtho ? "ortho" : "uniform";
}

const char* Name(AudioRecipe::Align align) {
  return align == AudioRecipe::Align::kStart ? "start" : "center";
}

const char* Name(AudioRecipe::Level level) {
  constexpr const char* kNames[] = {"as-is", "max", "peak"};
  return kNames[static_cast<int>(level)];
}

const char* Name(AudioRecipe::First first) {
  return first == AudioRecipe::First::kFrames ? "frames" : "bins";
}

}  // namespace rshift
