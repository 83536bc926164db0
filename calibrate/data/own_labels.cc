// Labels that a data set has in itself: class folders, .cls in tar shards.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "calibrate/data/dataset.h"

namespace rshift {
namespace {

constexpr size_t kShownClasses = 3;

std::string Listed(const std::map<std::string, int64_t>& classes) {
  std::string text;
  size_t shown = 0;
  for (const auto& [folder, label] : classes) {
    if (++shown > kShownClasses) return text + " ...";
    text += Cat(shown == 1 ? "" : ", ", folder, " = ", label);
  }
  return text;
}

// Folders by a file of names: the line of each. Empty where not one folder is a name.
std::map<std::string, int64_t> ClassesByName(const std::vector<std::string>& folders,
                                             const std::string& path) {
  const std::vector<std::string> names = ReadClassNames(path);
  std::map<std::string, int64_t> by_name, classes;
  for (size_t i = 0; i < names.size(); ++i) by_name.try_emplace(names[i], static_cast<int64_t>(i));
  std::string missing;
  for (const std::string& folder : folders) {
    const auto found = by_name.find(folder);
    if (found != by_name.end())
      classes.emplace(folder, found->second);
    else
      missing = folder;
  }
  RSHIFT_REQUIRE(classes.empty() || missing.empty(), ErrorCode::kInvalidInput, path,
                 ": has no class '", missing, "', the name of a folder of the data set, and has '",
                 classes.empty() ? "" : classes.begin()->first,
                 "', that of another; add the missing name, or remove the folder");
  return classes;
}

std::map<std::string, int64_t> ClassesOf(const Dataset& dataset, const LabelOptions& options,
                                         const std::set<std::string>& used) {
  const std::vector<std::string> used_folders(used.begin(), used.end());
  std::map<std::string, int64_t> classes;
  if (!options.names.empty()) classes = ClassesByName(used_folders, options.names);
  const bool by_name = !classes.empty();
  for (const std::string& folder : by_name ? std::vector<std::string>{} : dataset.ClassFolders()) {
    RSHIFT_REQUIRE(used.contains(folder), ErrorCode::kInvalidInput, "class folder '", folder,
                   "' of the data set holds no samples: whether the classes behind it count from "
                   "it is unknown; fill it, or remove it");
    classes.emplace(folder, static_cast<int64_t>(classes.size()));
  }
  if (options.note) {
    options.note(
        Cat("labels of ", classes.size(), " class folders, ",
            by_name ? "as " + options.names + " has them: " : "sorted: ", Listed(classes)));
  }
  return classes;
}

}  // namespace

std::vector<std::string> ReadClassNames(const std::string& path) {
  std::istringstream text(ReadSmallText(path));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    names.push_back(line);
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

std::vector<int64_t> OwnLabels(const Dataset& dataset, const LabelOptions& options) {
  std::vector<OwnClass> found;
  std::set<std::string> folders;
  bool numbers = false;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const std::vector<OwnClass> own = dataset.Classes(i);
    RSHIFT_REQUIRE(static_cast<int64_t>(own.size()) == options.batch &&
                       std::all_of(own.begin(), own.end(),
                                   [](const OwnClass& one) {
                                     return one.number.has_value() || !one.folder.empty();
                                   }),
                   ErrorCode::kInvalidInput, "--labels ", kOwnLabels, ": sample '", dataset.name(i),
                   "' lies in no class folder and has no .cls beside it in a tar shard; give a "
                   "file of labels");
    for (const OwnClass& one : own) {
      found.push_back(one);
      if (one.number)
        numbers = true;
      else
        folders.insert(one.folder);
    }
  }
  RSHIFT_REQUIRE(!numbers || folders.empty(), ErrorCode::kInvalidInput, "--labels ", kOwnLabels,
                 ": some samples have a number for a class (.cls), others lie in class folders; "
                 "give one kind");
  const std::map<std::string, int64_t> classes =
      numbers ? std::map<std::string, int64_t>{} : ClassesOf(dataset, options, folders);
  std::vector<int64_t> labels;
  labels.reserve(found.size());
  for (const OwnClass& one : found)
    labels.push_back(one.number ? *one.number : classes.at(one.folder));
  return labels;
}

}  // namespace rshift
