#include "pipeline/check_samples.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "calibrate/data/finite.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

// The path as it is found today, or "".
std::string Locate(const std::string& path, const std::string& table_path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  if (fs::path(path).is_absolute()) return "";
  fs::path folder = fs::absolute(table_path, ignored).parent_path();
  while (!folder.empty()) {
    if (fs::exists(folder / path, ignored)) return (folder / path).string();
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return "";
}

// Reads recorded samples; a file that holds several of them is opened once.
class Reader {
 public:
  Reader(const std::vector<InputSpec>& inputs, std::optional<Preprocess> preprocess,
         std::string table_path, const NoteFunction& note)
      : inputs_(inputs),
        preprocess_(std::move(preprocess)),
        table_path_(std::move(table_path)),
        note_(note) {}

  // Throws kInvalidInput when the sample is gone or has changed.
  Sample Read(const RecordedSample& recorded) {
    RSHIFT_REQUIRE(!recorded.sources.empty() && recorded.sources.size() == inputs_.size(),
                   ErrorCode::kInvalidInput, "sample '", recorded.name, "' feeds ",
                   recorded.sources.size(), " inputs, the model has ", inputs_.size());
    const int64_t index = recorded.sources[0].index;
    const Dataset& dataset = Open(Paths(recorded));
    RSHIFT_REQUIRE(index >= 0 && index < dataset.size(), ErrorCode::kInvalidInput, "sample '",
                   recorded.name, "': its file has no sample ", index, " any more");
    Sample sample = dataset.Read(index);
    RSHIFT_REQUIRE(ContentSha256(sample) == recorded.sha256, ErrorCode::kInvalidInput, "sample '",
                   recorded.name, "' has changed since the calibration");
    sample.name = recorded.name;
    return sample;
  }

 private:
  std::vector<std::string> Paths(const RecordedSample& recorded) const {
    std::vector<std::string> paths;
    for (const SampleSource& source : recorded.sources) {
      RSHIFT_REQUIRE(source.index == recorded.sources[0].index, ErrorCode::kUnsupported, "sample '",
                     recorded.name, "' has another index for each input");
      for (const std::string& path : source.paths) {
        const std::string found = Locate(path, table_path_);
        RSHIFT_REQUIRE(!found.empty(), ErrorCode::kInvalidInput, path, " is gone");
        paths.push_back(inputs_.size() == 1 ? found : source.input + "=" + found);
      }
    }
    return paths;
  }

  const Dataset& Open(const std::vector<std::string>& paths) {
    auto& dataset = open_[paths];
    if (dataset == nullptr) dataset = OpenDataset(paths, inputs_, preprocess_, note_);
    return *dataset;
  }

  const std::vector<InputSpec>& inputs_;
  std::optional<Preprocess> preprocess_;
  std::string table_path_;
  const NoteFunction& note_;
  std::map<std::vector<std::string>, std::unique_ptr<Dataset>> open_;
};

}  // namespace

void CheckFits(const std::vector<Sample>& samples, const std::vector<InputSpec>& inputs) {
  for (const Sample& sample : samples) {
    RSHIFT_REQUIRE(sample.inputs.size() == inputs.size(), ErrorCode::kInvalidInput, "sample '",
                   sample.name, "' has ", sample.inputs.size(), " arrays, the model ",
                   inputs.size(), " inputs");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int64_t elements = NumElements(inputs[i].shape);
      RSHIFT_REQUIRE(static_cast<int64_t>(sample.inputs[i].size()) == elements,
                     ErrorCode::kInvalidInput, "sample '", sample.name, "', input '",
                     inputs[i].name, "': has ", sample.inputs[i].size(), " values, expected ",
                     elements, " of shape ", ToString(inputs[i].shape));
      const std::vector<float>& values = sample.inputs[i];
      const size_t bad = FirstRefused(values, inputs[i].masks);
      RSHIFT_REQUIRE(bad == values.size(), ErrorCode::kInvalidInput, "sample '", sample.name,
                     "', input '", inputs[i].name, "': element ", bad, " is ", values[bad],
                     ", expected finite values");
    }
  }
}

std::string VisitRecorded(const RecordedSamples& recorded, const std::vector<InputSpec>& inputs,
                          const NoteFunction& note,
                          const std::function<bool(size_t, Sample)>& visit) {
  std::optional<Reader> reader;
  try {
    std::optional<Preprocess> preprocess;
    if (!recorded.preprocess.empty())
      preprocess = ReadPreprocess(recorded.preprocess, recorded.where);
    reader.emplace(inputs, std::move(preprocess), recorded.where, note);
  } catch (const Error& error) {
    return error.what();
  }
  std::string first_error;
  for (size_t i = 0; i < recorded.samples.size(); ++i) {
    std::optional<Sample> sample;
    try {
      sample = reader->Read(recorded.samples[i]);
    } catch (const Error& error) {
      if (first_error.empty()) first_error = error.what();
    }
    if (sample && !visit(i, std::move(*sample))) break;
  }
  return first_error;
}

CheckSamples ReadCheckSamples(const CalibrationTable& table, const std::string& table_path,
                              const std::vector<InputSpec>& inputs, int64_t count,
                              const NoteFunction& note) {
  if (table.check_samples.empty()) {
    return {SampleList(), "the table records no samples (it is old, converted or written by hand)",
            ""};
  }
  std::vector<Sample> samples;
  const std::string first_error =
      VisitRecorded({table.check_samples, table.preprocess, table_path}, inputs, note,
                    [&](size_t, Sample sample) {
                      samples.push_back(std::move(sample));
                      return static_cast<int64_t>(samples.size()) < count;
                    });
  const std::string why = samples.empty() ? "none of its samples can be read: " + first_error : "";
  return {SampleList(std::move(samples)), why, first_error};
}

}  // namespace rshift
