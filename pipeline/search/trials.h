// Candidates of a search, quantized and run.
#ifndef RSHIFT_PIPELINE_SEARCH_TRIALS_H_
#define RSHIFT_PIPELINE_SEARCH_TRIALS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "pipeline/search/candidate.h"
#include "pipeline/search/scores.h"
#include "pipeline/search/state.h"
#include "quantize/options.h"
#include "quantize/set_biases.h"
#include "quantize/set_weights.h"

namespace rshift {

// What is searched, and on what. All of it outlives the search.
struct SearchInput {
  const Graph& floating;  // after RunPasses and Equalize
  const CalibrationTable& table;
  const QuantizeOptions& options;
  const Dataset& samples;
  std::vector<int64_t> labels;  // one for each sample, or none
  int threads = 1;
  std::string identity;    // of the options, for the state
  std::string state_path;  // "" for none
  ProgressFunction progress;
};

// A candidate that was run.
struct Point {
  Candidate candidate;
  Measured measured;
  std::string step;  // why it was tried
};

// Every second sample is for making (weights and biases are measured on these, types are chosen by
// them), the others are for judging; where there are fewer than kLeastToDivide all are both.
inline constexpr int64_t kLeastToDivide = 8;

class Trials {
 public:
  // `most`: evaluations.
  Trials(const SearchInput& input, std::optional<int64_t> most);

  // nullptr when there are no evaluations left. A candidate is run once; the pointer stays valid.
  const Point* Evaluate(const Candidate& candidate, const std::string& step);
  // The predicted nanoseconds alone: weights and biases do not change them.
  double PredictTime(const Candidate& candidate);
  Graph IntegerGraph(const Candidate& candidate);

  // Counts a pass over some samples that is no candidate; false when none are left.
  bool Spend();
  int64_t evaluations() const { return evaluations_; }
  int64_t measuring_runs() const { return measuring_runs_; }

  const std::vector<OperatorGroup>& groups() const { return groups_; }
  const std::vector<size_t>& making() const { return making_; }
  const std::vector<size_t>& judging() const { return judging_; }
  bool divided() const { return making_ != judging_; }
  const std::vector<const Point*>& points() const { return order_; }
  const SearchInput& input() const { return input_; }
  const Dataset& making_samples() const { return *making_samples_; }
  SearchState& state() { return state_; }

 private:
  struct Integers {
    NodeWeights weights;
    NodeBiases biases;
  };
  // What its weights are measured with.
  Candidate MeasuredFor(Candidate candidate) const;
  // The same number whether they were measured now or before a search was resumed.
  void CountRuns(const Candidate& candidate);
  const NodeWeights& WeightsOf(const Candidate& candidate);
  const Integers& IntegersOf(const Candidate& candidate);
  QuantizeOptions OptionsFor(const std::vector<int>& bits) const;
  Measured CostOf(const Graph& integer) const;

  const SearchInput& input_;
  const std::optional<int64_t> most_;
  std::vector<OperatorGroup> groups_;
  std::vector<size_t> making_, judging_;
  std::unique_ptr<Dataset> making_samples_;
  std::optional<OutputJudge> judge_;  // made when something has to be run
  SearchState state_;
  std::map<std::string, Integers> integers_;
  std::map<std::string, double> times_;  // by KeyOf of the types alone
  std::map<std::string, Point> points_;  // by KeyOf
  std::vector<const Point*> order_;
  std::set<std::string> counted_;  // by KeyOf what was measured for
  int64_t evaluations_ = 0, measuring_runs_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_TRIALS_H_
