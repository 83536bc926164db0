#include "calibrate/data/dataset.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "calibrate/data/batch_source.h"
#include "calibrate/data/finite.h"
#include "calibrate/data/regular_file.h"
#include "calibrate/data/sample_files.h"
#include "calibrate/data/source.h"
#include "graph/sha256.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::unique_ptr<Source> OpenPath(const std::string& path, const InputPlan& plan) {
  RSHIFT_REQUIRE(Exists(path), ErrorCode::kInvalidInput, path, ": no such file or folder");
  std::error_code ignored;
  std::unique_ptr<Source> source;
  if (fs::is_directory(path, ignored)) return FileSource(FolderFiles(path), plan);
  RegularFileSize(path);  // refuses devices and pipes
  if (HasExtension(path, ".txt"))
    source = FileSource(ListFiles(path), plan);
  else if (HasExtension(path, ".npy"))
    source = NpySource(path, plan);
  else if (HasExtension(path, ".npz"))
    source = NpzSource(path, plan);
  else if (IsImageFile(path))
    source = FileSource({{path, FileName(path)}}, plan);
  else if (LooksLikeIdx(path))
    source = IdxSource(ReadIdx(path), path, plan);
  RSHIFT_REQUIRE(
      source != nullptr, ErrorCode::kInvalidInput, path,
      ": unknown kind of data set, expected an image, a folder, .txt, .npy, .npz or idx-ubyte "
      "(.gz)");
  RSHIFT_REQUIRE(source->size() > 0, ErrorCode::kInvalidInput, path, ": the data set is empty");
  return source;
}

// A source whose samples have the input's shape; with a static batch also one of single samples:
// then `items` is true.
std::unique_ptr<Source> OpenSource(const std::string& path, const InputPlan& plan, bool& items) {
  items = false;
  if (BatchOf(plan.spec) == 1) return OpenPath(path, plan);
  try {
    std::unique_ptr<Source> whole = OpenPath(path, plan);
    whole->Read(0);
    return whole;
  } catch (const Error&) {
    try {
      std::unique_ptr<Source> single = OpenPath(path, OfOneSample(plan));
      single->Read(0);
      items = true;
      return single;
    } catch (const Error&) {
      if (!HasExtension(path, ".npy") && !HasExtension(path, ".npz")) throw;
    }
    throw;  // arrays: the message about the whole shape
  }
}

// Where element `index` is: "0x2x5x7 of 1x3x8x8".
std::string Position(size_t index, const Shape& shape) {
  Shape position(shape.size());
  auto rest = static_cast<int64_t>(index);
  for (size_t d = shape.size(); d-- > 0; rest /= std::max<int64_t>(shape[d], 1)) {
    position[d] = rest % std::max<int64_t>(shape[d], 1);
  }
  return ToString(position) + " of " + ToString(shape);
}

// Everything that feeds one input, in the order given.
class InputFeed {
 public:
  explicit InputFeed(InputSpec spec) : spec_(std::move(spec)) {}
  void Add(const std::string& path, const InputPlan& plan) {
    bool is_items = false;
    std::unique_ptr<Source> source = OpenSource(path, plan, is_items);
    if (is_items)
      items_.push_back(std::move(source));
    else
      Append(std::move(source));
  }
  // Once all paths are there: single samples become batches.
  void Finish() {
    if (items_.empty()) return;
    const int64_t batch = BatchOf(spec_);
    int64_t count = 0;
    for (const auto& source : items_) count += source->size();
    RSHIFT_REQUIRE(sources_.empty(), ErrorCode::kInvalidInput, "input '", spec_.name, "' takes ",
                   ToString(spec_.shape), ": some of the data is whole batches, some single ",
                   "samples; give one kind");
    RSHIFT_REQUIRE(count >= batch, ErrorCode::kInvalidInput, "the data set has ", count,
                   " samples, input '", spec_.name, "' (", ToString(spec_.shape), ") takes ", batch,
                   " at once; give at least ", batch);
    if (count % batch != 0) {
      std::fprintf(stderr,
                   "note: input '%s' takes %lld samples at once; the last %lld of %lld are "
                   "left over and not used\n",
                   spec_.name.c_str(), static_cast<long long>(batch),
                   static_cast<long long>(count % batch), static_cast<long long>(count));
    }
    Append(BatchSource(std::move(items_), batch));
  }
  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::string name(int64_t index) const {
    const auto [source, at] = Locate(index);
    return source->name(at);
  }
  std::vector<float> Read(int64_t index) const {
    const auto [source, at] = Locate(index);
    std::vector<float> values = source->Read(at);
    const size_t bad = FirstNotFinite(values);
    RSHIFT_REQUIRE(bad == values.size(), ErrorCode::kInvalidInput, source->where(at), ": input '",
                   spec_.name, "': element ", bad, " (at ", Position(bad, spec_.shape), ") is ",
                   values[bad], ", expected finite values; mend or remove the sample");
    return values;
  }
  SampleSource source(int64_t index) const {
    const auto [source, at] = Locate(index);
    auto [paths, place] = source->Places(at);
    return {spec_.name, std::move(paths), place};
  }
  const std::string& input_name() const { return spec_.name; }

 private:
  void Append(std::unique_ptr<Source> source) {
    ends_.push_back(size() + source->size());
    sources_.push_back(std::move(source));
  }
  std::pair<const Source*, int64_t> Locate(int64_t index) const {
    RSHIFT_REQUIRE(index >= 0 && index < size(), ErrorCode::kInternal, "sample ", index, " of ",
                   size());
    const size_t i =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    return {sources_[i].get(), i == 0 ? index : index - ends_[i - 1]};
  }

  InputSpec spec_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<int64_t> ends_;
  std::vector<std::unique_ptr<Source>> items_;  // single samples, until Finish
};

class FeedDataset : public Dataset {
 public:
  explicit FeedDataset(std::vector<InputFeed> feeds) : feeds_(std::move(feeds)) {}
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
  Sample Read(int64_t index) const override {
    Sample sample{name(index), {}};
    for (const InputFeed& feed : feeds_) sample.inputs.push_back(feed.Read(index));
    return sample;
  }

 private:
  std::vector<InputFeed> feeds_;
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

// The preprocessing must outlive the sources that point to its entries.
class OwningDataset : public FeedDataset {
 public:
  OwningDataset(std::vector<InputFeed> feeds,
                std::shared_ptr<const std::optional<Preprocess>> preprocess)
      : FeedDataset(std::move(feeds)), preprocess_(std::move(preprocess)) {}

 private:
  std::shared_ptr<const std::optional<Preprocess>> preprocess_;
};

}  // namespace

std::string ContentSha256(const Sample& sample) {
  std::vector<std::span<const uint8_t>> parts;
  for (const std::vector<float>& values : sample.inputs) {
    parts.emplace_back(reinterpret_cast<const uint8_t*>(values.data()),
                       values.size() * sizeof(float));
  }
  return Sha256HexOfParts(parts);
}

std::unique_ptr<Dataset> OpenDataset(const std::vector<std::string>& paths,
                                     const std::vector<InputSpec>& inputs,
                                     const std::optional<Preprocess>& preprocess) {
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
    RSHIFT_REQUIRE(Exists(path), ErrorCode::kInvalidInput, path, ": no such file or folder");
    std::error_code ignored;
    RSHIFT_REQUIRE(
        HasExtension(path, ".npz") || HasExtension(path, ".txt") || fs::is_directory(path, ignored),
        ErrorCode::kInvalidInput, path, ": the model has several inputs (", InputNames(inputs),
        "); say which one this feeds: NAME=", path);
    for (size_t i = 0; i < inputs.size(); ++i) feeds[i].Add(path, plans[i]);
  }
  for (InputFeed& feed : feeds) {
    feed.Finish();
    RSHIFT_REQUIRE(feed.size() > 0, ErrorCode::kInvalidInput,
                   "the data set has no samples for input '", feed.input_name(), "'; give ",
                   feed.input_name(), "=PATH");
    RSHIFT_REQUIRE(feed.size() == feeds[0].size(), ErrorCode::kInvalidInput, "input '",
                   feed.input_name(), "' has ", feed.size(), " samples, input '",
                   feeds[0].input_name(), "' has ", feeds[0].size(), "; every input needs as many");
  }
  return std::make_unique<OwningDataset>(std::move(feeds), kept);
}

}  // namespace rshift
