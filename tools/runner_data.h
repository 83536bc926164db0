// model_runner's way from --input / --dataset arguments to the program's inputs, and from its
// outputs to files.
#ifndef RSHIFT_TOOLS_RUNNER_DATA_H_
#define RSHIFT_TOOLS_RUNNER_DATA_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/fill_inputs.h"
#include "runtime/runtime.h"
#include "tools/preprocess_options.h"

namespace rshift {

// Opens `paths` with the preprocessing that the arguments say, by default the one recorded in the
// program.
std::unique_ptr<Dataset> OpenProgramDataset(const Program& program,
                                            const std::vector<std::string>& paths,
                                            const PreprocessArguments& arguments);

// When the arena tensors of a program are complete.
struct CompleteTensors {
  std::vector<int32_t> at_start;  // views (Reshape) of inputs; not the inputs themselves
  // For each command, those that are complete once it has run: its destination after its last write
  // (a Concat is written by several commands), and the views of those bytes, which no command
  // writes.
  std::vector<std::vector<int32_t>> after;
};
CompleteTensors CompletedTensors(const ProgramImage& image);

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
