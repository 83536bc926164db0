#include "preprocess/apply_audio.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"
#include "preprocess/mel.h"
#include "preprocess/spectrum.h"

namespace rshift {
namespace {

using Samples = std::vector<double>;

// Features of a sound, those of a frame behind one another.
struct Features {
  size_t bins = 1;
  std::vector<double> values;
};

void SetLevel(AudioRecipe::Level level, const std::string& where, Samples& samples) {
  if (level == AudioRecipe::Level::kAsIs) return;
  double largest = 0;
  for (const double x : samples)
    largest = std::max(largest, level == AudioRecipe::Level::kPeak ? std::fabs(x) : x);
  RSHIFT_REQUIRE(largest > 0, ErrorCode::kInvalidInput, where,
                 ": is silent, and 'level: ", Name(level),
                 "' divides by its largest sample; leave the file out");
  for (double& x : samples) x /= largest;
}

void SetLength(const AudioRecipe& recipe, Samples& samples) {
  const auto length = static_cast<size_t>(recipe.length);
  if (length == 0) return;
  const bool center = recipe.align == AudioRecipe::Align::kCenter;
  if (samples.size() > length) {
    const auto begin =
        samples.begin() + (center ? static_cast<ptrdiff_t>((samples.size() - length) / 2) : 0);
    samples = Samples(begin, begin + static_cast<ptrdiff_t>(length));
  } else {
    samples.insert(samples.begin(), center ? (length - samples.size()) / 2 : 0, 0.0);
    samples.resize(length, 0.0);
  }
}

void AddBorder(const AudioFrames& frames, const std::string& where, Samples& samples) {
  if (frames.border == AudioFrames::Border::kNone) return;
  const auto half = static_cast<size_t>(frames.fft / 2);
  const size_t size = samples.size();
  Samples wide(half + size + half, 0.0);
  std::copy(samples.begin(), samples.end(), wide.begin() + static_cast<ptrdiff_t>(half));
  if (frames.border == AudioFrames::Border::kReflect) {
    RSHIFT_REQUIRE(size > half, ErrorCode::kInvalidInput, where, ": has ", size,
                   " samples, 'border: reflect' needs more than ", half,
                   ", half of 'fft'; set 'length'");
    for (size_t i = 1; i <= half; ++i) {
      wide[half - i] = samples[i];
      wide[half + size - 1 + i] = samples[size - 1 - i];
    }
  }
  samples = std::move(wide);
}

Samples MakeWindow(const AudioFrames& frames) {
  Samples window;
  const int around = frames.symmetric ? std::max(frames.window - 1, 1) : frames.window;
  for (int i = 0; i < frames.window; ++i) {
    const double cosine = portable::Cos(2 * std::numbers::pi * i / around);
    switch (frames.shape) {
      case AudioFrames::Shape::kHann:
        window.push_back(0.5 - 0.5 * cosine);
        break;
      case AudioFrames::Shape::kHamming:
        window.push_back(0.54 - 0.46 * cosine);
        break;
      case AudioFrames::Shape::kRectangle:
        window.push_back(1);
        break;
    }
  }
  return window;
}

// The spectra of all frames: Re^2 + Im^2, or its square root.
Features Spectra(const AudioFrames& frames, const std::string& where, Samples samples) {
  AddBorder(frames, where, samples);
  const Samples window = MakeWindow(frames);
  const auto fft = static_cast<size_t>(frames.fft), hop = static_cast<size_t>(frames.hop);
  const size_t span = frames.of == AudioFrames::Of::kFft ? fft : window.size();
  const size_t offset = (span - window.size()) / 2;
  RSHIFT_REQUIRE(samples.size() >= span, ErrorCode::kInvalidInput, where, ": has ", samples.size(),
                 " samples, a frame takes ", span, "; set 'length', which fills up with zeros");
  Spectrum spectrum(fft);
  Features features{fft / 2 + 1, {}};
  Samples frame(fft, 0.0);
  for (size_t begin = 0; begin + span <= samples.size(); begin += hop) {
    for (size_t i = 0; i < window.size(); ++i) frame[i] = window[i] * samples[begin + offset + i];
    Samples powers = spectrum.Powers(frame);
    if (frames.power == 1)
      for (double& x : powers) x = std::sqrt(x);
    features.values.insert(features.values.end(), powers.begin(), powers.end());
  }
  return features;
}

Features MelOfSpectra(const AudioRecipe& recipe, const Features& spectra) {
  const std::vector<MelFilter> filters =
      MakeMelFilters(*recipe.mel, recipe.sample_rate, recipe.frames->fft);
  Features mel{filters.size(), {}};
  for (size_t at = 0; at < spectra.values.size(); at += spectra.bins) {
    for (const MelFilter& filter : filters)
      mel.values.push_back(Through(filter, std::span(spectra.values).subspan(at, spectra.bins)));
  }
  return mel;
}

void TakeLogarithm(const AudioLogarithm& logarithm, int power, std::vector<double>& values) {
  for (double& x : values) {
    x = logarithm.adds ? x + logarithm.floor : std::max(x, logarithm.floor);
    switch (logarithm.unit) {
      case AudioLogarithm::Unit::kLn:
        x = portable::Log(x);
        break;
      case AudioLogarithm::Unit::kLog10:
        x = portable::Log10(x);
        break;
      case AudioLogarithm::Unit::kDecibel:
        x = portable::Log10(x) * (20.0 / power);
        break;
    }
  }
  if (!logarithm.below_peak || values.empty()) return;
  const double least = *std::max_element(values.begin(), values.end()) - *logarithm.below_peak;
  for (double& x : values) x = std::max(x, least);
}

Features CosinesOf(const CosineTransform& recipe, const Features& mel) {
  const std::vector<double> cosines = MakeCosines(recipe, static_cast<int>(mel.bins));
  Features features{static_cast<size_t>(recipe.count), {}};
  for (size_t at = 0; at < mel.values.size(); at += mel.bins) {
    for (size_t k = 0; k < features.bins; ++k) {
      double sum = 0;
      for (size_t b = 0; b < mel.bins; ++b) sum += cosines[k * mel.bins + b] * mel.values[at + b];
      features.values.push_back(sum);
    }
  }
  return features;
}

Features FeaturesOf(const AudioRecipe& recipe, const std::string& where, Samples samples) {
  if (!recipe.frames) return {1, std::move(samples)};
  Features features = Spectra(*recipe.frames, where, std::move(samples));
  if (recipe.mel) features = MelOfSpectra(recipe, features);
  if (recipe.logarithm) TakeLogarithm(*recipe.logarithm, recipe.frames->power, features.values);
  if (recipe.mfcc) features = CosinesOf(*recipe.mfcc, features);
  return features;
}

void RequireShape(const InputPreprocess& recipe, const Features& features, const Shape& shape,
                  const std::string& where) {
  const auto bins = static_cast<int64_t>(features.bins);
  const int64_t frames = static_cast<int64_t>(features.values.size()) / bins;
  Shape have{frames, bins}, want;
  if (recipe.audio->first == AudioRecipe::First::kBins) std::swap(have[0], have[1]);
  const std::string made = recipe.audio->frames ? Cat(frames, " frames of ", bins, " features")
                                                : Cat(frames, " samples");
  std::erase(have, 1);
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(want),
               [](int64_t d) { return d != 1; });
  const bool flat = want == Shape{frames * bins};
  RSHIFT_REQUIRE(want == have || flat, ErrorCode::kInvalidInput, where, ": gives ", made,
                 recipe.audio->frames ? Cat(", ", Name(recipe.audio->first), " first") : "",
                 "; input '", recipe.name, "' takes ", ToString(shape),
                 "; correct 'length', 'frames' or 'first' in the preprocessing");
}

}  // namespace

std::vector<float> ApplyAudio(const InputPreprocess& recipe, Sound sound, const Shape& shape,
                              const std::string& where) {
  const AudioRecipe& audio = *recipe.audio;
  RSHIFT_REQUIRE(sound.sample_rate == audio.sample_rate, ErrorCode::kInvalidInput, where, ": has ",
                 sound.sample_rate, " samples a second, the preprocessing of input '", recipe.name,
                 "' takes ", audio.sample_rate, "; resample it: sox IN.wav -r ", audio.sample_rate,
                 " OUT.wav");
  RSHIFT_REQUIRE(!sound.samples.empty(), ErrorCode::kInvalidInput, where,
                 ": holds no samples; leave the file out");
  SetLevel(audio.level, where, sound.samples);
  SetLength(audio, sound.samples);
  const Features features = FeaturesOf(audio, where, std::move(sound.samples));
  RequireShape(recipe, features, shape, where);
  const size_t bins = features.bins, frames = features.values.size() / bins;
  const bool bins_first = audio.first == AudioRecipe::First::kBins;
  std::vector<float> values(features.values.size());
  for (size_t f = 0; f < frames; ++f) {
    for (size_t b = 0; b < bins; ++b) {
      const float mean = recipe.mean[recipe.mean.size() == 1 ? 0 : b];
      const float scale = recipe.scale[recipe.scale.size() == 1 ? 0 : b];
      values[bins_first ? b * frames + f : f * bins + b] =
          (static_cast<float>(features.values[f * bins + b]) - mean) * scale;
    }
  }
  return values;
}

}  // namespace rshift
