// model_runner's way from --input / --dataset arguments to the program's inputs, and from its
// outputs to files.
#ifndef RSHIFT_TOOLS_RUNNER_DATA_H_
#define RSHIFT_TOOLS_RUNNER_DATA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/fill_inputs.h"
#include "pipeline/preprocess_choice.h"
#include "runtime/runtime.h"
#include "tools/carry.h"

namespace rshift {

// The preprocessing that is chosen, by default the one recorded in the program.
std::optional<Preprocess> ProgramPreprocess(const Program& program,
                                            const PreprocessChoice& preprocess);
// Opens `paths` with it, for all inputs but the carried ones.
std::unique_ptr<Dataset> OpenProgramDataset(const Program& program,
                                            const std::vector<std::string>& paths,
                                            const std::optional<Preprocess>& preprocess,
                                            const std::vector<CarriedInput>& carried = {});

// Some samples of another data set, which outlives it.
class SomeSamples : public Dataset {
 public:
  SomeSamples(const Dataset& dataset, std::vector<int64_t> samples)
      : dataset_(dataset), samples_(std::move(samples)) {}
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  std::string name(int64_t index) const override { return dataset_.name(at(index)); }
  std::vector<SampleSource> sources(int64_t index) const override {
    return dataset_.sources(at(index));
  }
  Sample Read(int64_t index) const override { return dataset_.Read(at(index)); }
  int64_t at(int64_t index) const { return samples_.at(static_cast<size_t>(index)); }

 private:
  const Dataset& dataset_;
  std::vector<int64_t> samples_;
};

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
