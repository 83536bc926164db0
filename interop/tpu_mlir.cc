// Calibration tables of TPU-MLIR (run_calibration): lines "tensor threshold min max", '#' comments.
// Tables of quantization aware training (MQBench's and sophgo_mq's deploy for Sophgo) go on with a
// section behind "#int4_th", the same lines for tensors of 4 bits, and one behind "#weight_scale",
// lines "name N scale... N zero point...". Sources: TPU-MLIR's developer manual,
// "run_calibration"; what those two projects' exporters write.
#include <algorithm>

#include "base/error.h"
#include "interop/format_list.h"
#include "interop/text_table.h"

namespace rshift {
namespace {

// "name N a... N b...", N > 0.
bool IsWeightLine(const std::vector<std::string>& words) {
  if (words.size() < 5 || words.size() % 2 == 0) return false;
  const std::string count = std::to_string((words.size() - 3) / 2);
  return words[1] == count && words[2 + (words.size() - 3) / 2] == count;
}

// A table of weights alone has no line of a tensor.
bool Recognise(const std::string& text) {
  if (text.starts_with("#weight_scale") || text.find("\n#weight_scale") != std::string::npos ||
      text.find("\n# op_name    threshold ") != std::string::npos)
    return true;
  const std::vector<std::string> words = WordsOf(FirstLine(text));
  return words.size() == 4 && IsNumber(words[1]) && IsNumber(words[2]) && IsNumber(words[3]);
}

ScaleEntry TensorOf(const std::vector<std::string>& words, int bits, const std::string& place) {
  RSHIFT_REQUIRE(words.size() == 4, ErrorCode::kInvalidInput, place, ": ", words.size(),
                 " words, expected 'tensor threshold min max'");
  ScaleEntry entry{.name = words[0]};
  entry.threshold = NumberOf(words[1], place);
  entry.low = {NumberOf(words[2], place)};
  entry.high = {NumberOf(words[3], place)};
  entry.bits = bits;
  return entry;
}

ScaleEntry WeightsOf(const std::vector<std::string>& words, const std::string& place) {
  RSHIFT_REQUIRE(IsWeightLine(words), ErrorCode::kInvalidInput, place,
                 ": expected 'name N' and N scales, N and N zero points");
  ScaleEntry entry{.name = words[0], .subject = Subject::kWeights};
  const size_t count = (words.size() - 3) / 2;
  for (size_t i = 0; i < count; ++i) {
    entry.scales.push_back(NumberOf(words[2 + i], place));
    const double zero = NumberOf(words[3 + count + i], place);
    RSHIFT_REQUIRE(zero >= -2147483648.0 && zero <= 2147483647.0 &&
                       zero == static_cast<double>(static_cast<int64_t>(zero)),
                   ErrorCode::kInvalidInput, place, ": zero point ", zero, ", expected an integer");
    entry.zero_points.push_back(static_cast<int64_t>(zero));
  }
  entry.is_signed = true;
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  set.names_end_in_operator = true;
  int bits = 8;
  bool weights = false;
  EachLine(text, where, [&](const std::string& line, const std::string& place) {
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty()) return;
    if (words[0].starts_with("#")) {
      weights = weights || words[0] == "#weight_scale";
      if (words[0] == "#int4_th") bits = 4;
      return;
    }
    set.entries.push_back(weights ? WeightsOf(words, place) : TensorOf(words, bits, place));
  });
  return set;
}

std::string TensorLine(const ScaleEntry& entry) {
  const AxisRange range = RangeOf(entry);
  const auto low = std::min_element(range.low.begin(), range.low.end());
  const auto high = std::max_element(range.high.begin(), range.high.end());
  const auto steps = static_cast<double>(QMax(entry.bits, true));
  return entry.name + " " + FloatNumberText(ThresholdOf(entry, steps)) + " " +
         FloatNumberText(*low) + " " + FloatNumberText(*high) + "\n";
}

std::string WeightLine(const ScaleEntry& entry) {
  const AxisQuantParams affine = AxisQuantParamsOf(entry, true);
  const std::string count = std::to_string(affine.scales.size());
  std::string line = entry.name + " " + count;
  for (const double scale : affine.scales) line += " " + NumberText(scale);
  line += " " + count;
  for (const int64_t zero : affine.zero_points) line += " " + std::to_string(zero);
  return line + "\n";
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses* losses) {
  std::string tensors, int4, weights;
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject == Subject::kLayerInput || entry.subject == Subject::kLayerWeights) {
      ++(*losses)[Cat("scales of ", Name(entry.subject),
                      " left out: give --model to name tensors")];
    } else if (entry.is_float) {
      ++(*losses)["tensors in floating point left out: write a tpu-mlir-qtable for them"];
    } else {
      CheckWord(entry.name, "a calibration table of TPU-MLIR");
      const bool is_weights = entry.subject == Subject::kWeights;
      if (!is_weights && entry.low.size() + entry.scales.size() > 2)
        ++(*losses)["activations with scales by channel get their largest range"];
      if (!is_weights && entry.bits != 8 && entry.bits != 4)
        ++(*losses)["widths other than 8 and 4 bits left out: the range stays"];
      if (is_weights && entry.bits != 8)
        ++(*losses)["widths of weights left out: TPU-MLIR's tables have their scales only"];
      (is_weights        ? weights
       : entry.bits == 4 ? int4
                         : tensors) += is_weights ? WeightLine(entry) : TensorLine(entry);
    }
  }
  if (!set.precisions.empty())
    (*losses)["precisions of operators left out: write a tpu-mlir-qtable for them"] =
        static_cast<int64_t>(set.precisions.size());
  std::string out;
  if (!set.method.empty())
    out += "# quantization threshold calculation method: " + set.method + "\n";
  out += "# sample number: " + std::to_string(set.samples) + "\n###\n";
  out += "# op_name    threshold    min    max\n" + tensors;
  if (!int4.empty()) out += "#int4_th\n" + int4;
  if (!weights.empty()) out += "#weight_scale\n" + weights;
  return out;
}

}  // namespace

const ScaleFormat kTpuMlir = {
    "tpu-mlir", "calibration table of TPU-MLIR", "cali_table .cali.txt", Recognise, Read, Write};

}  // namespace rshift
