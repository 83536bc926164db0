#include "pipeline/first_norm.h"

#include <algorithm>
#include <cmath>

#include "calibrate/fill_inputs.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/passes/passes.h"
#include "runtime/tensor_values.h"

namespace rshift {

Program CompileTrial(const Graph& model) {
  return Program::FromBytes(WriteContainer(Compile(RunPasses(model))), "float program",
                            Limits::None());
}

std::vector<float> RunTrial(const Program& program, Session& session, const Sample& sample) {
  FillInputs(program, session, sample);
  session.Run();
  return OnnxFloats(program.image().tensors[program.image().outputs[0].tensor], session.Output(0));
}

std::vector<InputSpec> FirstNorm::Inputs() const {
  std::vector<InputSpec> specs;
  for (const ValueId id : graph.inputs)
    specs.push_back({graph.value(id).name, graph.value(id).shape});
  return specs;
}

std::optional<FirstNorm> FindFirstNorm(const Graph& model) {
  const std::vector<NodeId> producers = model.Producers();
  for (const Node& node : model.nodes()) {
    if (!std::holds_alternative<BatchNorm>(node.op)) continue;
    const NodeId conv = producers[node.inputs[0].index()];
    if (!conv.valid() || !std::holds_alternative<Conv>(model.node(conv).op)) continue;
    const ValueId read = model.node(conv).inputs[0];
    if (std::find(model.inputs.begin(), model.inputs.end(), read) == model.inputs.end()) continue;
    const Value &mean = model.value(node.inputs[3]), &variance = model.value(node.inputs[4]);
    if (!mean.is_constant() || !variance.is_constant()) return std::nullopt;
    const auto means = mean.constant->As<float>(), variances = variance.constant->As<float>();
    FirstNorm norm{model, {means.begin(), means.end()}, {variances.begin(), variances.end()}};
    norm.graph.outputs = {node.inputs[0]};
    norm.graph.output_names = {model.value(node.inputs[0]).name};
    norm.graph.RemoveUnused();
    return norm;
  }
  return std::nullopt;
}

NormTrial::NormTrial(const FirstNorm& norm, int threads)
    : norm_(norm),
      program_(CompileTrial(norm.graph)),
      session_(program_, {.threads = std::max(1, threads)}) {}

void NormTrial::Add(const Sample& sample) {
  const std::vector<float> values = RunTrial(program_, session_, sample);
  const Shape shape = OnnxShape(program_.image().tensors[program_.image().outputs[0].tensor]);
  const auto channels = static_cast<size_t>(shape[1]);
  const size_t inner = values.size() / static_cast<size_t>(shape[0]) / channels;
  sum_.resize(channels);
  squares_.resize(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    sum_[i / inner % channels] += v;
    squares_[i / inner % channels] += v * v;
  }
  count_ += static_cast<double>(values.size() / channels);
}

double NormTrial::Distance() {
  constexpr double kLeast = 1e-12;
  double distance = 0;
  for (size_t c = 0; c < sum_.size(); ++c) {
    const double mean = sum_[c] / count_;
    const double variance = std::max(kLeast, squares_[c] / count_ - mean * mean);
    const double trained = std::max<double>(kLeast, norm_.variance[c]);
    distance += std::min(10.0, std::fabs(mean - norm_.mean[c]) / std::sqrt(trained)) +
                std::min(10.0, std::fabs(0.5 * std::log(variance / trained)));
  }
  const auto channels = static_cast<double>(sum_.size());
  sum_.clear();
  squares_.clear();
  count_ = 0;
  return distance / channels;
}

}  // namespace rshift
