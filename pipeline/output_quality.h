// How good the outputs of a network are with one table or another.
#ifndef RSHIFT_PIPELINE_OUTPUT_QUALITY_H_
#define RSHIFT_PIPELINE_OUTPUT_QUALITY_H_

#include <span>
#include <vector>

#include "graph/graph.h"
#include "pipeline/output_compare.h"
#include "pipeline/tensor_choice.h"
#include "quantize/ranges/ranges.h"
#include "quantize/ranges/table.h"

namespace rshift {

// What a Softmax or an ArgMax reads, of an output that it makes: behind the Softmax comes nothing
// but movement, behind the ArgMax movement and Casts. Any other output itself.
ValueId BeforeChoice(const Graph& graph, ValueId output);

// The tensors of a program (CompileObservable, of `graph`) by which it is judged: its outputs but
// for constants, or what a last Softmax or ArgMax reads.
std::vector<std::string> JudgedTensors(const Graph& graph, const Program& program);

// Of one sample of `output`, in dB: squares by squared errors. Of one number for each class, which
// a constant does not change, the deviations from their mean.
double OutputDecibels(const OutputValues& output, std::span<const float> found,
                      std::span<const float> wanted);

// Runs the whole network on the same samples. In place of an output that a Softmax or an ArgMax
// makes it looks at what that reads: probabilities of 0 and 1, and numbers of classes, hide by how
// much numbers are wrong. Everything the constructor is given must outlive it, and hold still.
class OutputQuality {
 public:
  OutputQuality(const Graph& graph, const Dataset& samples, const ChooseRangesOptions& options);
  // Of each sample, in dB: OutputDecibels, the mean of the outputs.
  std::vector<double> Of(const CalibrationTable& table, QuantMode mode) const;
  // Several in parallel.
  std::vector<std::vector<double>> OfAll(const std::vector<CalibrationTable>& tables,
                                         QuantMode mode) const;

 private:
  const Graph graph_;
  const Dataset& samples_;
  const ChooseRangesOptions& options_;
  const std::vector<OutputValues> reference_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_OUTPUT_QUALITY_H_
