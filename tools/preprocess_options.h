// --preprocess and the flags that say the same in short, as every tool has them.
#ifndef RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_
#define RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/data/preprocess.h"
#include "graph/graph.h"

namespace rshift {

// The inputs of a model as data sets know them.
std::vector<InputSpec> InputSpecs(const Graph& graph);

struct PreprocessArguments {
  std::string source;  // a preset's name or a file; "": `recorded` of Resolve
  std::string mean, scale, color, resize, crop;

  // `meaning`: what --preprocess does in this tool. Returns the options, for excludes().
  std::vector<CLI::Option*> AddTo(CLI::App& app, const std::string& meaning);
  bool given() const;
  std::string file() const;  // "" unless `source` is one
  // What the arguments say for a model of these inputs: the preset, the file, or `recorded` (from
  // the table or the program), changed by the flags; flags alone change the preset `raw`. None when
  // there is neither. Its text is what is to be recorded: a file's own where it names
  // its input and no flag changes it.
  std::optional<Preprocess> Resolve(const std::vector<InputSpec>& inputs,
                                    const std::optional<Preprocess>& recorded) const;
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_
