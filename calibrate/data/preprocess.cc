#include "calibrate/data/preprocess.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "calibrate/data/audio_preprocess.h"
#include "calibrate/data/yaml_choice.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

int ReadSide(const YamlPart& map, const char* key, const std::string& what) {
  const YamlPart part = Child(map, key, what);
  const int64_t side = ReadInt(part, Cat(what, ".", key));
  if (side < 1 || side > kMaxPreprocessSide) {
    FailAt(part, what, ".", key, " is ", side, ", expected 1 to ", kMaxPreprocessSide, " pixels");
  }
  return static_cast<int>(side);
}

// One number, or a list of one number or one per channel, which `of_what` says more of.
std::vector<float> ReadChannels(const YamlPart& part, const std::string& what, int count,
                                const char* of_what = "channel of 'color'") {
  const auto channels = static_cast<size_t>(count);
  if (part.node.IsScalar()) return {ReadFloat(part, what)};
  if (!part.node.IsSequence())
    FailAt(part, what, " is neither a number nor a list; expected e.g. [104, 117, 123]");
  std::vector<float> values;
  for (const auto& entry : part.node) values.push_back(ReadFloat({entry, part.where}, what));
  if (values.size() != 1 && values.size() != channels) {
    FailAt(part, what, " has ", values.size(), " numbers, expected ",
           channels == 1 ? "1" : Cat("1 or ", channels), ", one per ", of_what);
  }
  return values;
}

// What only a letterbox has.
void ReadBorder(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  for (const char* key : {"fill", "align"}) {
    if (!HasKey(part, key) || input.resize == InputPreprocess::ResizeMode::kLetterbox) continue;
    FailAt(Child(part, key, what), what, ".", key, " needs mode: letterbox, the mode is ",
           Name(input.resize), ", which has no border; leave it out");
  }
  if (HasKey(part, "align"))
    input.align = ReadWord(Child(part, "align", what), what + ".align",
                           {InputPreprocess::Align::kCenter, InputPreprocess::Align::kTopLeft});
  if (!HasKey(part, "fill")) return;
  const YamlPart fill = Child(part, "fill", what);
  input.fill.clear();
  for (const float x : ReadChannels(fill, what + ".fill", Channels(input.color))) {
    if (!(x >= 0 && x <= 255 && x == std::floor(x)))
      FailAt(fill, what, ".fill is ", x, ", expected a pixel: a whole number from 0 to 255");
    input.fill.push_back(static_cast<uint8_t>(x));
  }
}

void ReadResize(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  using Mode = InputPreprocess::ResizeMode;
  CheckKeys(part, what, {"height", "width", "mode", "fill", "align"});
  input.resize_height = ReadSide(part, "height", what);
  input.resize_width = ReadSide(part, "width", what);
  const YamlPart mode = Child(part, "mode", what);
  input.resize =
      ReadWord(mode, what + ".mode", {Mode::kStretch, Mode::kShortSide, Mode::kLetterbox});
  if (input.resize == InputPreprocess::ResizeMode::kShortSide &&
      input.resize_height != input.resize_width) {
    FailAt(mode, what, ": short_side makes the shorter side ", input.resize_height, " or ",
           input.resize_width, " pixels; give height and width the same value");
  }
  ReadBorder(part, what, input);
}

void ReadCrop(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  CheckKeys(part, what, {"height", "width"});
  input.crop_height = ReadSide(part, "height", what);
  input.crop_width = ReadSide(part, "width", what);
}

void ReadPicture(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  using Color = InputPreprocess::Color;
  using Layout = InputPreprocess::PixelLayout;
  CheckKeys(part, what, {"name", "color", "layout", "resize", "crop", "mean", "scale", "std"});
  input.color = ReadWord(Child(part, "color", what), what + ".color",
                         {Color::kRgb, Color::kBgr, Color::kGray});
  if (HasKey(part, "layout"))
    input.layout =
        ReadWord(Child(part, "layout", what), what + ".layout", {Layout::kNchw, Layout::kNhwc});
  if (HasKey(part, "resize")) ReadResize(Child(part, "resize", what), what + ".resize", input);
  if (HasKey(part, "crop")) ReadCrop(Child(part, "crop", what), what + ".crop", input);
}

InputPreprocess ReadInput(const YamlPart& part, size_t index) {
  const std::string what = Cat("inputs[", index, "]");
  InputPreprocess input;
  if (HasKey(part, "name")) {
    const YamlPart name = Child(part, "name", what);
    input.name = ReadString(name, what + ".name");
    if (input.name.empty())
      FailAt(name, what, ".name is empty; give the name of the model's input, or no name at all");
  }
  if (HasKey(part, "audio")) {
    CheckKeys(part, what, {"name", "audio", "mean", "scale", "std"});
    input.audio = ReadAudio(Child(part, "audio", what), what + ".audio");
  } else {
    ReadPicture(part, what, input);
  }
  const auto numbers = [&](const char* key) {
    const YamlPart list = Child(part, key, what);
    const std::string name = Cat(what, ".", key);
    return input.audio ? ReadChannels(list, name, FeatureBins(*input.audio), "feature of a frame")
                       : ReadChannels(list, name, Channels(input.color));
  };
  input.mean = HasKey(part, "mean") ? numbers("mean") : std::vector<float>{0.0f};
  input.scale = HasKey(part, "scale") ? numbers("scale") : std::vector<float>{1.0f};
  if (HasKey(part, "std")) {
    const YamlPart deviation = Child(part, "std", what);
    if (HasKey(part, "scale"))
      FailAt(deviation, what, " has both 'std' and 'scale', which is 1 / std; keep one");
    input.scale = numbers("std");
    for (float& x : input.scale) {
      if (!(x > 0)) FailAt(deviation, what, ".std is ", x, ", expected more than 0");
      x = 1.0f / x;
    }
  }
  if (std::all_of(input.scale.begin(), input.scale.end(), [](float x) { return x == 0; })) {
    FailAt(Child(part, "scale", what), what,
           ".scale is 0, which makes all values the same; expected another number");
  }
  return input;
}

}  // namespace

Preprocess ReadPreprocess(const std::string& text, const std::string& where) {
  const YamlPart root = ParseYaml(text, where);
  CheckKeys(root, "the preprocessing file", {"inputs"});
  const YamlPart list = Child(root, "inputs", "the preprocessing file");
  if (!list.node.IsSequence() || list.node.size() == 0) {
    FailAt(list, "'inputs' is not a list with entries; expected lines '- name: ...'");
  }
  Preprocess preprocess;
  preprocess.text = text;
  std::set<std::string> names;
  for (size_t i = 0; i < list.node.size(); ++i) {
    const YamlPart part{list.node[i], where};
    preprocess.inputs.push_back(ReadInput(part, i));
    const std::string& name = preprocess.inputs.back().name;
    if (name.empty() && list.node.size() > 1)
      FailAt(part, "inputs[", i, "] has no name: only a lone entry may leave it out");
    if (!names.insert(name).second)
      FailAt(part, "input '", name, "' is listed twice; keep one entry");
  }
  return preprocess;
}

}  // namespace rshift
