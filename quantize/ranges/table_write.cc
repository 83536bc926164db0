// CalibrationTable -> YAML, and the TPU-MLIR text form. Byte-for-byte reproducible: fixed key
// order, shortest decimal that reads back to the same float.
#include <cctype>

#include "base/error.h"
#include "base/number_text.h"
#include "quantize/ranges/table.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

// Plain where YAML reads it back as the same string, double-quoted otherwise.
std::string Quoted(const std::string& text) {
  bool plain = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) ||
                                 text[0] == '_' || text[0] == '/');
  for (const char c : text) {
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' ||
                      c == '.' || c == '-');
  }
  for (const char* word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    plain = plain && text != word;
  }
  if (plain) return text;
  constexpr const char* kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

// A block of indented lines where that keeps the text exactly, a quoted string otherwise.
std::string Block(const std::string& text) {
  bool simple = text.size() > 1 && text.back() == '\n' && text[text.size() - 2] != '\n' &&
                text[0] != ' ' && text[0] != '\n';
  for (const char c : text) {
    simple = simple && (c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  }
  if (!simple) return " " + Quoted(text) + "\n";
  std::string out = " |\n";
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    if (end > begin) out += "  " + text.substr(begin, end - begin);
    out += '\n';
    begin = end + 1;
  }
  return out;
}

// YAML reads a key of up to 1024 characters in front of its colon; a longer one needs a line of its
// own behind a question mark.
std::string Key(const std::string& name) {
  constexpr size_t kMaxSimpleKey = 1000;
  const std::string quoted = Quoted(name);
  RSHIFT_REQUIRE(quoted.size() < kMaxYamlLine, ErrorCode::kUnsupported, "tensor '",
                 name.substr(0, 60), "...' has a name of ", name.size(),
                 " bytes, a calibration table holds lines of at most ", kMaxYamlLine);
  return quoted.size() <= kMaxSimpleKey ? quoted : "? " + quoted + "\n  ";
}

std::string EffectText(const char* mode, const std::optional<RangeEffect>& effect) {
  if (!effect) return "";
  return Cat(", ", mode, ": {clipped: ", ShortestText(effect->clipped),
             ", sqnr_db: ", ShortestText(effect->sqnr_db), "}");
}

std::string TextField(const char* key, const std::string& text) {
  return text.empty() ? "" : Cat(", ", key, ": ", Quoted(text));
}

std::string TensorLine(const std::string& name, const TensorRange& range) {
  return "  " + Key(name) + ": {min: " + ShortestText(range.min) +
         ", max: " + ShortestText(range.max) + ", threshold: " + ShortestText(range.threshold) +
         ", low: " + ShortestText(range.low) + ", high: " + ShortestText(range.high) +
         ", method: " + Quoted(range.method) +
         (range.infinities > 0 ? ", infinities: " + std::to_string(range.infinities) : "") +
         EffectText("symmetric", range.symmetric) + EffectText("asymmetric", range.asymmetric) +
         TextField("reason", range.reason) + TextField("min_sample", range.min_sample) +
         TextField("max_sample", range.max_sample) + "}\n";
}

std::string SampleLine(const RecordedSample& sample) {
  std::string out =
      "  - {name: " + Quoted(sample.name) + ", sha256: " + Quoted(sample.sha256) + ", sources: [";
  for (size_t i = 0; i < sample.sources.size(); ++i) {
    const SampleSource& source = sample.sources[i];
    out += Cat(i == 0 ? "" : ", ", "{input: ", Quoted(source.input), ", index: ", source.index,
               ", paths: [");
    for (size_t k = 0; k < source.paths.size(); ++k) {
      out += (k == 0 ? "" : ", ") + Quoted(source.paths[k]);
    }
    out += "]}";
  }
  return out + "]}\n";
}

template <typename Numbers>
std::string ListLine(const std::string& name, const Numbers& numbers) {
  std::string out = "  " + Quoted(name) + ": [";
  for (size_t i = 0; i < numbers.size(); ++i) out += Cat(i == 0 ? "" : ", ", numbers[i]);
  return out + "]\n";
}

}  // namespace

std::string WriteTable(const CalibrationTable& table) {
  std::string out = "rshift_calibration: 1\n";
  out += "model_sha256: " + Quoted(table.model_sha256) + "\n";
  out += "method: " + Quoted(table.method) + "\n";
  out += "samples: " + std::to_string(table.samples) + "\n";
  out += "samples_sha256: " + Quoted(table.samples_sha256) + "\n";
  out += "pass_list_version: " + std::to_string(table.pass_list_version) + "\n";
  if (!table.environment.empty()) out += "environment:\n";
  for (const auto& [key, value] : table.environment) {
    out += "  " + Quoted(key) + ": " + Quoted(value) + "\n";
  }
  if (!table.preprocess.empty()) out += "preprocess:" + Block(table.preprocess);
  if (!table.input_shapes.empty()) out += "input_shapes:\n";
  for (const auto& [input, shape] : table.input_shapes) out += ListLine(input, shape);
  if (!table.sample_names.empty()) out += "sample_names:\n";
  for (const std::string& name : table.sample_names) out += "  - " + Quoted(name) + "\n";
  if (!table.check_samples.empty()) out += "check_samples:\n";
  for (const RecordedSample& sample : table.check_samples) out += SampleLine(sample);
  if (!table.equalization.empty()) out += "equalization:\n";
  for (const ChannelExponents& entry : table.equalization)
    out += ListLine(entry.tensor, entry.exponents);
  out += table.tensors.empty() ? "tensors: {}\n" : "tensors:\n";
  for (const auto& [name, range] : table.tensors) out += TensorLine(name, range);
  if (!table.unequalized.empty()) out += "unequalized:\n";
  for (const auto& [name, range] : table.unequalized) out += TensorLine(name, range);
  if (table.trial.empty()) return out;
  out += "trial_equalization:\n";
  for (const ChannelExponents& entry : table.trial) out += ListLine(entry.tensor, entry.exponents);
  out += "trial_tensors:\n";
  for (const auto& [name, range] : table.trial_tensors) out += TensorLine(name, range);
  return out;
}

std::string WriteTpuMlirTable(const CalibrationTable& given) {
  const CalibrationTable table = WithoutEqualization(given, "the table");
  std::string out = "# quantization threshold calculation method: " + table.method + "\n";
  out += "# sample number: " + std::to_string(table.samples) + "\n###\n";
  out += "# op_name    threshold    min    max\n";
  for (const auto& [name, range] : table.tensors) {
    RSHIFT_REQUIRE(
        !name.empty() && name[0] != '#' && name.find_first_of(" \t\r\n") == std::string::npos,
        ErrorCode::kUnsupported, "tensor '", name,
        "': the TPU-MLIR table cannot hold a name that is empty, has blanks or begins with #; "
        "write the table as YAML");
    out += name + " " + ShortestText(range.threshold) + " " + ShortestText(range.low) + " " +
           ShortestText(range.high) + "\n";
  }
  return out;
}

}  // namespace rshift
