#include "pipeline/sample_pictures.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "calibrate/input_picture.h"

namespace rshift {
namespace {

constexpr int kSide = 96;

std::string Base64(const std::vector<uint8_t>& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = std::min<size_t>(3, bytes.size() - i);
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (k < left ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

struct PictureInput {
  size_t index = 0;
  InputPreprocess recipe;
};

// The first input that holds a picture.
std::optional<PictureInput> FindPictureInput(const std::vector<InputSpec>& inputs,
                                             const std::optional<Preprocess>& preprocess) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputPreprocess* recipe = nullptr;
    for (size_t k = 0; preprocess && k < preprocess->inputs.size(); ++k) {
      const InputPreprocess& one = preprocess->inputs[k];
      if (one.name == inputs[i].name || one.name.empty()) recipe = &one;
    }
    if (const auto found = PictureRecipe(inputs[i].shape, recipe)) return PictureInput{i, *found};
  }
  return std::nullopt;
}

}  // namespace

SamplePictures DrawSamples(const RecordedSamples& recorded, const std::vector<InputSpec>& inputs,
                           const NoteFunction& note) {
  std::optional<Preprocess> preprocess;
  if (!recorded.preprocess.empty())
    preprocess = ReadPreprocess(recorded.preprocess, recorded.where);
  const std::optional<PictureInput> input = FindPictureInput(inputs, preprocess);
  SamplePictures pictures;
  if (!input) {
    pictures.why_none = "no input of the model holds one picture";
    return pictures;
  }
  RecordedSamples first = recorded;
  if (first.samples.size() > kMaxPictures) {
    first.samples.resize(kMaxPictures);
    pictures.why_none = Cat("only the first ", kMaxPictures, " are drawn");
  }
  const std::string error =
      VisitRecorded(first, inputs, note, [&](size_t place, const Sample& sample) {
        const std::vector<uint8_t> bytes = Thumbnail(
            sample.inputs[input->index], inputs[input->index].shape, input->recipe, kSide);
        pictures.images[first.samples[place]] = "data:image/jpeg;base64," + Base64(bytes);
        return true;
      });
  if (!error.empty()) pictures.why_none = error;
  return pictures;
}

}  // namespace rshift
