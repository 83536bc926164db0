#include "calibrate/data/presets.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/number_text.h"
#include "calibrate/data/audio_preprocess.h"

namespace rshift {
namespace {

using Color = InputPreprocess::Color;
using PixelLayout = InputPreprocess::PixelLayout;
using ImageResize = InputPreprocess::ResizeMode;

struct Preset {
  const char* name;
  Color color;
  std::array<float, 3> mean, std;  // of pixels from 0 to 255, in the order of `color`
  bool crops;  // the middle 224/256 of the shorter side; else the whole picture, stretched
};

// torch: torchvision's mean and standard deviation times 255. tf: Inception, MobileNet and
// EfficientNet as TensorFlow has them. caffe: the mean pixel of VGG and ResNet. raw: the
// pixels as they are.
constexpr Preset kPresets[] = {
    {"torch-imagenet", Color::kRgb, {123.675f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f}, true},
    {"tf-imagenet", Color::kRgb, {127.5f, 127.5f, 127.5f}, {127.5f, 127.5f, 127.5f}, true},
    {"caffe-imagenet", Color::kBgr, {103.939f, 116.779f, 123.68f}, {1, 1, 1}, true},
    {"raw", Color::kRgb, {0, 0, 0}, {1, 1, 1}, false}};

const Preset* FindPreset(const std::string& name) {
  const auto* at = std::find_if(std::begin(kPresets), std::end(kPresets),
                                [&](const Preset& preset) { return name == preset.name; });
  return at == std::end(kPresets) ? nullptr : at;
}

bool IsChannels(int64_t dim) { return dim == 1 || dim == 3; }

PixelLayout LayoutOf(const Shape& shape) {
  return IsChannels(shape[1]) ? PixelLayout::kNchw : PixelLayout::kNhwc;
}

struct Size {
  int64_t height = 0, width = 0;
};

Size SizeOf(const InputSpec& input) {
  const size_t row = LayoutOf(input.shape) == PixelLayout::kNchw ? 2 : 1;
  return {input.shape[row], input.shape[row + 1]};
}

template <typename Number>
void PutNumbers(YAML::Emitter& out, const char* key, const std::vector<Number>& numbers) {
  out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const Number x : numbers) out << ShortestText(x);
  out << YAML::EndSeq;
}

void PutSize(YAML::Emitter& out, int height, int width) {
  out << YAML::Key << "height" << YAML::Value << height;
  out << YAML::Key << "width" << YAML::Value << width;
}

void PutResize(YAML::Emitter& out, const InputPreprocess& input) {
  out << YAML::Key << "resize" << YAML::Value << YAML::Flow << YAML::BeginMap;
  PutSize(out, input.resize_height, input.resize_width);
  out << YAML::Key << "mode" << YAML::Value << Name(input.resize);
  const InputPreprocess usual;
  if (input.fill != usual.fill) PutNumbers(out, "fill", input.fill);
  if (input.align != usual.align) out << YAML::Key << "align" << YAML::Value << Name(input.align);
  out << YAML::EndMap;
}

void PutPicture(YAML::Emitter& out, const InputPreprocess& input) {
  out << YAML::Key << "color" << YAML::Value << Name(input.color);
  out << YAML::Key << "layout" << YAML::Value << Name(input.layout);
  if (input.resize != ImageResize::kNone) PutResize(out, input);
  if (input.crop_height > 0) {
    out << YAML::Key << "crop" << YAML::Value << YAML::Flow << YAML::BeginMap;
    PutSize(out, input.crop_height, input.crop_width);
    out << YAML::EndMap;
  }
}

void PutInput(YAML::Emitter& out, const InputPreprocess& input) {
  out << YAML::BeginMap;
  if (!input.name.empty()) {
    out << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted << input.name;
  }
  if (input.audio) {
    out << YAML::Key << "audio" << YAML::Value;
    PutAudio(out, *input.audio);
  } else {
    PutPicture(out, input);
  }
  PutNumbers(out, "mean", input.mean);
  PutNumbers(out, "scale", input.scale);
  out << YAML::EndMap;
}

}  // namespace

bool IsPreset(const std::string& name) { return FindPreset(name) != nullptr; }

std::string PresetNames() {
  std::string names;
  for (const Preset& preset : kPresets) names += Cat(names.empty() ? "" : " | ", preset.name);
  return names;
}

bool TakesImages(const InputSpec& input) {
  const Shape& shape = input.shape;
  return shape.size() == 4 && shape[0] >= 1 && (IsChannels(shape[1]) || IsChannels(shape[3]));
}

InputPreprocess MakePreset(const std::string& name, const InputSpec& input) {
  const Preset* preset = FindPreset(name);
  RSHIFT_REQUIRE(preset != nullptr, ErrorCode::kInvalidInput, "preprocessing '", name,
                 "' is no preset, expected ", PresetNames());
  RSHIFT_REQUIRE(TakesImages(input), ErrorCode::kInvalidInput, "preset ", name, ": input '",
                 input.name, "' has the shape ", ToString(input.shape),
                 ", images need 1xCxHxW or 1xHxWxC with 1 or 3 channels");
  InputPreprocess made;
  made.name = input.name;
  made.layout = LayoutOf(input.shape);
  const bool nchw = made.layout == PixelLayout::kNchw;
  const bool gray = input.shape[nchw ? 1 : 3] == 1;
  const bool one_for_all = preset->mean[0] == preset->mean[1] && preset->mean[1] == preset->mean[2];
  RSHIFT_REQUIRE(
      !gray || one_for_all, ErrorCode::kInvalidInput, "preset ", name, ": input '", input.name,
      "' (", ToString(input.shape),
      ") takes one channel, the preset has numbers for three; write a preprocessing file");
  made.color = gray ? Color::kGray : preset->color;
  made.mean = {preset->mean.begin(), gray ? preset->mean.begin() + 1 : preset->mean.end()};
  made.scale.clear();
  for (size_t c = 0; c < made.mean.size(); ++c) made.scale.push_back(1.0f / preset->std[c]);
  const Size size = SizeOf(input);
  RSHIFT_REQUIRE(std::max(size.height, size.width) <= kMaxPreprocessSide, ErrorCode::kInvalidInput,
                 "preset ", name, ": input '", input.name, "' is ", size.height, " x ", size.width,
                 " pixels, expected at most ", kMaxPreprocessSide, " a side");
  const int height = static_cast<int>(size.height), width = static_cast<int>(size.width);
  if (preset->crops && height == width) {
    const int side = static_cast<int>(std::lround(height * 256.0 / 224.0));
    made.resize = ImageResize::kShortSide;
    made.resize_height = made.resize_width = std::min(side, kMaxPreprocessSide);
    made.crop_height = height;
    made.crop_width = width;
  } else {
    made.resize = ImageResize::kStretch;
    made.resize_height = height;
    made.resize_width = width;
  }
  return made;
}

std::string PresetNote(const std::string& name, const InputSpec& input) {
  constexpr int kSmall = 64;
  const Preset* preset = FindPreset(name);
  if (preset == nullptr || !preset->crops || !TakesImages(input)) return "";
  const Size size = SizeOf(input);
  const int64_t height = size.height, width = size.width;
  const std::string what =
      Cat("preset ", name, ": input '", input.name, "' is ", height, " x ", width, " pixels");
  if (height != width) {
    return Cat(what, ", not square: pictures are stretched to it and not cropped; --resize ",
               height, "x", width, ":letterbox keeps their proportions");
  }
  if (height >= kSmall) return "";
  return Cat(what,
             ": the middle of each picture is taken, as for 224 x 224; networks for so small ",
             "ones mostly take all of it: --resize ", height, "x", width);
}

std::string WritePreprocess(const std::vector<InputPreprocess>& inputs) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "inputs" << YAML::Value << YAML::BeginSeq;
  for (const InputPreprocess& input : inputs) PutInput(out, input);
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace rshift
