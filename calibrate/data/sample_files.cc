#include "calibrate/data/sample_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "calibrate/data/text_lines.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

class FolderWalk {
 public:
  // `prefix`: of the names of what is in `folder`.
  void Enter(const fs::path& folder, const std::string& prefix) {
    std::error_code error;
    const std::string real = fs::canonical(folder, error).string();
    if (!error && !open_.insert(real).second) return;  // a link back to where we come from
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with('.')) continue;
      std::error_code ignored;
      if (at->is_directory(ignored)) {
        Enter(at->path(), prefix + name + "/");
      } else if (IsSampleFile(name) && at->is_regular_file(ignored)) {
        files_.push_back({at->path().string(), prefix + name});
      }
    }
    RSHIFT_REQUIRE(!error, ErrorCode::kIo, folder.string(),
                   ": cannot list the folder: ", error.message());
    open_.erase(real);
  }

  std::vector<SampleFile> Take() { return std::move(files_); }

 private:
  std::vector<SampleFile> files_;
  std::set<std::string> open_;  // the folders from the root to here, links followed
};

// The names of the folders right in `folder`, sorted.
std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with('.') && at->is_directory(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

SampleFiles FolderFiles(const std::string& folder) {
  FolderWalk walk;
  walk.Enter(folder, "");
  SampleFiles found{walk.Take(), FoldersIn(folder)};
  std::vector<SampleFile>& files = found.files;
  RSHIFT_REQUIRE(!files.empty(), ErrorCode::kInvalidInput, folder,
                 ": the data set is empty: neither the folder nor those within it hold images, "
                 ".wav, .npy or .npz files; tar shards are given as '",
                 folder, folder.ends_with('/') ? "" : "/", "*.tar'");
  std::sort(files.begin(), files.end(),
            [](const SampleFile& a, const SampleFile& b) { return a.name < b.name; });
  return found;
}

std::vector<MatchedPart> MatchedFiles(const PathMatches& matches) {
  const std::vector<std::string> folders = FoldersIn(matches.root.empty() ? "." : matches.root);
  std::vector<MatchedPart> parts;
  const auto files = [&]() -> std::vector<SampleFile>& {
    if (parts.empty() || !parts.back().path.empty()) parts.push_back({"", {{}, folders}});
    return parts.back().files.files;
  };
  for (const std::string& path : matches.paths) {
    const std::string name = path.substr(matches.root.size());
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      for (SampleFile& file : FolderFiles(path).files)
        files().push_back({std::move(file.path), name + "/" + file.name});
    } else if (IsImageFile(path) || IsSoundFile(path)) {
      files().push_back({path, name});
    } else {
      parts.push_back({path});
    }
  }
  return parts;
}

SampleFiles ListFiles(const std::string& list) {
  std::vector<SampleFile> files;
  for (const auto& [number, line] : ReadLines(list)) {
    const std::string path = (fs::path(list).parent_path() / line).string();
    std::error_code ignored;
    RSHIFT_REQUIRE(fs::is_regular_file(path, ignored), ErrorCode::kInvalidInput, list, ":", number,
                   ": no such file: ", path, " (paths are relative to the list)");
    RSHIFT_REQUIRE(IsSampleFile(path), ErrorCode::kInvalidInput, list, ":", number, ": '", line,
                   "' is neither an image nor .wav nor .npy nor .npz by its extension");
    files.push_back({path, line});
  }
  RSHIFT_REQUIRE(!files.empty(), ErrorCode::kInvalidInput, list,
                 ": the data set is empty: the list names no files");
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const SampleFile& file : files) names.push_back(file.name);
  const size_t shared = CommonFolderLength(names);
  for (SampleFile& file : files) file.name.erase(0, shared);
  return {std::move(files)};
}

}  // namespace rshift
