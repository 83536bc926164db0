// How the samples of a sound become an input: value = (feature - mean) * scale, where the features
// are the samples themselves, or spectra of frames, through mel filters, a logarithm and a cosine
// transform (MFCC) as far as the recipe has them.
#ifndef RSHIFT_PREPROCESS_AUDIO_RECIPE_H_
#define RSHIFT_PREPROCESS_AUDIO_RECIPE_H_

#include <cstdint>
#include <optional>

namespace rshift {

inline constexpr int kMaxSampleRate = 768000;     // Hz
inline constexpr int kMaxSoundSamples = 1 << 28;  // of a sound's fixed length
inline constexpr int kMaxFftLength = 1 << 16;
inline constexpr int kMaxMelBins = 4096;

struct AudioFrames {
  int window = 0, hop = 0, fft = 0;  // samples; the window's frame is filled with zeros up to fft
  enum class Shape { kHann, kHamming, kRectangle } shape = Shape::kHann;
  bool symmetric = false;  // the window's last value is its first; else it is periodic
  // Frames begin every `hop` samples as long as all of the window (TensorFlow, Kaldi) or all of fft
  // samples (PyTorch, librosa: the window lies in their middle) are there.
  enum class Of { kWindow, kFft } of = Of::kWindow;
  // What stands before and behind the sound, half of fft samples each.
  enum class Border { kNone, kZero, kReflect } border = Border::kNone;
  int power = 2;  // of the magnitudes: 1 or 2
};

struct MelFilters {
  int bins = 0;
  double low = 0, high = 0;  // Hz
  enum class Scale { kHtk, kSlaney } scale = Scale::kHtk;
  // Over which axis the sides of the triangles are straight.
  enum class Sides { kHertz, kMel } sides = Sides::kHertz;
  enum class Norm { kNone, kSlaney } norm = Norm::kNone;  // slaney: of area 1
};

struct AudioLogarithm {
  enum class Unit { kLn, kLog10, kDecibel } unit = Unit::kLn;  // dB: 20 / power * log10
  double floor = 0;                  // of what the logarithm is taken of, more than 0
  bool adds = false;                 // log(x + floor) instead of log(max(x, floor))
  std::optional<double> below_peak;  // no value is more than this below the sound's largest one
};

struct CosineTransform {
  int count = 0;                                             // coefficients, the first ones
  enum class Norm { kOrtho, kUniform } norm = Norm::kOrtho;  // uniform: also of coefficient 0
};

struct AudioRecipe {
  int sample_rate = 0;
  int length = 0;  // samples: longer sounds are cut, shorter ones get zeros; 0: as they are
  enum class Align { kStart, kCenter } align = Align::kStart;  // which part is kept and where it is
  enum class Level { kAsIs, kMax, kPeak } level = Level::kAsIs;  // 1: the largest sample, magnitude
  std::optional<AudioFrames> frames;
  std::optional<MelFilters> mel;
  std::optional<AudioLogarithm> logarithm;
  std::optional<CosineTransform> mfcc;
  enum class First { kFrames, kBins } first = First::kFrames;  // dimension of the input
};

// How many features a frame has; of the samples themselves: 1.
constexpr int FeatureBins(const AudioRecipe& recipe) {
  if (recipe.mfcc) return recipe.mfcc->count;
  if (recipe.mel) return recipe.mel->bins;
  return recipe.frames ? recipe.frames->fft / 2 + 1 : 1;
}

// As preprocessing files call them.
const char* Name(AudioFrames::Shape shape);
const char* Name(AudioFrames::Of of);
const char* Name(AudioFrames::Border border);
const char* Name(MelFilters::Scale scale);
const char* Name(MelFilters::Sides sides);
const char* Name(MelFilters::Norm norm);
const char* Name(AudioLogarithm::Unit unit);
const char* Name(CosineTransform::Norm norm);
const char* Name(AudioRecipe::Align align);
const char* Name(AudioRecipe::Level level);
const char* Name(AudioRecipe::First first);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_AUDIO_RECIPE_H_
