// Deploy's check of the program it has made: runs the samples, judges, and where the verdict
// is not good tries other settings on the same samples.
#ifndef RSHIFT_PIPELINE_CHECK_PROGRAM_H_
#define RSHIFT_PIPELINE_CHECK_PROGRAM_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "pipeline/check_samples.h"
#include "pipeline/verdict.h"
#include "quantize/quantize.h"
#include "quantize/ranges/table.h"

namespace rshift {

// A model and how it was quantized.
struct Deployment {
  // What the model computes, after RunPasses: what outputs are compared with.
  const Graph& model;
  // What `integer` was made from: `model`, or that with other steps of 16-bit integers
  // (pipeline/model_integers.h). Its tensors are compared layer by layer.
  const Graph& floating;
  const Graph& integer;
  const CalibrationTable& table;  // empty for a model with its own parameters
  const QuantizeOptions& options;
  std::span<const uint8_t> bytes;  // the program
  bool clipped_weights = false;    // it has the weights of --weight-clipping
  bool searched = false;           // by --auto
};

struct CheckRequest {
  bool check = true;    // false: layers of the test input at most
  int64_t samples = 4;  // at most
  // Files or samples in memory; none: the samples that the table recorded.
  std::vector<std::string> test_input = {};
  std::vector<Sample> test_samples = {};
  std::string table_path = {};  // "" for a model with its own parameters
  std::string preprocess = {};  // YAML text for the files
  int threads = 1;
  NoteFunction note = {};
  ProgressFunction progress = {};
};

struct CheckResult {
  Verdict verdict;
  // Over all of the test input; else over the first samples (fewer of a large model).
  std::vector<LayerResult> layers;
  int64_t layer_samples = 0;
};

// What to run: the first of the test input, or recorded samples that can still be read.
struct ChosenSamples {
  SampleList samples;
  std::string kind;      // "calibration sample", "test input"
  std::string why_none;  // of an empty list
};
ChosenSamples ChooseSamples(const Deployment& deployment, const CheckRequest& request);

// Writes nothing and changes nothing. Throws for a test input that cannot be read, and what
// `progress` throws; when recorded samples cannot be read, the verdict says so.
CheckResult CheckProgram(const Deployment& deployment, const CheckRequest& request);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHECK_PROGRAM_H_
