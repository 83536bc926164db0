#include "tools/paths.h"

#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "calibrate/data/dataset.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

// "NAME=X" may name the file X or, where NAME holds a '=', the file behind a later one.
void AddNamed(const std::string& option, const std::vector<std::string>& texts,
              std::vector<NamedPath>& paths) {
  for (const std::string& text : texts) {
    paths.push_back({option, text});
    for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
      paths.push_back({option, text.substr(at + 1)});
    }
  }
}

[[noreturn]] void RefuseInput(const NamedPath& output, const NamedPath& input,
                              const std::string& file) {
  throw UsageError(Cat(output.option, " ", output.path, ": is the same file as ", input.option, " ",
                       file, ", which it would overwrite; give the output another name"));
}

// An output that exists, as seen from a folder of samples.
struct ExistingFile {
  std::string name;  // behind links
  bool has_hard_links = false;
};

// Looks closer at those entries only that can be the output: folders of samples are large.
bool MayBe(const fs::directory_entry& entry, const ExistingFile& file) {
  std::error_code ignored;
  return file.has_hard_links || entry.is_symlink(ignored) || entry.path().filename() == file.name;
}

void CheckFolder(const NamedPath& output, const NamedPath& folder) {
  std::error_code error;
  const ExistingFile file{fs::canonical(output.path, error).filename().string(),
                          fs::hard_link_count(output.path, error) > 1};
  const auto options = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator at(folder.path, options, error), end;
  for (; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (MayBe(*at, file) && IsSampleFile(path) && SameFile(output.path, path)) {
      RefuseInput(output, folder, path);
    }
  }
}

void CheckList(const NamedPath& output, const NamedPath& list) {
  std::istringstream lines(ReadTextFile(list.path));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::string path = (fs::path(list.path).parent_path() / line).string();
    if (!line.empty() && SameFile(output.path, path)) RefuseInput(output, list, path);
  }
}

void CheckOneOfData(const NamedPath& output, const NamedPath& data) {
  std::error_code ignored;
  if (SameFile(output.path, data.path)) RefuseInput(output, data, data.path);
  if (!fs::is_regular_file(output.path, ignored)) return;
  if (fs::is_directory(data.path, ignored)) {
    CheckFolder(output, data);
  } else if (data.path.ends_with(".txt") && fs::is_regular_file(data.path, ignored)) {
    CheckList(output, data);
  }
}

// A pattern stands for what it matches.
void CheckData(const NamedPath& output, const NamedPath& data) {
  for (const std::string& path : MatchingPaths(data.path))
    CheckOneOfData(output, {data.option, path});
}

}  // namespace

void RunPaths::AddInputs(const std::string& option, const std::vector<std::string>& texts) {
  AddNamed(option, texts, inputs);
}

void RunPaths::AddData(const std::string& option, const std::vector<std::string>& texts) {
  AddNamed(option, texts, data);
}

std::vector<std::string> RunPaths::OutputFiles() const {
  std::vector<std::string> files;
  for (const NamedPath& output : outputs) {
    if (!output.path.empty()) files.push_back(output.path);
  }
  return files;
}

void CheckOutputName(const NamedPath& output) {
  RequireUsage(output.path != "-", output.option,
               " -: nothing is written to the standard output; give the name of a file or folder "
               "(./- for one of this name)");
}

void CheckPaths(const RunPaths& paths) {
  for (const NamedPath& output : paths.outputs) CheckOutputName(output);
  for (auto output = paths.outputs.begin(); output != paths.outputs.end(); ++output) {
    if (output->path.empty()) continue;
    for (const NamedPath& input : paths.inputs) {
      if (SameFile(output->path, input.path)) RefuseInput(*output, input, input.path);
    }
    for (const NamedPath& data : paths.data) CheckData(*output, data);
    for (auto other = paths.outputs.begin(); other != output; ++other) {
      RequireUsage(!SameFile(output->path, other->path), output->option, " ", output->path,
                   ": is the same file as ", other->option, " ", other->path,
                   "; give each output a name of its own");
    }
  }
  for (const NamedPath& output : paths.outputs) {
    if (!output.path.empty()) CheckWritable(output.path);
  }
}

}  // namespace rshift
