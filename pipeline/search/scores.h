// How near the outputs of an integer program are to the float program's, sample by sample.
#ifndef RSHIFT_PIPELINE_SEARCH_SCORES_H_
#define RSHIFT_PIPELINE_SEARCH_SCORES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/box_agreement.h"
#include "pipeline/output_compare.h"

namespace rshift {

// Of one sample. Products of the outputs' numbers, by judged tensor (output_quality.h): found *
// found, wanted * wanted, found * wanted.
struct SampleScore {
  double decibels = 0;                          // OutputDecibels, the mean of the tensors
  int64_t rows = 0, agree = 0;                  // of the first output of classes: same class
  int64_t labelled = 0;                         // rows that have a label
  int64_t right = 0, float_right = 0;           // of them: those with its class
  std::vector<double> found, wanted, products;  // by tensor
  BoxAgreement boxes;                           // of a program that ends in boxes
  bool operator==(const SampleScore&) const = default;
};

// Over several samples.
struct ScoreFigures {
  double decibels = 0, error = 0;  // mean, and its standard error
  double cosine = 1;               // of the tensor with the lowest
  bool classes = false;
  double agree_percent = 100;
  bool labelled = false;
  double top1_percent = 100, float_top1_percent = 100;
  std::optional<BoxAgreement> boxes;  // of a program that ends in boxes
};
// `places`: indices of `scores`. Boxes are given where either program has found one.
ScoreFigures FiguresOf(std::span<const SampleScore> scores, std::span<const size_t> places);
std::vector<double> DecibelsOf(std::span<const SampleScore> scores, std::span<const size_t> places);

// Runs the float program once, then integer ones. What it is given must outlive it. Threads change
// nothing: every sample is one thread's work.
class OutputJudge {
 public:
  // `labels`: one for each sample, or none.
  OutputJudge(const Graph& floating, const Dataset& samples, std::vector<int64_t> labels,
              int threads, const ProgressFunction& progress);
  // `integer`: as a program is compiled from.
  std::vector<SampleScore> Score(const Graph& integer) const;

 private:
  SampleScore ScoreOf(size_t sample, const std::vector<std::vector<float>>& found) const;
  void CountClasses(size_t sample, const std::vector<std::vector<float>>& found,
                    SampleScore* score) const;

  const Dataset& samples_;
  const std::vector<int64_t> labels_;
  const int threads_;
  const ProgressFunction& progress_;
  std::vector<std::string> judged_;
  std::vector<OutputValues> wanted_;
  int classes_ = -1;  // the first judged tensor that has one number for each class
  std::vector<std::vector<Box>> wanted_boxes_;  // by sample; none where it ends otherwise
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SCORES_H_
