#include "preprocess/recorded.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"

namespace rshift {
namespace {

using Color = InputPreprocess::Color;
using PixelLayout = InputPreprocess::PixelLayout;
using RecordedResize = InputPreprocess::ResizeMode;
using Align = InputPreprocess::Align;

template <typename Number>
std::string Listed(const std::vector<Number>& numbers) {
  std::string list;
  for (const Number number : numbers) list += (list.empty() ? "" : ",") + ShortestText(number);
  return list;
}

std::string WriteLine(size_t input, const InputPreprocess& p) {
  std::string line = Cat(input, " color=", Name(p.color), " layout=", Name(p.layout));
  if (p.resize != RecordedResize::kNone)
    line += Cat(" resize=", Name(p.resize), ":", p.resize_height, "x", p.resize_width);
  if (p.resize == RecordedResize::kLetterbox)
    line += Cat(" fill=", Listed(p.fill), " align=", Name(p.align));
  if (p.crop_height > 0) line += Cat(" crop=", p.crop_height, "x", p.crop_width);
  return line + " mean=" + Listed(p.mean) + " scale=" + Listed(p.scale);
}

// The words of a line, from left to right.
class RecordedLine {
 public:
  RecordedLine(std::string_view line, const std::string& where) : left_(line), where_(where) {}

  [[noreturn]] void Refuse() const {
    Fail(ErrorCode::kCorrupt, where_, ": metadata '", kRecordedKey, "' is damaged at '", left_,
         "'; deploy the model again");
  }
  void Require(bool ok) const {
    if (!ok) Refuse();
  }
  bool Skip(std::string_view text) {
    if (!left_.starts_with(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  template <typename T>
  T Number(T low, T high) {
    T number{};
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    Require(error == std::errc() && number >= low && number <= high);
    left_.remove_prefix(static_cast<size_t>(end - left_.data()));
    return number;
  }
  template <typename T>
  std::vector<T> List(T low, T high, int channels) {
    std::vector<T> numbers;
    do numbers.push_back(Number<T>(low, high));
    while (Skip(","));
    Require(numbers.size() == 1 || static_cast<int>(numbers.size()) == channels);
    return numbers;
  }
  template <typename T>
  T Choice(std::initializer_list<T> values) {
    for (const T value : values) {
      if (Skip(Name(value))) return value;
    }
    Refuse();
  }
  void Size(int& height, int& width) {
    height = Number(1, kMaxPreprocessSide);
    Require(Skip("x"));
    width = Number(1, kMaxPreprocessSide);
  }
  bool AtEnd() const { return left_.empty(); }

 private:
  std::string_view left_;
  const std::string& where_;
};

InputPreprocess ReadRecipe(RecordedLine& line) {
  constexpr float kMost = std::numeric_limits<float>::max();
  InputPreprocess p;
  line.Require(line.Skip(" color="));
  p.color = line.Choice({Color::kRgb, Color::kBgr, Color::kGray});
  const int channels = Channels(p.color);
  line.Require(line.Skip(" layout="));
  p.layout = line.Choice({PixelLayout::kNchw, PixelLayout::kNhwc});
  if (line.Skip(" resize=")) {
    p.resize = line.Choice(
        {RecordedResize::kStretch, RecordedResize::kShortSide, RecordedResize::kLetterbox});
    line.Require(line.Skip(":"));
    line.Size(p.resize_height, p.resize_width);
    line.Require(p.resize != RecordedResize::kShortSide || p.resize_height == p.resize_width);
  }
  if (p.resize == RecordedResize::kLetterbox) {
    line.Require(line.Skip(" fill="));
    p.fill = line.List<uint8_t>(0, 255, channels);
    line.Require(line.Skip(" align="));
    p.align = line.Choice({Align::kCenter, Align::kTopLeft});
  }
  if (line.Skip(" crop=")) line.Size(p.crop_height, p.crop_width);
  line.Require(line.Skip(" mean="));
  p.mean = line.List<float>(-kMost, kMost, channels);
  line.Require(line.Skip(" scale="));
  p.scale = line.List<float>(-kMost, kMost, channels);
  return p;
}

}  // namespace

std::string WriteRecorded(const std::map<size_t, InputPreprocess>& recipes) {
  std::string text;
  for (const auto& [input, recipe] : recipes)
    text += (text.empty() ? "" : "\n") + WriteLine(input, recipe);
  return text;
}

std::map<size_t, InputPreprocess> ReadRecorded(const std::string& text, const std::string& where) {
  std::map<size_t, InputPreprocess> recipes;
  std::istringstream lines(text);
  for (std::string words; std::getline(lines, words);) {
    RecordedLine line(words, where);
    constexpr size_t kMostInputs = 1 << 20;
    const auto input = line.Number<size_t>(0, kMostInputs);
    const auto [at, is_new] = recipes.emplace(input, ReadRecipe(line));
    line.Require(line.AtEnd() && is_new);
  }
  return recipes;
}

}  // namespace rshift
