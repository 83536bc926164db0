#include "calibrate/data/preprocess.h"

#include <cmath>
#include <set>

#include "base/error.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

template <typename T>
struct Choice {
  const char* name;
  T value;
};

template <typename T, size_t kCount>
T ReadChoice(const YamlPart& part, const std::string& what, const Choice<T> (&choices)[kCount]) {
  const std::string text = ReadString(part, what);
  std::string all;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    all += Cat(all.empty() ? "" : " | ", name);
  }
  FailAt(part, what, " is '", text, "', expected ", all);
}

int ReadSide(const YamlPart& map, const char* key, const std::string& what) {
  const YamlPart part = Child(map, key, what);
  const int64_t side = ReadInt(part, Cat(what, ".", key));
  if (side < 1 || side > kMaxPreprocessSide) {
    FailAt(part, what, ".", key, " is ", side, ", expected 1 to ", kMaxPreprocessSide, " pixels");
  }
  return static_cast<int>(side);
}

// One number, or a list of one number or one per channel.
std::vector<float> ReadChannels(const YamlPart& part, const std::string& what,
                                InputPreprocess::Color color) {
  const auto channels = static_cast<size_t>(Channels(color));
  if (part.node.IsScalar()) return {ReadFloat(part, what)};
  if (!part.node.IsSequence())
    FailAt(part, what, " is neither a number nor a list; expected e.g. [104, 117, 123]");
  std::vector<float> values;
  for (const auto& entry : part.node) values.push_back(ReadFloat({entry, part.where}, what));
  if (values.size() != 1 && values.size() != channels) {
    FailAt(part, what, " has ", values.size(), " numbers, expected 1 or ", channels,
           ", one per channel of 'color'");
  }
  return values;
}

// What only a letterbox has.
void ReadBorder(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  static constexpr Choice<InputPreprocess::Align> kAligns[] = {
      {Name(InputPreprocess::Align::kCenter), InputPreprocess::Align::kCenter},
      {Name(InputPreprocess::Align::kTopLeft), InputPreprocess::Align::kTopLeft}};
  for (const char* key : {"fill", "align"}) {
    if (!HasKey(part, key) || input.resize == InputPreprocess::ResizeMode::kLetterbox) continue;
    FailAt(Child(part, key, what), what, ".", key, " needs mode: letterbox, the mode is ",
           Name(input.resize), ", which has no border; leave it out");
  }
  if (HasKey(part, "align"))
    input.align = ReadChoice(Child(part, "align", what), what + ".align", kAligns);
  if (!HasKey(part, "fill")) return;
  const YamlPart fill = Child(part, "fill", what);
  input.fill.clear();
  for (const float x : ReadChannels(fill, what + ".fill", input.color)) {
    if (!(x >= 0 && x <= 255 && x == std::floor(x)))
      FailAt(fill, what, ".fill is ", x, ", expected a pixel: a whole number from 0 to 255");
    input.fill.push_back(static_cast<uint8_t>(x));
  }
}

void ReadResize(const YamlPart& part, const std::string& what, InputPreprocess& input) {
  static constexpr Choice<InputPreprocess::ResizeMode> kModes[] = {
      {Name(InputPreprocess::ResizeMode::kStretch), InputPreprocess::ResizeMode::kStretch},
      {Name(InputPreprocess::ResizeMode::kShortSide), InputPreprocess::ResizeMode::kShortSide},
      {Name(InputPreprocess::ResizeMode::kLetterbox), InputPreprocess::ResizeMode::kLetterbox}};
  CheckKeys(part, what, {"height", "width", "mode", "fill", "align"});
  input.resize_height = ReadSide(part, "height", what);
  input.resize_width = ReadSide(part, "width", what);
  const YamlPart mode = Child(part, "mode", what);
  input.resize = ReadChoice(mode, what + ".mode", kModes);
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

InputPreprocess ReadInput(const YamlPart& part, size_t index) {
  static constexpr Choice<InputPreprocess::Color> kColors[] = {
      {Name(InputPreprocess::Color::kRgb), InputPreprocess::Color::kRgb},
      {Name(InputPreprocess::Color::kBgr), InputPreprocess::Color::kBgr},
      {Name(InputPreprocess::Color::kGray), InputPreprocess::Color::kGray}};
  static constexpr Choice<InputPreprocess::PixelLayout> kLayouts[] = {
      {Name(InputPreprocess::PixelLayout::kNchw), InputPreprocess::PixelLayout::kNchw},
      {Name(InputPreprocess::PixelLayout::kNhwc), InputPreprocess::PixelLayout::kNhwc}};
  const std::string what = Cat("inputs[", index, "]");
  CheckKeys(part, what, {"name", "color", "layout", "resize", "crop", "mean", "scale", "std"});
  InputPreprocess input;
  if (HasKey(part, "name")) {
    const YamlPart name = Child(part, "name", what);
    input.name = ReadString(name, what + ".name");
    if (input.name.empty())
      FailAt(name, what, ".name is empty; give the name of the model's input, or no name at all");
  }
  input.color = ReadChoice(Child(part, "color", what), what + ".color", kColors);
  if (HasKey(part, "layout"))
    input.layout = ReadChoice(Child(part, "layout", what), what + ".layout", kLayouts);
  if (HasKey(part, "resize")) ReadResize(Child(part, "resize", what), what + ".resize", input);
  if (HasKey(part, "crop")) ReadCrop(Child(part, "crop", what), what + ".crop", input);
  input.mean = HasKey(part, "mean")
                   ? ReadChannels(Child(part, "mean", what), what + ".mean", input.color)
                   : std::vector<float>{0.0f};
  input.scale = HasKey(part, "scale")
                    ? ReadChannels(Child(part, "scale", what), what + ".scale", input.color)
                    : std::vector<float>{1.0f};
  if (HasKey(part, "std")) {
    const YamlPart deviation = Child(part, "std", what);
    if (HasKey(part, "scale"))
      FailAt(deviation, what, " has both 'std' and 'scale', which is 1 / std; keep one");
    input.scale = ReadChannels(deviation, what + ".std", input.color);
    for (float& x : input.scale) {
      if (!(x > 0)) FailAt(deviation, what, ".std is ", x, ", expected more than 0");
      x = 1.0f / x;
    }
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
