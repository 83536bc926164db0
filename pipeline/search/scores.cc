#include "pipeline/search/scores.h"

#include <algorithm>
#include <cmath>

#include "pipeline/output_quality.h"
#include "pipeline/paired_choice.h"
#include "pipeline/program_pair.h"
#include "pipeline/sample_runs.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

constexpr int64_t kLeastOfClasses = 3;

// [N, C] or [N, C, 1, 1].
bool HasClasses(const OutputValues& output) {
  const Shape& shape = output.shape;
  const bool one = shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1);
  return one && output.dtype == DType::kF32 && shape[1] >= kLeastOfClasses;
}

int64_t PlaceOfLargest(std::span<const float> row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

double CosineOf(double aa, double bb, double ab) {
  if (aa == 0 && bb == 0) return 1;
  const double cosine = ab / std::sqrt(aa * bb);
  return std::isfinite(cosine) ? cosine : 0;
}

}  // namespace

ScoreFigures FiguresOf(std::span<const SampleScore> scores, std::span<const size_t> places) {
  ScoreFigures figures;
  const std::vector<double> decibels = DecibelsOf(scores, places);
  figures.decibels = Mean(decibels);
  figures.error = StandardError(decibels);
  int64_t rows = 0, agree = 0, labelled = 0, right = 0, float_right = 0;
  std::vector<double> found, wanted, products;
  BoxAgreement boxes;
  for (const size_t place : places) {
    const SampleScore& score = scores[place];
    rows += score.rows;
    agree += score.agree;
    labelled += score.labelled;
    right += score.right;
    float_right += score.float_right;
    boxes.Add(score.boxes);
    found.resize(score.found.size());
    wanted.resize(score.found.size());
    products.resize(score.found.size());
    for (size_t t = 0; t < found.size(); ++t) {
      found[t] += score.found[t];
      wanted[t] += score.wanted[t];
      products[t] += score.products[t];
    }
  }
  for (size_t t = 0; t < found.size(); ++t)
    figures.cosine = std::min(figures.cosine, CosineOf(found[t], wanted[t], products[t]));
  figures.classes = rows > 0;
  figures.agree_percent = Percent(agree, rows);
  figures.labelled = labelled > 0;
  figures.top1_percent = Percent(right, labelled);
  figures.float_top1_percent = Percent(float_right, labelled);
  if (boxes.wanted + boxes.found > 0) figures.boxes = boxes;
  return figures;
}

std::vector<double> DecibelsOf(std::span<const SampleScore> scores,
                               std::span<const size_t> places) {
  std::vector<double> decibels;
  decibels.reserve(places.size());
  for (const size_t place : places) decibels.push_back(scores[place].decibels);
  return decibels;
}

OutputJudge::OutputJudge(const Graph& floating, const Dataset& samples, std::vector<int64_t> labels,
                         int threads, const ProgressFunction& progress)
    : samples_(samples), labels_(std::move(labels)), threads_(threads), progress_(progress) {
  const Program program = CompileObservable(floating, "float program");
  judged_ = JudgedTensors(floating, program);
  const std::vector<int32_t> tensors = TensorPlaces(program, judged_);
  for (const int32_t tensor : tensors) {
    const TensorRecord& record = program.image().tensors[tensor];
    wanted_.push_back({record.name, record.dtype, OnnxShape(record), {}});
    wanted_.back().samples.resize(static_cast<size_t>(samples.size()));
    if (classes_ < 0 && HasClasses(wanted_.back())) classes_ = static_cast<int>(wanted_.size()) - 1;
  }
  const auto boxes = FindBoxOutputs(program);
  if (boxes) wanted_boxes_.resize(static_cast<size_t>(samples.size()));
  RunOnSamples(program, samples, threads, "float program", progress,
               [&](const Session& session, size_t s) {
                 if (boxes) wanted_boxes_[s] = ReadBoxes(program, session, *boxes);
                 for (size_t t = 0; t < tensors.size(); ++t)
                   wanted_[t].samples[s] =
                       OnnxFloats(program.image().tensors[tensors[t]], session.Tensor(tensors[t]));
               });
}

std::vector<SampleScore> OutputJudge::Score(const Graph& integer) const {
  const Program program = CompileObservable(integer, "trial program");
  const std::vector<int32_t> tensors = TensorPlaces(program, judged_);
  std::vector<SampleScore> scores(static_cast<size_t>(samples_.size()));
  const auto boxes = FindBoxOutputs(program);
  RunOnSamples(
      program, samples_, threads_, "trial", nullptr, [&](const Session& session, size_t s) {
        std::vector<std::vector<float>> found;
        found.reserve(tensors.size());
        for (const int32_t tensor : tensors)
          found.push_back(OnnxFloats(program.image().tensors[tensor], session.Tensor(tensor)));
        scores[s] = ScoreOf(s, found);
        if (boxes)
          scores[s].boxes = MatchBoxes(ReadBoxes(program, session, *boxes), wanted_boxes_[s]);
      });
  return scores;
}

SampleScore OutputJudge::ScoreOf(size_t sample,
                                 const std::vector<std::vector<float>>& found) const {
  SampleScore score;
  for (size_t t = 0; t < found.size(); ++t) {
    const std::vector<float>& wanted = wanted_[t].samples[sample];
    score.decibels +=
        OutputDecibels(wanted_[t], found[t], wanted) / static_cast<double>(found.size());
    double aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double a = found[t][i], b = wanted[i];
      aa += a * a;
      bb += b * b;
      ab += a * b;
    }
    score.found.push_back(aa);
    score.wanted.push_back(bb);
    score.products.push_back(ab);
  }
  if (classes_ >= 0) CountClasses(sample, found, &score);
  return score;
}

void OutputJudge::CountClasses(size_t sample, const std::vector<std::vector<float>>& found,
                               SampleScore* score) const {
  const auto of = static_cast<size_t>(classes_);
  const std::span<const float> ours = found[of], theirs = wanted_[of].samples[sample];
  const auto length = static_cast<size_t>(wanted_[of].shape[1]);
  for (size_t at = 0; at + length <= theirs.size(); at += length) {
    const int64_t a = PlaceOfLargest(ours.subspan(at, length)),
                  b = PlaceOfLargest(theirs.subspan(at, length));
    ++score->rows;
    score->agree += a == b ? 1 : 0;
    if (labels_.empty()) continue;
    const int64_t label = labels_[sample * (theirs.size() / length) + at / length];
    ++score->labelled;
    score->right += a == label ? 1 : 0;
    score->float_right += b == label ? 1 : 0;
  }
}

}  // namespace rshift
