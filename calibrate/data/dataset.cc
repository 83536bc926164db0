#include "calibrate/data/dataset.h"

#include <filesystem>

#include "base/error.h"
#include "calibrate/data/input_feed.h"
#include "calibrate/data/path_patterns.h"
#include "calibrate/data/stored_samples.h"
#include "graph/sha256.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

// As a file, a folder or a pattern that matches some.
bool Exists(const std::string& path) {
  std::error_code ignored;
  const std::vector<std::string> paths = MatchingPaths(path);
  return !paths.empty() && fs::exists(paths[0], ignored);
}

class FeedDataset : public Dataset, public StoredSamples {
 public:
  // The preprocessing must outlive the sources that point to its entries.
  FeedDataset(std::vector<InputFeed> feeds,
              std::shared_ptr<const std::optional<Preprocess>> preprocess)
      : feeds_(std::move(feeds)), preprocess_(std::move(preprocess)) {}
  int64_t size() const override { return feeds_[0].size(); }
  std::string name(int64_t index) const override { return feeds_[0].name(index); }
  std::vector<SampleSource> sources(int64_t index) const override {
    std::vector<SampleSource> sources;
    for (const InputFeed& feed : feeds_) {
      sources.push_back(feed.source(index));
      if (sources.back().paths.empty()) return {};
    }
    return sources;
  }
  std::vector<OwnClass> Classes(int64_t index) const override { return feeds_[0].Classes(index); }
  std::vector<std::string> ClassFolders() const override { return feeds_[0].ClassFolders(); }
  Sample Read(int64_t index) const override {
    Sample sample{name(index), {}};
    for (const InputFeed& feed : feeds_) sample.inputs.push_back(feed.Read(index));
    return sample;
  }
  std::string StoredSha256(int64_t index) const override {
    if (feeds_.size() == 1) return feeds_[0].StoredSha256(index);
    std::string hashes;
    for (const InputFeed& feed : feeds_) hashes += feed.StoredSha256(index);
    return Sha256OfText(hashes);
  }

 private:
  std::vector<InputFeed> feeds_;
  std::shared_ptr<const std::optional<Preprocess>> preprocess_;
};

std::vector<InputPlan> MakePlans(const std::vector<InputSpec>& inputs,
                                 const std::optional<Preprocess>& preprocess) {
  std::vector<InputPlan> plans;
  for (const InputSpec& spec : inputs) {
    InputPlan plan{spec, nullptr, "", inputs.size() == 1};
    for (size_t i = 0; preprocess && i < preprocess->inputs.size(); ++i) {
      const InputPreprocess& entry = preprocess->inputs[i];
      if (entry.name == spec.name) plan.preprocess = &entry;
      plan.entries += Cat(plan.entries.empty() ? "'" : ", '", entry.name, "'");
    }
    plans.push_back(plan);
  }
  return plans;
}

std::string InputNames(const std::vector<InputSpec>& inputs) {
  std::string names;
  for (const InputSpec& input : inputs) names += (names.empty() ? "'" : ", '") + input.name + "'";
  return names;
}

// The input that "NAME=path" feeds and the path; -1 for a plain path. A file that exists under the
// whole text is a plain path.
std::pair<int, std::string> SplitPath(const std::string& text,
                                      const std::vector<InputSpec>& inputs) {
  if (Exists(text)) return {-1, text};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].name.empty() && text.starts_with(inputs[i].name + "=")) {
      return {static_cast<int>(i), text.substr(inputs[i].name.size() + 1)};
    }
  }
  const size_t equals = text.find('=');
  RSHIFT_REQUIRE(equals == std::string::npos || equals == 0 || !Exists(text.substr(equals + 1)),
                 ErrorCode::kInvalidInput, text, ": the model has no input '",
                 text.substr(0, equals), "', it has ", InputNames(inputs));
  return {-1, text};
}

void RequireManyInputs(const std::string& path, const std::vector<InputSpec>& inputs) {
  std::error_code ignored;
  RSHIFT_REQUIRE(fs::exists(path, ignored), ErrorCode::kInvalidInput, path,
                 ": no such file or folder");
  RSHIFT_REQUIRE(
      HasExtension(path, ".npz") || HasExtension(path, ".txt") || fs::is_directory(path, ignored),
      ErrorCode::kInvalidInput, path, ": the model has several inputs (", InputNames(inputs),
      "); say which one this feeds: NAME=", path);
}

// An entry without a name is for the only input of the model.
std::optional<Preprocess> WithNames(std::optional<Preprocess> preprocess,
                                    const std::vector<InputSpec>& inputs) {
  for (size_t i = 0; preprocess && i < preprocess->inputs.size(); ++i) {
    InputPreprocess& entry = preprocess->inputs[i];
    if (!entry.name.empty()) continue;
    RSHIFT_REQUIRE(inputs.size() == 1, ErrorCode::kInvalidInput, "preprocessing: inputs[", i,
                   "] has no name, and the model has ", inputs.size(), " inputs (",
                   InputNames(inputs), "); give the entry `name:`");
    entry.name = inputs[0].name;
  }
  return preprocess;
}

}  // namespace

std::string ContentSha256(const Sample& sample) {
  std::vector<std::span<const uint8_t>> parts;
  for (const std::vector<float>& values : sample.inputs) {
    parts.emplace_back(reinterpret_cast<const uint8_t*>(values.data()),
                       values.size() * sizeof(float));
  }
  return Sha256HexOfParts(parts);
}

std::string StoredSha256(const Dataset& dataset, int64_t index) {
  const auto* stored = dynamic_cast<const StoredSamples*>(&dataset);
  return stored != nullptr ? stored->StoredSha256(index) : ContentSha256(dataset.Read(index));
}

std::unique_ptr<Dataset> OpenDataset(const std::vector<std::string>& paths,
                                     const std::vector<InputSpec>& inputs,
                                     const std::optional<Preprocess>& preprocess,
                                     const NoteFunction& note) {
  RSHIFT_REQUIRE(!inputs.empty(), ErrorCode::kInvalidInput,
                 "the model has no inputs: there is nothing to feed");
  const auto kept =
      std::make_shared<const std::optional<Preprocess>>(WithNames(preprocess, inputs));
  const std::vector<InputPlan> plans = MakePlans(inputs, *kept);
  std::vector<InputFeed> feeds;
  feeds.reserve(inputs.size());
  for (const InputSpec& input : inputs) feeds.emplace_back(input);
  for (const std::string& text : paths) {
    const auto [input, path] = SplitPath(text, inputs);
    if (input >= 0 || inputs.size() == 1) {
      const size_t i = input < 0 ? 0 : static_cast<size_t>(input);
      feeds[i].Add(path, plans[i]);
      continue;
    }
    // An .npz, or a folder or list of them, holds every input under its name.
    for (const std::string& one : MatchPaths(path).paths) RequireManyInputs(one, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) feeds[i].Add(path, plans[i]);
  }
  for (InputFeed& feed : feeds) {
    feed.Finish(note);
    RSHIFT_REQUIRE(feed.size() > 0, ErrorCode::kInvalidInput,
                   "the data set has no samples for input '", feed.input_name(), "'; give ",
                   feed.input_name(), "=PATH");
    RSHIFT_REQUIRE(feed.size() == feeds[0].size(), ErrorCode::kInvalidInput, "input '",
                   feed.input_name(), "' has ", feed.size(), " samples, input '",
                   feeds[0].input_name(), "' has ", feeds[0].size(), "; every input needs as many");
  }
  return std::make_unique<FeedDataset>(std::move(feeds), kept);
}

}  // namespace rshift
