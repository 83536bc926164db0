// What a user of a program sees of it: its outputs, beside those of the float program.
#ifndef RSHIFT_PIPELINE_OUTPUT_COMPARE_H_
#define RSHIFT_PIPELINE_OUTPUT_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/channel_error.h"
#include "pipeline/compare.h"
#include "runtime/runtime.h"

namespace rshift {

// Real values of one output for every sample, in ONNX order.
struct OutputValues {
  std::string name;
  DType dtype = DType::kF32;                // F32 for all that measures, of 16 bits, too
  Shape shape;                              // ONNX order
  std::vector<std::vector<float>> samples;  // one per sample
  // The largest magnitude that the function which makes it gives, whatever the data; 0: not known.
  float bound = 0;
  bool scores = false;  // ComparedTensor's
};

// A tensor by which programs are compared: an output, read after the run (command -1). Where the
// data decide how large outputs are, the floats that decide, too, while their command runs: a box
// more or less moves all those behind it.
struct ComparedTensor {
  std::string name;
  int32_t tensor = 0;
  int command = -1;
  // Scores that NonMaxSuppression reads: of a class that no picture shows they are next to nothing.
  bool scores = false;
};
std::vector<ComparedTensor> ComparedTensors(const Program& program);
// One for each, without samples.
std::vector<OutputValues> EmptyValues(const Program& program,
                                      const std::vector<ComparedTensor>& compared);

// Runs every sample; one entry per compared tensor. `portable`: SessionOptions'.
std::vector<OutputValues> RunOutputs(const Program& program, const Dataset& samples, int threads,
                                     bool portable = false);

// Sets the bounds of outputs of the float program that a Sigmoid, a Softmax or the like makes.
// `floating`: its graph.
void SetBounds(const Graph& floating, std::vector<OutputValues>& reference);

// One output over all samples.
struct OutputResult {
  std::string name;
  Similarity similarity;
  ChannelSqnr channels;
  bool floating = true;  // else integers (ArgMax, ...): equal_percent says it all
  double equal_percent = 100;
  // One number for each class ([N, C] or [N, C, 1, 1], or [N, T, C] where the float program's rows
  // are probabilities; three classes or more): rows whose largest value is at the same place, and
  // rows where the float program has both places almost equal (within a tenth of the row's range).
  bool classes = false;
  int64_t rows = 0, rows_agree = 0, rows_tied = 0;
  int64_t rows_wrong() const { return rows - rows_agree - rows_tied; }
  // The integer program gives one and the same number everywhere, the float program does not.
  bool constant = false;
  bool scores = false;  // ComparedTensor's: channels without an object do not count
  // No number is further than bound / 127, a step of 8 bits, from the float program's, though all
  // of them may be so small (no object on the pictures) that their SQNR says nothing.
  bool within_step = false;
  // The samples do not say what it is worth: whatever differs between the numbers is lost.
  bool untold() const { return within_step && !(similarity.sqnr_db > kUntoldDb); }
  static constexpr double kUntoldDb = 3;
};
// `found`: under test; both from the same samples.
std::vector<OutputResult> CompareOutputs(const std::vector<OutputValues>& found,
                                         const std::vector<OutputValues>& reference);

// Quality of outputs that are equal, or of which every number is within a step.
inline constexpr double kNothingLostDb = 200;
// Whether the samples say what any of the outputs is worth.
bool IsTold(const std::vector<OutputResult>& outputs);
// What the outputs are worth, in dB: the lowest, of every output's SQNR and, unless it is one
// number for each class or the scores of boxes, of its channels' median. Integers count by the
// share that is equal; what is within a step does not count, unless there is no other and it is
// untold.
double Quality(const std::vector<OutputResult>& outputs);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_OUTPUT_COMPARE_H_
