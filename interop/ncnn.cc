// Tables of ncnn (ncnn2table, ncnn2int8): lines "layer_param_N scale...", the scales of a layer's
// weights, one for each output channel (group, of depthwise convolutions), and "layer scale", that
// of what the layer reads. Here a scale is 127 / threshold: integer = real * scale. A '#' before a
// "layer_param_0" leaves the layer in F32. Sources: ncnn, tools/quantize/ncnn2int8.cpp
// (read_int8scale_table) and docs/how-to-use-and-FAQ/quantized-int8-inference.md.
#include <algorithm>

#include "base/error.h"
#include "interop/format_list.h"
#include "interop/text_table.h"

namespace rshift {
namespace {

constexpr const char* kParam = "_param_";

// Ends in "_param_" and digits.
bool IsParamKey(const std::string& word) {
  const size_t at = word.rfind(kParam);
  if (at == std::string::npos || at == 0) return false;
  const std::string number = word.substr(at + std::string(kParam).size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

// Whole lines only: the text may be cut.
bool Recognise(const std::string& text) {
  bool found = false;
  const auto look = [&](const std::string& line, const std::string&) {
    const std::vector<std::string> words = WordsOf(line);
    found = found || (words.size() > 1 && IsParamKey(words[0]) && IsNumber(words[1]));
  };
  EachLine(text.substr(0, text.rfind('\n') + 1), "", look);
  return found;
}

ScaleEntry EntryOf(const std::vector<std::string>& words, const std::string& place) {
  RSHIFT_REQUIRE(words.size() > 1, ErrorCode::kInvalidInput, place, ": '", words[0],
                 "' has no scale, expected 'layer scale...'");
  ScaleEntry entry{.name = words[0], .subject = Subject::kLayerInput};
  if (IsParamKey(words[0])) {
    const size_t at = words[0].rfind(kParam);
    entry.subject = Subject::kLayerWeights;
    // Further parameters keep their number: "gru1_param_1".
    if (words[0].substr(at) == "_param_0") entry.name = words[0].substr(0, at);
    entry.axis = 0;
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const double scale = NumberOf(words[i], place);
    RSHIFT_REQUIRE(scale > 0, ErrorCode::kInvalidInput, place, ": scale ", scale,
                   ", expected a number > 0");
    entry.scales.push_back(1.0 / scale);
  }
  entry.is_signed = true;
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  EachLine(text, where, [&](const std::string& line, const std::string& place) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty()) return;
    if (words[0][0] != '#') {
      set.entries.push_back(EntryOf(words, place));
    } else if (const size_t at = words[0].rfind("_param_0"); at != std::string::npos && at > 1) {
      set.precisions[words[0].substr(1, at - 1)] = "F32";
    }
  });
  return set;
}

std::string LineOf(const std::string& key, const std::vector<double>& scales) {
  std::string line = key;
  for (const double scale : scales) line += " " + FloatNumberText(1.0 / scale);
  return line + "\n";
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses* losses) {
  std::string weights, inputs;
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject == Subject::kTensor || entry.subject == Subject::kWeights) {
      ++(*losses)[Cat("scales of ", Name(entry.subject),
                      " left out: ncnn names layers, give --model to name them")];
      continue;
    }
    CheckWord(entry.name, "a table of ncnn");
    if (!IsCentred(entry)) ++(*losses)["zero points left out: ncnn has none"];
    if (entry.bits != 8) ++(*losses)["widths other than 8 bits left out: ncnn's tables are int8"];
    if (entry.subject == Subject::kLayerWeights) {
      const bool numbered = IsParamKey(entry.name);
      weights += LineOf(numbered ? entry.name : entry.name + "_param_0", SymmetricScalesOf(entry));
    } else {
      double scale = 0;
      for (const double s : SymmetricScalesOf(entry)) scale = std::max(scale, s);
      inputs += LineOf(entry.name, {scale});
    }
  }
  for (const auto& [name, precision] : set.precisions) {
    if (precision != "INT8") weights += "#" + name + "_param_0\n";
  }
  return weights + inputs;
}

}  // namespace

const ScaleFormat kNcnn = {"ncnn", "table of ncnn2table", ".table ncnn.txt", Recognise, Read,
                           Write};

}  // namespace rshift
