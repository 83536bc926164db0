#include "calibrate/data/audio_preprocess.h"

#include <iterator>

#include "base/number_text.h"
#include "calibrate/data/yaml_choice.h"

namespace rshift {
namespace {

int ReadCount(const YamlPart& map, const char* key, const std::string& what, int most) {
  const YamlPart part = Child(map, key, what);
  const int64_t count = ReadInt(part, Cat(what, ".", key));
  if (count < 1 || count > most)
    FailAt(part, what, ".", key, " is ", count, ", expected 1 to ", most);
  return static_cast<int>(count);
}

// Leaves `value` as it is where the key is missing.
template <typename T>
void ReadIfThere(const YamlPart& map, const char* key, const std::string& what, T& value,
                 std::initializer_list<T> values) {
  if (HasKey(map, key)) value = ReadWord(Child(map, key, what), Cat(what, ".", key), values);
}

AudioFrames ReadFrames(const YamlPart& part, const std::string& what) {
  using Frames = AudioFrames;
  CheckKeys(part, what, {"window", "hop", "fft", "shape", "symmetric", "of", "border", "power"});
  Frames frames;
  frames.window = ReadCount(part, "window", what, kMaxFftLength);
  frames.hop = ReadCount(part, "hop", what, kMaxSoundSamples);
  frames.fft = ReadCount(part, "fft", what, kMaxFftLength);
  if (frames.fft < frames.window) {
    FailAt(Child(part, "fft", what), what, ".fft is ", frames.fft, ", less than the window's ",
           frames.window, " samples; a longer one is filled with zeros");
  }
  ReadIfThere(part, "shape", what, frames.shape,
              {Frames::Shape::kHann, Frames::Shape::kHamming, Frames::Shape::kRectangle});
  if (HasKey(part, "symmetric"))
    frames.symmetric = ReadBool(Child(part, "symmetric", what), what + ".symmetric");
  ReadIfThere(part, "of", what, frames.of, {Frames::Of::kWindow, Frames::Of::kFft});
  ReadIfThere(part, "border", what, frames.border,
              {Frames::Border::kNone, Frames::Border::kZero, Frames::Border::kReflect});
  if (HasKey(part, "power"))
    frames.power = ReadEither(Child(part, "power", what), what + ".power", 1, 2);
  return frames;
}

MelFilters ReadMel(const YamlPart& part, const std::string& what, int sample_rate) {
  using Mel = MelFilters;
  CheckKeys(part, what, {"bins", "low", "high", "scale", "sides", "norm"});
  Mel mel;
  mel.bins = ReadCount(part, "bins", what, kMaxMelBins);
  const double half = sample_rate / 2.0;
  mel.low = HasKey(part, "low") ? ReadDouble(Child(part, "low", what), what + ".low") : 0;
  mel.high = HasKey(part, "high") ? ReadDouble(Child(part, "high", what), what + ".high") : half;
  if (!(mel.low >= 0 && mel.low < mel.high && mel.high <= half)) {
    FailAt(part, what, " goes from ", mel.low, " to ", mel.high,
           " Hz, expected 0 <= low < high <= ", half, ", half of the sample rate");
  }
  ReadIfThere(part, "scale", what, mel.scale, {Mel::Scale::kHtk, Mel::Scale::kSlaney});
  ReadIfThere(part, "sides", what, mel.sides, {Mel::Sides::kHertz, Mel::Sides::kMel});
  ReadIfThere(part, "norm", what, mel.norm, {Mel::Norm::kNone, Mel::Norm::kSlaney});
  return mel;
}

AudioLogarithm ReadLogarithm(const YamlPart& part, const std::string& what) {
  using Unit = AudioLogarithm::Unit;
  CheckKeys(part, what, {"unit", "floor", "add", "below_peak"});
  AudioLogarithm logarithm;
  logarithm.unit = ReadWord(Child(part, "unit", what), what + ".unit",
                            {Unit::kLn, Unit::kLog10, Unit::kDecibel});
  logarithm.adds = HasKey(part, "add");
  if (logarithm.adds == HasKey(part, "floor")) {
    FailAt(part, what, " needs either 'floor' (of max(x, floor)) or 'add' (of x + add), ",
           "because silence has no logarithm; 1e-10 is usual");
  }
  const char* key = logarithm.adds ? "add" : "floor";
  const YamlPart floor = Child(part, key, what);
  logarithm.floor = ReadDouble(floor, Cat(what, ".", key));
  if (!(logarithm.floor > 0))
    FailAt(floor, what, ".", key, " is ", logarithm.floor, ", expected more than 0");
  if (HasKey(part, "below_peak")) {
    const YamlPart below = Child(part, "below_peak", what);
    logarithm.below_peak = ReadDouble(below, what + ".below_peak");
    if (!(*logarithm.below_peak >= 0))
      FailAt(below, what, ".below_peak is ", *logarithm.below_peak, ", expected 0 or more");
  }
  return logarithm;
}

CosineTransform ReadCosines(const YamlPart& part, const std::string& what, int bins) {
  using Norm = CosineTransform::Norm;
  CheckKeys(part, what, {"count", "norm"});
  CosineTransform cosines;
  cosines.count = ReadCount(part, "count", what, bins);
  ReadIfThere(part, "norm", what, cosines.norm, {Norm::kOrtho, Norm::kUniform});
  return cosines;
}

// Each step works on what the one before it gives.
void RequireStep(const YamlPart& part, const char* step, const char* before,
                 const std::string& what) {
  if (HasKey(part, step) && !HasKey(part, before))
    FailAt(Child(part, step, what), what, ".", step, " needs '", before, "' before it");
}

template <typename Number>
void Put(YAML::Emitter& out, const char* key, Number number) {
  out << YAML::Key << key << YAML::Value << ShortestText(number);
}

void PutName(YAML::Emitter& out, const char* key, const char* name) {
  out << YAML::Key << key << YAML::Value << name;
}

void BeginMap(YAML::Emitter& out, const char* key) {
  out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginMap;
}

void PutFrames(YAML::Emitter& out, const AudioFrames& frames) {
  BeginMap(out, "frames");
  Put(out, "window", frames.window);
  Put(out, "hop", frames.hop);
  Put(out, "fft", frames.fft);
  PutName(out, "shape", Name(frames.shape));
  PutName(out, "symmetric", frames.symmetric ? "true" : "false");
  PutName(out, "of", Name(frames.of));
  PutName(out, "border", Name(frames.border));
  Put(out, "power", frames.power);
  out << YAML::EndMap;
}

void PutMel(YAML::Emitter& out, const MelFilters& mel) {
  BeginMap(out, "mel");
  Put(out, "bins", mel.bins);
  Put(out, "low", mel.low);
  Put(out, "high", mel.high);
  PutName(out, "scale", Name(mel.scale));
  PutName(out, "sides", Name(mel.sides));
  PutName(out, "norm", Name(mel.norm));
  out << YAML::EndMap;
}

void PutLogarithm(YAML::Emitter& out, const AudioLogarithm& logarithm) {
  BeginMap(out, "log");
  PutName(out, "unit", Name(logarithm.unit));
  Put(out, logarithm.adds ? "add" : "floor", logarithm.floor);
  if (logarithm.below_peak) Put(out, "below_peak", *logarithm.below_peak);
  out << YAML::EndMap;
}

}  // namespace

AudioRecipe ReadAudio(const YamlPart& part, const std::string& what) {
  using Recipe = AudioRecipe;
  CheckKeys(part, what,
            {"sample_rate", "length", "align", "level", "frames", "mel", "log", "mfcc", "first"});
  Recipe recipe;
  recipe.sample_rate = ReadCount(part, "sample_rate", what, kMaxSampleRate);
  if (HasKey(part, "length")) recipe.length = ReadCount(part, "length", what, kMaxSoundSamples);
  ReadIfThere(part, "align", what, recipe.align, {Recipe::Align::kStart, Recipe::Align::kCenter});
  ReadIfThere(part, "level", what, recipe.level,
              {Recipe::Level::kAsIs, Recipe::Level::kMax, Recipe::Level::kPeak});
  RequireStep(part, "mel", "frames", what);
  RequireStep(part, "log", "frames", what);
  RequireStep(part, "first", "frames", what);
  RequireStep(part, "mfcc", "mel", what);
  RequireStep(part, "mfcc", "log", what);
  if (HasKey(part, "frames"))
    recipe.frames = ReadFrames(Child(part, "frames", what), what + ".frames");
  if (HasKey(part, "mel"))
    recipe.mel = ReadMel(Child(part, "mel", what), what + ".mel", recipe.sample_rate);
  if (HasKey(part, "log"))
    recipe.logarithm = ReadLogarithm(Child(part, "log", what), what + ".log");
  if (HasKey(part, "mfcc"))
    recipe.mfcc = ReadCosines(Child(part, "mfcc", what), what + ".mfcc", recipe.mel->bins);
  ReadIfThere(part, "first", what, recipe.first, {Recipe::First::kFrames, Recipe::First::kBins});
  return recipe;
}

void PutAudio(YAML::Emitter& out, const AudioRecipe& recipe) {
  out << YAML::BeginMap;
  Put(out, "sample_rate", recipe.sample_rate);
  if (recipe.length > 0) Put(out, "length", recipe.length);
  PutName(out, "align", Name(recipe.align));
  PutName(out, "level", Name(recipe.level));
  if (recipe.frames) PutFrames(out, *recipe.frames);
  if (recipe.mel) PutMel(out, *recipe.mel);
  if (recipe.logarithm) PutLogarithm(out, *recipe.logarithm);
  if (recipe.mfcc) {
    BeginMap(out, "mfcc");
    Put(out, "count", recipe.mfcc->count);
    PutName(out, "norm", Name(recipe.mfcc->norm));
    out << YAML::EndMap;
  }
  if (recipe.frames) PutName(out, "first", Name(recipe.first));
  out << YAML::EndMap;
}

}  // namespace rshift
