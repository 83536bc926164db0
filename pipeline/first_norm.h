// What a model's first BatchNorm has seen in training, and how far from that samples are.
#ifndef RSHIFT_PIPELINE_FIRST_NORM_H_
#define RSHIFT_PIPELINE_FIRST_NORM_H_

#include <optional>
#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "runtime/runtime.h"

namespace rshift {

// A graph as ImportOnnx gives it, before the passes, ready to run in F32.
Program CompileTrial(const Graph& model);
// The first output.
std::vector<float> RunTrial(const Program& program, Session& session, const Sample& sample);

// The model up to its first Conv, and the BatchNorm behind it.
struct FirstNorm {
  Graph graph;
  std::vector<float> mean, variance;
  std::vector<InputSpec> Inputs() const;
};
// Nothing where no BatchNorm reads a Conv of an input.
std::optional<FirstNorm> FindFirstNorm(const Graph& model);

class NormTrial {
 public:
  NormTrial(const FirstNorm& norm, int threads);
  void Add(const Sample& sample);
  // Of the samples since the start or the last call: mean over channels of |m - running mean| /
  // running deviation and |ln(deviation / running deviation)|. 0 would be the training data itself.
  double Distance();

 private:
  const FirstNorm& norm_;
  Program program_;
  Session session_;
  // Sums of the Conv's output, by channel.
  std::vector<double> sum_, squares_;
  double count_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_FIRST_NORM_H_
