#include "calibrate/data/input_feed.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "calibrate/data/batch_source.h"
#include "calibrate/data/finite.h"
#include "calibrate/data/path_patterns.h"
#include "calibrate/data/regular_file.h"
#include "calibrate/data/sample_files.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Source> OpenFile(const std::string& path, const InputPlan& plan) {
  if (HasExtension(path, ".txt")) return FileSource(ListFiles(path), plan);
  if (HasExtension(path, ".npy")) return NpySource(path, plan);
  if (HasExtension(path, ".npz")) return NpzSource(path, plan);
  if (HasExtension(path, ".tar")) return TarSource(path, plan);
  if (IsImageFile(path) || IsSoundFile(path)) return FileSource({{{path, FileName(path)}}}, plan);
  if (LooksLikeIdx(path)) return IdxSource(ReadIdx(path), path, plan);
  const bool packed =
      HasExtension(path, ".tgz") || FileName(path).find(".tar.") != std::string::npos;
  Fail(ErrorCode::kInvalidInput, path,
       packed ? ": is a packed tar file, shards are read in place: unpack it to a .tar (gunzip)"
              : ": unknown kind of data set, expected an image, a .wav, a folder, a pattern in "
                "quotes, .txt, .npy, .npz, .tar or idx-ubyte (.gz)");
}

std::unique_ptr<Source> OpenPath(const std::string& path, const InputPlan& plan) {
  std::error_code ignored;
  RSHIFT_REQUIRE(fs::exists(path, ignored), ErrorCode::kInvalidInput, path,
                 ": no such file or folder");
  if (fs::is_directory(path, ignored)) return FileSource(FolderFiles(path), plan);
  RegularFileSize(path);  // refuses devices and pipes
  std::unique_ptr<Source> source = OpenFile(path, plan);
  RSHIFT_REQUIRE(source->size() > 0, ErrorCode::kInvalidInput, path, ": the data set is empty");
  return source;
}

using OpenFunction = InputFeed::OpenFunction;

// A source whose samples have the input's shape; with a static batch also one of single samples:
// then `items` is true. `arrays`: its file is .npy or .npz.
std::unique_ptr<Source> OpenSource(const OpenFunction& open, const InputPlan& plan, bool arrays,
                                   bool& items) {
  items = false;
  if (BatchOf(plan.spec) == 1) return open(plan);
  try {
    std::unique_ptr<Source> whole = open(plan);
    whole->Read(0);
    return whole;
  } catch (const Error&) {
    try {
      std::unique_ptr<Source> single = open(OfOneSample(plan));
      single->Read(0);
      items = true;
      return single;
    } catch (const Error&) {
      if (!arrays) throw;
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

}  // namespace

void InputFeed::Add(const std::string& path, const InputPlan& plan) {
  const PathMatches matches = MatchPaths(path);
  if (!matches.is_pattern) return AddPath(path, plan);
  for (const MatchedPart& part : MatchedFiles(matches)) {
    if (part.path.empty())
      AddSource([&](const InputPlan& p) { return FileSource(part.files, p); }, plan, false);
    else
      AddPath(part.path, plan);
  }
}

void InputFeed::AddPath(const std::string& path, const InputPlan& plan) {
  AddSource([&](const InputPlan& p) { return OpenPath(path, p); }, plan,
            HasExtension(path, ".npy") || HasExtension(path, ".npz"));
}

void InputFeed::AddSource(const OpenFunction& open, const InputPlan& plan, bool arrays) {
  bool is_items = false;
  std::unique_ptr<Source> source = OpenSource(open, plan, arrays, is_items);
  if (is_items)
    items_.push_back(std::move(source));
  else
    Append(std::move(source));
}

void InputFeed::Finish(const NoteFunction& note) {
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
  if (count % batch != 0 && note) {
    note(Cat("input '", spec_.name, "' takes ", batch, " samples at once; the last ", count % batch,
             " of ", count, " are left over and not used"));
  }
  Append(BatchSource(std::move(items_), batch));
}

std::string InputFeed::name(int64_t index) const {
  const auto [source, at] = Locate(index);
  return source->name(at);
}

std::vector<float> InputFeed::Read(int64_t index) const {
  const auto [source, at] = Locate(index);
  std::vector<float> values = source->Read(at);
  const size_t bad = FirstRefused(values, spec_.masks);
  RSHIFT_REQUIRE(bad == values.size(), ErrorCode::kInvalidInput, source->where(at), ": input '",
                 spec_.name, "': element ", bad, " (at ", Position(bad, spec_.shape), ") is ",
                 values[bad], ", expected finite values; mend or remove the sample");
  return values;
}

std::string InputFeed::StoredSha256(int64_t index) const {
  const auto [source, at] = Locate(index);
  return source->StoredSha256(at);
}

std::vector<OwnClass> InputFeed::Classes(int64_t index) const {
  const auto [source, at] = Locate(index);
  return source->Classes(at);
}

std::vector<std::string> InputFeed::ClassFolders() const {
  std::set<std::string> all;
  for (const auto& source : sources_) {
    const std::vector<std::string> folders = source->ClassFolders();
    all.insert(folders.begin(), folders.end());
  }
  return {all.begin(), all.end()};
}

SampleSource InputFeed::source(int64_t index) const {
  const auto [source, at] = Locate(index);
  auto [paths, place] = source->Places(at);
  return {spec_.name, std::move(paths), place};
}

void InputFeed::Append(std::unique_ptr<Source> source) {
  ends_.push_back(size() + source->size());
  sources_.push_back(std::move(source));
}

std::pair<const Source*, int64_t> InputFeed::Locate(int64_t index) const {
  RSHIFT_REQUIRE(index >= 0 && index < size(), ErrorCode::kInternal, "sample ", index, " of ",
                 size());
  const size_t i =
      static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  return {sources_[i].get(), i == 0 ? index : index - ends_[i - 1]};
}

}  // namespace rshift
