// YAML, or the TPU-MLIR text form, -> CalibrationTable. Strict: everything odd is an error with its
// line.
#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "base/error.h"
#include "quantize/ranges/table.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

std::vector<std::string> Words(const std::string& line) {
  constexpr const char* kBlanks = " \t\r\v\f";
  std::vector<std::string> words;
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

void CheckRange(const TensorRange& range, const std::string& place, const std::string& name) {
  const auto need = [&](bool ok, const char* rule) {
    RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, place, ": tensor '", name, "': expected ", rule,
                   ", found min ", range.min, ", max ", range.max, ", threshold ", range.threshold,
                   ", low ", range.low, ", high ", range.high);
  };
  need(range.min <= range.max, "min <= max");
  need(range.low <= range.high, "low <= high");
  need(range.threshold >= 0, "threshold >= 0");
}

std::optional<RangeEffect> ReadEffect(const YamlPart& tensor, const char* mode,
                                      const std::string& what) {
  if (!HasKey(tensor, mode)) return std::nullopt;
  const YamlPart part = Child(tensor, mode, what);
  const std::string name = what + ": " + mode;
  CheckKeys(part, name, {"clipped", "sqnr_db"});
  const RangeEffect effect{ReadFloat(Child(part, "clipped", name), name + ": clipped"),
                           ReadFloat(Child(part, "sqnr_db", name), name + ": sqnr_db")};
  if (!(effect.clipped >= 0 && effect.clipped <= 1))
    FailAt(part, name, ": clipped is ", effect.clipped, ", expected a share of 0 to 1");
  return effect;
}

TensorRange ReadTensor(const YamlPart& part, const std::string& name) {
  const std::string what = "tensor '" + name + "'";
  CheckKeys(part, what,
            {"min", "max", "threshold", "low", "high", "method", "infinities", "symmetric",
             "asymmetric", "reason", "min_sample", "max_sample"});
  const auto number = [&](const char* key) {
    return ReadFloat(Child(part, key, what), what + ": " + key);
  };
  TensorRange range{
      number("min"), number("max"), number("threshold"), number("low"), number("high"), "", 0};
  range.method = ReadString(Child(part, "method", what), what + ": method");
  if (HasKey(part, "infinities")) {
    const YamlPart count = Child(part, "infinities", what);
    const int64_t found = ReadInt(count, what + ": infinities");
    if (found < 0) FailAt(count, what, ": infinities is ", found, ", expected a count");
    range.infinities = static_cast<uint64_t>(found);
  }
  range.symmetric = ReadEffect(part, "symmetric", what);
  range.asymmetric = ReadEffect(part, "asymmetric", what);
  const auto text = [&](const char* key) {
    return HasKey(part, key) ? ReadString(Child(part, key, what), Cat(what, ": ", key)) : "";
  };
  range.reason = text("reason");
  range.min_sample = text("min_sample");
  range.max_sample = text("max_sample");
  CheckRange(range, Location(part), name);
  return range;
}

// Text as it is, or a nested map written back as YAML (hand-made tables).
std::string ReadPreprocess(const YamlPart& part) {
  if (part.node.IsScalar()) return part.node.Scalar();
  return YAML::Dump(part.node) + "\n";
}

std::vector<YamlPart> ReadList(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) FailAt(part, what, " is not a list");
  std::vector<YamlPart> entries;
  for (const auto& entry : part.node) entries.push_back({entry, part.where});
  return entries;
}

RecordedSample ReadSample(const YamlPart& part) {
  const std::string what = "a check sample";
  CheckKeys(part, what, {"name", "sha256", "sources"});
  RecordedSample sample{ReadString(Child(part, "sha256", what), "sha256"),
                        ReadString(Child(part, "name", what), "name"),
                        {}};
  for (const YamlPart& entry : ReadList(Child(part, "sources", what), "sources")) {
    CheckKeys(entry, "a source", {"input", "index", "paths"});
    SampleSource source;
    source.input = ReadString(Child(entry, "input", "a source"), "input");
    source.index = ReadInt(Child(entry, "index", "a source"), "index");
    for (const YamlPart& path : ReadList(Child(entry, "paths", "a source"), "paths")) {
      source.paths.push_back(ReadString(path, "a path"));
    }
    sample.sources.push_back(std::move(source));
  }
  return sample;
}

void ReadLists(const YamlPart& root, CalibrationTable* table) {
  if (HasKey(root, "environment")) {
    const YamlPart part = Child(root, "environment", "the table");
    CheckKeys(part, "environment", {});
    for (const auto& entry : part.node) {
      table->environment[entry.first.Scalar()] =
          ReadString({entry.second, root.where}, "environment");
    }
  }
  if (HasKey(root, "sample_names")) {
    const YamlPart part = Child(root, "sample_names", "the table");
    if (!part.node.IsSequence()) FailAt(part, "sample_names is not a list");
    for (const auto& entry : part.node) {
      table->sample_names.push_back(ReadString({entry, root.where}, "a sample name"));
    }
  }
  if (HasKey(root, "check_samples")) {
    for (const YamlPart& part : ReadList(Child(root, "check_samples", ""), "check_samples")) {
      table->check_samples.push_back(ReadSample(part));
    }
  }
  if (HasKey(root, "preprocess")) table->preprocess = ReadPreprocess(Child(root, "preprocess", ""));
}

ChannelExponents ReadExponents(const YamlPart& part, const std::string& tensor) {
  const std::string what = "equalization of tensor '" + tensor + "'";
  ChannelExponents entry{tensor, {}};
  for (const YamlPart& exponent : ReadList(part, what)) {
    const int64_t found = ReadInt(exponent, what);
    if (found < -kMaxChannelExponent || found > kMaxChannelExponent) {
      FailAt(exponent, what, ": exponent ", found, ", expected -", kMaxChannelExponent, " to ",
             kMaxChannelExponent);
    }
    entry.exponents.push_back(static_cast<int32_t>(found));
  }
  return entry;
}

Shape ReadInputShape(const YamlPart& part, const std::string& input) {
  const std::string what = "shape of input '" + input + "'";
  Shape shape;
  for (const YamlPart& dim : ReadList(part, what)) {
    shape.push_back(ReadInt(dim, what));
    if (shape.back() < 1) FailAt(dim, what, ": dimension ", shape.back(), ", expected 1 or more");
  }
  return shape;
}

void ReadInputShapes(const YamlPart& root, CalibrationTable* table) {
  if (!HasKey(root, "input_shapes")) return;
  const YamlPart part = Child(root, "input_shapes", "the table");
  CheckKeys(part, "input_shapes", {});
  for (const auto& entry : part.node) {
    const std::string input = entry.first.Scalar();
    table->input_shapes[input] = ReadInputShape({entry.second, root.where}, input);
  }
}

Equalization ReadEqualization(const YamlPart& root, const char* key) {
  Equalization equalization;
  if (!HasKey(root, key)) return equalization;
  const YamlPart part = Child(root, key, "the table");
  CheckKeys(part, key, {});
  for (const auto& entry : part.node) {
    equalization.push_back(ReadExponents({entry.second, root.where}, entry.first.Scalar()));
  }
  return equalization;
}

std::vector<std::pair<std::string, TensorRange>> ReadTensors(const YamlPart& part,
                                                             const char* what) {
  CheckKeys(part, what, {});
  std::vector<std::pair<std::string, TensorRange>> tensors;
  for (const auto& entry : part.node) {
    const std::string name = entry.first.Scalar();
    tensors.emplace_back(name, ReadTensor({entry.second, part.where}, name));
  }
  return tensors;
}

// The ranges are of tensors of the trial, under the names that they have scaled.
void CheckTrial(const YamlPart& root, const CalibrationTable& table) {
  std::set<std::string> scaled;
  for (const ChannelExponents& entry : table.trial)
    scaled.insert(Cat(entry.tensor, kEqualizedSuffix));
  for (const auto& [name, range] : table.trial_tensors) {
    if (!scaled.contains(name))
      FailAt(root, "trial_tensors has '", name, "', which trial_equalization does not scale");
  }
  RSHIFT_REQUIRE(table.trial.empty() == table.trial_tensors.empty(), ErrorCode::kInvalidInput,
                 root.where,
                 ": of trial_equalization and trial_tensors one is missing; calibrate "
                 "again");
}

CalibrationTable ReadYamlTable(const std::string& text, const std::string& where) {
  const YamlPart root = ParseYaml(text, where);
  const std::string what = "the calibration table";
  if (!root.node.IsMap() || !HasKey(root, "rshift_calibration")) {
    Fail(ErrorCode::kInvalidInput, where,
         ": not a calibration table: no 'rshift_calibration: 1'; "
         "make one with model_calibrate");
  }
  CheckKeys(root, what,
            {"rshift_calibration", "model_sha256", "method", "samples", "samples_sha256",
             "pass_list_version", "environment", "preprocess", "input_shapes", "sample_names",
             "check_samples", "equalization", "tensors", "unequalized", "trial_equalization",
             "trial_tensors"});
  const YamlPart version = Child(root, "rshift_calibration", what);
  if (const int64_t found = ReadInt(version, "rshift_calibration"); found != 1) {
    FailAt(version, "version ", found, " of the calibration table, expected 1; calibrate again");
  }
  CalibrationTable table;
  table.model_sha256 = ReadString(Child(root, "model_sha256", what), "model_sha256");
  table.method = ReadString(Child(root, "method", what), "method");
  table.samples = ReadInt(Child(root, "samples", what), "samples");
  if (HasKey(root, "samples_sha256")) {
    table.samples_sha256 = ReadString(Child(root, "samples_sha256", what), "samples_sha256");
  }
  if (HasKey(root, "pass_list_version")) {
    table.pass_list_version =
        static_cast<int>(ReadInt(Child(root, "pass_list_version", what), "pass_list_version"));
  }
  ReadLists(root, &table);
  ReadInputShapes(root, &table);
  table.equalization = ReadEqualization(root, "equalization");
  table.trial = ReadEqualization(root, "trial_equalization");
  table.tensors = ReadTensors(Child(root, "tensors", what), "tensors");
  if (HasKey(root, "unequalized"))
    table.unequalized = ReadTensors(Child(root, "unequalized", what), "unequalized");
  if (HasKey(root, "trial_tensors"))
    table.trial_tensors = ReadTensors(Child(root, "trial_tensors", what), "trial_tensors");
  CheckTrial(root, table);
  return table;
}

// Also "nan" and "inf": what is wrong with them is said later.
bool IsNumber(std::string_view word) {
  float value = 0;
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error != std::errc::invalid_argument && end == word.data() + word.size();
}

bool IsTpuMlirLine(const std::vector<std::string>& words) {
  return words.size() == 4 && std::all_of(words.begin() + 1, words.end(), IsNumber);
}

CalibrationTable ReadTpuMlirTable(const std::string& text, const std::string& where) {
  CalibrationTable table;
  table.method = "tpu-mlir";
  std::istringstream in(text);
  std::set<std::string> seen;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string place = Cat(where, ":", ++number);
    const std::vector<std::string> words = Words(line);
    RSHIFT_REQUIRE(words.empty() || (words[0] != "#int4_th" && words[0] != "#weight_scale"),
                   ErrorCode::kInvalidInput, place, ": the section ", words[0],
                   " is no calibration; give the table to model_deploy --scales, which reads it");
    if (words.empty() || words[0][0] == '#') continue;
    TensorRange range;
    const bool ok = words.size() == 4 && ParseFloat(words[1], &range.threshold) &&
                    ParseFloat(words[2], &range.low) && ParseFloat(words[3], &range.high);
    RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, place, ": '", line.substr(0, 200),
                   "' is not 'tensor threshold min max' with finite numbers");
    RSHIFT_REQUIRE(seen.insert(words[0]).second, ErrorCode::kInvalidInput, place, ": tensor '",
                   words[0], "' occurs twice; keep one of them");
    range.min = range.low;
    range.max = range.high;
    range.method = "tpu-mlir";
    CheckRange(range, place, words[0]);
    table.tensors.emplace_back(words[0], range);
  }
  return table;
}

// The first line that is neither blank nor a comment decides.
bool LooksLikeTpuMlir(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = Words(line);
    if (words.empty() || words[0][0] == '#') continue;
    return IsTpuMlirLine(words);
  }
  return false;
}

}  // namespace

CalibrationTable ReadTable(const std::string& text, const std::string& where) {
  CheckTextLimits(text, where);
  return LooksLikeTpuMlir(text) ? ReadTpuMlirTable(text, where) : ReadYamlTable(text, where);
}

}  // namespace rshift
