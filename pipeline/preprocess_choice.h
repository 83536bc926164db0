// How pixels become the inputs of a model, as a caller says it.
#ifndef RSHIFT_PIPELINE_PREPROCESS_CHOICE_H_
#define RSHIFT_PIPELINE_PREPROCESS_CHOICE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/data/preprocess.h"
#include "graph/graph.h"

namespace rshift {

// The inputs of a model as data sets know them.
std::vector<InputSpec> InputSpecs(const Graph& graph);

// Whether the first, middle or last sample of the data set that `open` gives depends on the
// preprocessing: arrays are taken as they are.
bool PreparesSamples(const std::function<std::unique_ptr<Dataset>(const Preprocess&)>& open,
                     const Preprocess& preprocess);

// A preset or a file, and changes of it, in the words of the options of these names. All empty:
// nothing is chosen.
struct PreprocessChoice {
  std::string source;  // a preset's name or a file; "": `recorded` of Resolve
  std::string mean, scale, color, resize, crop;

  bool given() const;
  std::string file() const;  // "" unless `source` is one
  // What is chosen for a model of these inputs: the preset, the file, or `recorded` (from the table
  // or the program), changed by the other fields; they alone change the preset `raw`. None when
  // there is neither. Its text is what is to be recorded: a file's own where it names its input and
  // nothing changes it. Throws UsageError for words that cannot be read, kInvalidInput for a file.
  std::optional<Preprocess> Resolve(const std::vector<InputSpec>& inputs,
                                    const std::optional<Preprocess>& recorded) const;
  // What the caller should know of a preset that stretches or crops; "" for nothing, and where
  // `resize` or `crop` says what is wanted.
  std::string Note(const std::vector<InputSpec>& inputs) const;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PREPROCESS_CHOICE_H_
