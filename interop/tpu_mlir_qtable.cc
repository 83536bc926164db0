// Quantization tables of TPU-MLIR (run_qtable, model_deploy.py --quantize_table): lines
// "operator quantize_mode", '#' comments; modes F32, F16, BF16, INT8 and others. Source: TPU-MLIR's
// developer manual, "run_qtable".
#include <algorithm>
#include <array>

#include "base/error.h"
#include "interop/format_list.h"
#include "interop/text_table.h"

namespace rshift {
namespace {

constexpr std::array<const char*, 11> kModes = {
    "F32", "F16", "BF16", "INT8", "INT4", "W4INT8", "W8F16", "W8BF16", "W4F16", "W4BF16", "F8"};

bool IsMode(const std::string& word) {
  return std::find(kModes.begin(), kModes.end(), word) != kModes.end();
}

bool Recognise(const std::string& text) {
  const std::vector<std::string> words = WordsOf(FirstLine(text));
  return words.size() == 2 && IsMode(words[1]);
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  set.names_end_in_operator = true;
  EachLine(text, where, [&](const std::string& line, const std::string& place) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty() || words[0][0] == '#') return;
    RSHIFT_REQUIRE(words.size() == 2 && IsMode(words[1]), ErrorCode::kInvalidInput, place, ": '",
                   line.substr(0, 200),
                   "', expected 'operator mode' with a mode like F32, F16, "
                   "BF16, INT8");
    RSHIFT_REQUIRE(set.precisions.emplace(words[0], words[1]).second, ErrorCode::kInvalidInput,
                   place, ": operator '", words[0], "' occurs twice; keep one of them");
  });
  return set;
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses* losses) {
  std::string out = "# op_name   quantize_mode\n";
  for (const auto& [name, precision] : set.precisions) {
    CheckWord(name, "a quantization table of TPU-MLIR");
    out += name + " " + precision + "\n";
  }
  for (const ScaleEntry& entry : set.entries) {
    if (entry.is_float && !set.precisions.contains(entry.name)) {
      CheckWord(entry.name, "a quantization table of TPU-MLIR");
      out += entry.name + " F32\n";
    } else if (!entry.is_float) {
      ++(*losses)["scales left out: a quantization table holds precisions of operators only"];
    }
  }
  return out;
}

}  // namespace

const ScaleFormat kTpuMlirQtable = {"tpu-mlir-qtable",
                                    "quantization table of TPU-MLIR",
                                    "qtable .qtable.txt",
                                    Recognise,
                                    Read,
                                    Write};

}  // namespace rshift
