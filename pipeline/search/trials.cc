#include "pipeline/search/trials.h"

#include <memory>
#include <utility>

#include "codegen/compile.h"
#include "codegen/passes/passes.h"
#include "graph/sha256.h"
#include "pipeline/weight_choice.h"
#include "quantize/quantize.h"
#include "runtime/cost.h"

namespace rshift {
namespace {

const std::string kRuns = "runs of ";
constexpr double kRunsOfWeights = 4;  // inputs; the float program; the program before and after

// Some samples of another data set.
class SampleSubset : public Dataset {
 public:
  SampleSubset(const Dataset& all, const std::vector<size_t>& places)
      : all_(all), places_(places) {}
  int64_t size() const override { return static_cast<int64_t>(places_.size()); }
  std::string name(int64_t index) const override { return all_.name(At(index)); }
  Sample Read(int64_t index) const override { return all_.Read(At(index)); }

 private:
  int64_t At(int64_t index) const {
    return static_cast<int64_t>(places_.at(static_cast<size_t>(index)));
  }
  const Dataset& all_;
  const std::vector<size_t> places_;
};

std::string TextHash(const std::string& text) {
  return Sha256Hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// Of the options, the samples and the labels.
std::string IdentityOf(const SearchInput& input) {
  std::string text = input.identity;
  for (int64_t s = 0; s < input.samples.size(); ++s) text += ContentSha256(input.samples.Read(s));
  for (const int64_t label : input.labels) text += Cat(" ", label);
  return TextHash(text);
}

}  // namespace

Trials::Trials(const SearchInput& input, std::optional<int64_t> most)
    : input_(input),
      most_(most),
      groups_(GroupOperators(input.floating, input.table, input.options)),
      state_(input.state_path, input.state_path.empty() ? "" : IdentityOf(input)) {
  const bool divide = input.samples.size() >= kLeastToDivide;
  for (int64_t s = 0; s < input.samples.size(); ++s) {
    if (!divide || s % 2 == 0) making_.push_back(static_cast<size_t>(s));
    if (!divide || s % 2 == 1) judging_.push_back(static_cast<size_t>(s));
  }
  making_samples_ = std::make_unique<SampleSubset>(input.samples, making_);
}

bool Trials::Spend() {
  if (most_ && evaluations_ >= *most_) return false;
  ++evaluations_;
  return true;
}

QuantizeOptions Trials::OptionsFor(const std::vector<int>& bits) const {
  QuantizeOptions options = input_.options;
  AddTypes(groups_, bits, &options.config);
  return options;
}

Candidate Trials::MeasuredFor(Candidate candidate) const {
  candidate.bias_correction = BiasCorrectionMode::kOff;
  if (!candidate.measured_as_is) candidate.bits.assign(groups_.size(), 8);
  candidate.measured_as_is = true;
  return candidate;
}

const NodeWeights& Trials::WeightsOf(const Candidate& candidate) {
  const Candidate measured = MeasuredFor(candidate);
  const std::string key = KeyOf(measured);
  if (const auto found = integers_.find(key); found != integers_.end())
    return found->second.weights;
  NodeWeights weights =
      ChooseWeights(input_.floating, input_.table, OptionsFor(measured.bits), *making_samples_,
                    candidate.weights, input_.threads, input_.progress)
          .weights;
  state_.AddNumbers(kRuns + key, {kRunsOfWeights});
  return (integers_[key] = {std::move(weights), {}}).weights;
}

const Trials::Integers& Trials::IntegersOf(const Candidate& candidate) {
  const std::string key = KeyOf(candidate);
  if (const auto found = integers_.find(key); found != integers_.end()) return found->second;
  Integers made;
  if (candidate.weights.any()) made.weights = WeightsOf(candidate);
  if (candidate.bias_correction == BiasCorrectionMode::kOff)
    return integers_[key] = std::move(made);
  BiasCorrection correction = CorrectBiases(
      input_.floating, input_.table, OptionsFor(candidate.bits), *making_samples_,
      candidate.bias_correction, input_.threads, input_.progress, std::move(made.weights));
  state_.AddNumbers(kRuns + key, {static_cast<double>(1 + correction.report.passes)});
  return integers_[key] = {std::move(correction.weights), std::move(correction.biases)};
}

Graph Trials::IntegerGraph(const Candidate& candidate) {
  QuantizeOptions options = OptionsFor(candidate.bits);
  if (!candidate.measures()) {
    return RunTargetPasses(QuantizeGraph(input_.floating, input_.table, options).graph,
                           options.target);
  }
  const Integers& integers = IntegersOf(candidate);
  options.scaled_weights |= !integers.weights.empty();
  const Graph changed = SetBiases(SetWeights(input_.floating, integers.weights), integers.biases);
  return RunTargetPasses(QuantizeGraph(changed, input_.table, options).graph, options.target);
}

Measured Trials::CostOf(const Graph& integer) const {
  Measured measured;
  const ProgramImage image = Compile(integer);
  for (const double ns : EstimateNanoseconds(image, input_.options.target.cost))
    measured.nanoseconds += ns;
  for (const Command& command : image.commands) {
    measured.conversions +=
        command.opcode == Opcode::kRequantize || command.opcode == Opcode::kRequantizeS16 ||
        command.opcode == Opcode::kQuantize || command.opcode == Opcode::kDequantize;
    const int64_t macs = MacCount(image, command);
    if (macs == 0) continue;
    const DType dtype = image.tensors[command.Tensor(Field::kSrc)].dtype;
    (dtype == DType::kF32   ? measured.macs_float
     : dtype == DType::kS16 ? measured.macs_16
                            : measured.macs_8) += macs;
  }
  return measured;
}

double Trials::PredictTime(const Candidate& candidate) {
  const std::string key = KeyOf({.bits = candidate.bits});
  const auto [time, is_new] = times_.try_emplace(key, 0);
  if (is_new) time->second = CostOf(IntegerGraph({.bits = candidate.bits})).nanoseconds;
  return time->second;
}

void Trials::CountRuns(const Candidate& candidate) {
  std::vector<std::string> keys;
  if (candidate.weights.any()) {
    keys.push_back(KeyOf(MeasuredFor(candidate)));
  }
  if (candidate.bias_correction != BiasCorrectionMode::kOff) keys.push_back(KeyOf(candidate));
  for (const std::string& key : keys) {
    const std::vector<double>* runs = state_.FindNumbers(kRuns + key);
    if (runs != nullptr && counted_.insert(key).second)
      measuring_runs_ += static_cast<int64_t>(runs->at(0));
  }
}

const Point* Trials::Evaluate(const Candidate& candidate, const std::string& step) {
  const std::string key = KeyOf(candidate);
  if (const auto found = points_.find(key); found != points_.end()) return &found->second;
  if (!Spend()) return nullptr;
  const Measured* measured = state_.Find(key);
  if (measured == nullptr) {
    if (!judge_)
      judge_.emplace(input_.floating, input_.samples, input_.labels, input_.threads,
                     input_.progress);
    const Graph integer = IntegerGraph(candidate);
    Measured made = CostOf(integer);
    made.scores = judge_->Score(integer);
    measured = &state_.Add(key, std::move(made));
  }
  CountRuns(candidate);
  const Point& point = points_[key] = {candidate, *measured, step};
  order_.push_back(&point);
  return &point;
}

}  // namespace rshift
