// Which tensor of a compiled program to look at after which command. Not for use outside calibrate/
// and its tests.
#ifndef RSHIFT_CALIBRATE_OBSERVATION_H_
#define RSHIFT_CALIBRATE_OBSERVATION_H_

#include <optional>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "codegen/container/image.h"
#include "graph/graph.h"

namespace rshift {

struct Observation {
  int tensor = 0;     // of the program
  int statistic = 0;  // index into ObservationPlan::names
};

// A tensor that holds the elements of others, each as often: their statistics are its own. Sources
// are observed, never derived.
struct DerivedStatistic {
  int statistic = 0;
  std::vector<int> sources;  // at most 64; Concat may name one twice
};

struct ObservationPlan {
  std::vector<std::string> names;               // CalibratedValues(graph), in graph order
  std::vector<InfinityRule> rules;              // by statistic
  std::vector<Observation> before;              // complete once the inputs are filled
  std::vector<std::vector<Observation>> after;  // by command: complete once it has run
  std::vector<DerivedStatistic> derived;  // Reshape, Transpose, Concat ... of observed tensors
};

// Where a tensor of the graph is in the program, and the command after which all of it is there;
// -1: an input. Nothing when the program has no such f32 tensor.
struct CompleteTensor {
  int tensor = 0;
  int command = 0;
};
std::optional<CompleteTensor> FindComplete(const ProgramImage& image, const std::string& name);

// `image`: the graph compiled for observation. A tensor that several commands write (parts of a
// Concat) is complete after the last of them; its memory may be used again by later commands.
// Throws kInternal when a value is missing.
ObservationPlan PlanObservation(const Graph& graph, const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_OBSERVATION_H_
