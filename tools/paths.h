// The files a run reads and writes, checked against each other before any work.
#ifndef RSHIFT_TOOLS_PATHS_H_
#define RSHIFT_TOOLS_PATHS_H_

#include <string>
#include <vector>

namespace rshift {

struct NamedPath {
  std::string option, path;  // "--report", "net.html"; an empty path: the option is not given
};

// Every file that the options of one run name. tests/e2e/test_paths.py walks over the options of
// each tool: one that is missing here fails there.
struct RunPaths {
  std::vector<NamedPath> inputs = {};   // each one file
  std::vector<NamedPath> data = {};     // what OpenDataset takes: files, folders, lists
  std::vector<NamedPath> outputs = {};  // each one file

  // Adds "X" or "NAME=X" of a repeatable option.
  void AddInputs(const std::string& option, const std::vector<std::string>& texts);
  void AddData(const std::string& option, const std::vector<std::string>& texts);
  // The paths of `outputs`, for ImportOptions::outputs.
  std::vector<std::string> OutputFiles() const;
};

// Throws UsageError for "-" as the name of an output: nothing is written to the standard output,
// and a file of that name is hardly meant. CheckPaths asks it; folders ask it themselves.
void CheckOutputName(const NamedPath& output);

// Throws UsageError when an output is the same file as an input, a sample of a data set or another
// output, however each is spelled or linked; then kIo when an output cannot be written.
void CheckPaths(const RunPaths& paths);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PATHS_H_
