// model_runner's way from --input / --dataset arguments to the program's inputs, and from its
// outputs to files.
#ifndef RSHIFT_TOOLS_RUNNER_DATA_H_
#define RSHIFT_TOOLS_RUNNER_DATA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/fill_inputs.h"
#include "pipeline/preprocess_choice.h"
#include "runtime/runtime.h"

namespace rshift {

// The preprocessing that is chosen, by default the one recorded in the program.
std::optional<Preprocess> ProgramPreprocess(const Program& program,
                                            const PreprocessChoice& preprocess);
// Opens `paths` with it.
std::unique_ptr<Dataset> OpenProgramDataset(const Program& program,
                                            const std::vector<std::string>& paths,
                                            const std::optional<Preprocess>& preprocess);

// How many images one inference takes: the first dimension that all inputs and outputs have in
// common, in ONNX order; 1 when they have none.
int64_t BatchOf(const ProgramImage& image);

// Collects tensors over samples, stacked along the first dimension, for one .npz file.
class ArrayCollector {
 public:
  void Add(const NumpyArray& array);
  std::vector<NumpyArray> Take();

 private:
  std::vector<NumpyArray> arrays_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_RUNNER_DATA_H_
