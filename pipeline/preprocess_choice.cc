#include "pipeline/preprocess_choice.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "calibrate/data/presets.h"
#include "calibrate/infinity_rules.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

using Color = InputPreprocess::Color;
using ImageResize = InputPreprocess::ResizeMode;

template <typename T>
T ReadNumber(const std::string& text, const std::string& flag, const std::string& all,
             const char* expected) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RequireUsage(error == std::errc() && end == text.data() + text.size() && !text.empty(), flag, " ",
               all, ": expected ", expected);
  return number;
}

// "1", "1,2,3" -> numbers.
std::vector<float> ReadList(const std::string& flag, const std::string& text) {
  std::vector<float> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    numbers.push_back(ReadNumber<float>(text.substr(begin, end - begin), flag, text,
                                        "a number, or one per channel: 104,117,123"));
    begin = end + 1;
  }
  return numbers;
}

struct Size {
  int height = 0, width = 0;
  bool one_number = false;
};

// "224", "224x320" or "224,320": height and width.
Size ReadSize(const std::string& flag, const std::string& text) {
  const size_t comma = text.find_first_of("x,");
  const auto side = [&](const std::string& part) {
    const int pixels = ReadNumber<int>(part, flag, text, "pixels: 256 or HEIGHTxWIDTH");
    RequireUsage(pixels >= 1 && pixels <= kMaxPreprocessSide, flag, " ", text, ": expected 1 to ",
                 kMaxPreprocessSide, " pixels");
    return pixels;
  };
  if (comma == std::string::npos) return {side(text), side(text), true};
  return {side(text.substr(0, comma)), side(text.substr(comma + 1)), false};
}

// What stands behind "letterbox": "", "114", "114:top-left", "top-left" ...
void SetBorder(const std::string& all, std::string text, InputPreprocess& input) {
  constexpr const char* kExpected = "pixels from 0 to 255, one or one per channel: 114 or 0,0,255";
  input.fill = InputPreprocess().fill;
  input.align = InputPreprocess().align;
  const auto ends_with = [&](InputPreprocess::Align align) {
    const std::string name = Name(align);
    if (text != name && !text.ends_with(":" + name)) return false;
    text.resize(text.size() - std::min(text.size(), name.size() + 1));
    input.align = align;
    return true;
  };
  if (!ends_with(InputPreprocess::Align::kTopLeft)) ends_with(InputPreprocess::Align::kCenter);
  if (text.empty()) return;
  input.fill.clear();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    input.fill.push_back(
        ReadNumber<uint8_t>(text.substr(begin, end - begin), "--resize", all, kExpected));
    begin = end + 1;
  }
}

void SetResize(const std::string& text, InputPreprocess& input) {
  const size_t colon = text.find(':');
  const Size size = ReadSize("--resize", text.substr(0, colon));
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  const size_t end = std::min(rest.find(':'), rest.size());
  const std::string mode = rest.substr(0, end);
  const std::string border = end == rest.size() ? "" : rest.substr(end + 1);
  const bool whole = end == rest.size();  // nothing behind the mode
  RequireUsage(
      mode == "letterbox" ? whole || !border.empty() : whole && (mode.empty() || mode == "stretch"),
      "--resize ", text,
      ": expected SHORT_SIDE, HxW, HxW:letterbox or HxW:letterbox:FILL:top-left");
  SetBorder(text, border, input);
  input.resize = mode == "letterbox"                     ? ImageResize::kLetterbox
                 : mode == "stretch" || !size.one_number ? ImageResize::kStretch
                                                         : ImageResize::kShortSide;
  input.resize_height = size.height;
  input.resize_width = size.width;
}

void SetColor(const std::string& text, bool keeps_numbers, InputPreprocess& input) {
  std::string name = text;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  RequireUsage(name == "rgb" || name == "bgr" || name == "gray", "--color ", text,
               ": expected rgb, bgr or gray");
  const Color color = name == "rgb" ? Color::kRgb : name == "bgr" ? Color::kBgr : Color::kGray;
  if (color == input.color) return;
  // The numbers of a preset or a file stay with their colour.
  const bool turns = color != Color::kGray && input.color != Color::kGray && keeps_numbers;
  for (std::vector<float>* numbers : {&input.mean, &input.scale}) {
    if (turns) std::reverse(numbers->begin(), numbers->end());
    // One number is that of every channel, however many there are.
    const bool same = std::adjacent_find(numbers->begin(), numbers->end(), std::not_equal_to<>()) ==
                      numbers->end();
    if (same && !numbers->empty()) numbers->resize(1);
    RequireUsage(color != Color::kGray || !keeps_numbers || numbers->size() == 1, "--color gray: ",
                 "the mean and scale that it changes are of three channels; give --mean and "
                 "--scale of one");
  }
  std::reverse(input.fill.begin(), input.fill.end());
  input.color = color;
}

std::vector<InputPreprocess> OfPreset(const std::string& name,
                                      const std::vector<InputSpec>& inputs) {
  std::vector<InputSpec> images;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(images), TakesImages);
  RSHIFT_REQUIRE(!inputs.empty(), ErrorCode::kInvalidInput, "the model has no inputs");
  RSHIFT_REQUIRE(images.size() <= 1, ErrorCode::kInvalidInput, "preset ", name, ": the model has ",
                 images.size(), " inputs for images ('", images[0].name, "', '", images[1].name,
                 "', ...); write a preprocessing file with an entry for each");
  return {MakePreset(name, images.empty() ? inputs[0] : images[0])};
}

}  // namespace

std::vector<InputSpec> InputSpecs(const Graph& graph) {
  const std::vector<InfinityRule> rules = InfinityRules(graph);
  std::vector<InputSpec> specs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    specs.push_back({value.name, value.shape, {}, rules[id.index()].negative});
  }
  return specs;
}

bool PreparesSamples(const std::function<std::unique_ptr<Dataset>(const Preprocess&)>& open,
                     const Preprocess& preprocess) {
  Preprocess other = preprocess;
  for (InputPreprocess& input : other.inputs)
    for (float& mean : input.mean) mean += 1;
  const std::unique_ptr<Dataset> samples = open(preprocess), others = open(other);
  if (samples->size() == 0) return true;
  // Arrays and pictures may be mixed; reading all of them would take as long as a run.
  const int64_t last = samples->size() - 1;
  for (const int64_t i : {int64_t{0}, last / 2, last}) {
    if (samples->Read(i).inputs != others->Read(i).inputs) return true;
  }
  return false;
}

bool PreprocessChoice::given() const {
  return !source.empty() || !mean.empty() || !scale.empty() || !color.empty() || !resize.empty() ||
         !crop.empty();
}

std::string PreprocessChoice::file() const { return IsPreset(source) ? "" : source; }

std::optional<Preprocess> PreprocessChoice::Resolve(
    const std::vector<InputSpec>& inputs, const std::optional<Preprocess>& recorded) const {
  if (!given()) return recorded;
  const bool has_flags =
      !mean.empty() || !scale.empty() || !color.empty() || !resize.empty() || !crop.empty();
  Preprocess result;
  if (source.empty() && recorded) {
    result = *recorded;
  } else if (source.empty() || IsPreset(source)) {
    result.inputs = OfPreset(source.empty() ? "raw" : source, inputs);
    result.text = WritePreprocess(result.inputs);
  } else {
    std::error_code ignored;
    RSHIFT_REQUIRE(std::filesystem::exists(source, ignored), ErrorCode::kInvalidInput,
                   "--preprocess ", source, ": no such file, and no preset: ", PresetNames());
    result = ReadPreprocess(ReadSmallText(source), source);
  }
  if (inputs.size() == 1 && result.inputs.size() == 1 && result.inputs[0].name.empty()) {
    result.inputs[0].name = inputs[0].name;  // what is recorded has names
    result.text = WritePreprocess(result.inputs);
  }
  if (!has_flags) return result;
  RequireUsage(result.inputs.size() == 1,
               "--mean, --scale, --color, --resize and --crop change one entry, the preprocessing "
               "has ",
               result.inputs.size(), "; edit its file");
  InputPreprocess& input = result.inputs[0];
  RequireUsage(!input.audio || (color.empty() && resize.empty() && crop.empty()),
               "--color, --resize and --crop are for images, input '", input.name,
               "' takes sounds; leave them out");
  if (!color.empty()) SetColor(color, mean.empty() && scale.empty(), input);
  if (!mean.empty()) input.mean = ReadList("--mean", mean);
  if (!scale.empty()) input.scale = ReadList("--scale", scale);
  if (!resize.empty()) SetResize(resize, input);
  if (!crop.empty()) {
    const Size size = ReadSize("--crop", crop);
    input.crop_height = size.height;
    input.crop_width = size.width;
  }
  // Read back: whatever does not fit together is found as it is in a file.
  return ReadPreprocess(WritePreprocess(result.inputs), "preprocessing by flags");
}

std::string PreprocessChoice::Note(const std::vector<InputSpec>& inputs) const {
  if (!IsPreset(source) || !resize.empty() || !crop.empty()) return "";
  const auto image = std::find_if(inputs.begin(), inputs.end(), TakesImages);
  return image == inputs.end() ? "" : PresetNote(source, *image);
}

}  // namespace rshift
