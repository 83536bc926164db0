#include "pipeline/consumer_error.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "pipeline/paired_choice.h"
#include "quantize/quantize.h"

namespace rshift {
namespace {

Program CompileConsumers(const Graph& consumers, const CalibrationTable& table, QuantMode mode) {
  QuantizeOptions options;
  options.mode = mode;
  const QuantizeResult quantized = QuantizeGraph(consumers, table, options);
  const Graph graph = RunTargetPasses(quantized.graph, options.target);
  return Program::FromBytes(WriteContainer(Compile(graph)), consumers.name, Limits::None());
}

int32_t Find(const std::map<std::string, int32_t>& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  RSHIFT_REQUIRE(found != tensors.end(), ErrorCode::kInternal, "the float program has no tensor '",
                 name, "'");
  return found->second;
}

double Decibels(std::span<const float> found, const float* wanted, float low, float high) {
  double error = 0, signal = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double reached = std::clamp(wanted[i], low, high);
    const double off = static_cast<double>(found[i]) - reached;
    error += off * off;
    signal += static_cast<double>(wanted[i]) * static_cast<double>(wanted[i]);
  }
  return BoundedDecibels(signal, error);
}

}  // namespace

std::map<std::string, int32_t> TensorsByName(const Program& program) {
  std::map<std::string, int32_t> tensors;
  const ProgramImage& image = program.image();
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    if (image.tensors[i].region == Region::kArena)
      tensors[image.tensors[i].name] = static_cast<int32_t>(i);
  }
  return tensors;
}

ConsumerError::ConsumerError(const Graph& consumers, const CalibrationTable& table, QuantMode mode,
                             const std::map<std::string, int32_t>& floating, bool portable)
    : program_(CompileConsumers(consumers, table, mode)),
      session_(program_, {.threads = 1, .portable = portable}) {
  for (const Binding& input : program_.image().inputs)
    inputs_.push_back(Find(floating, input.name));
  for (const Binding& output : program_.image().outputs) {
    const int index = static_cast<int>(outputs_.size());
    Output one{index, Find(floating, output.name), 0, 0};
    if (const TensorRange* range = table.Find(output.name)) {
      const bool symmetric = mode == QuantMode::kSymmetric;
      one.low = symmetric ? (range->min < 0 ? -range->threshold : 0) : std::min(range->low, 0.0f);
      one.high = symmetric ? range->threshold : std::max(range->high, 0.0f);
    }
    outputs_.push_back(one);
  }
}

void ConsumerError::Add(const Session& floating) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::span<const std::byte> from = floating.Tensor(inputs_[i]);
    const std::span<std::byte> to = session_.Input(static_cast<int>(i));
    RSHIFT_REQUIRE(from.size() == to.size(), ErrorCode::kInternal, program_.where(), ": input ", i,
                   " has ", to.size(), " bytes, the float program's tensor ", from.size());
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  }
  session_.Run();
  double sum = 0;
  for (const Output& output : outputs_) {
    const std::span<const std::byte> found = session_.Output(output.index);
    const std::span<const std::byte> wanted = floating.Tensor(output.floating);
    RSHIFT_REQUIRE(found.size() == wanted.size(), ErrorCode::kInternal, program_.where(),
                   ": an output has ", found.size(), " bytes, the float program's tensor ",
                   wanted.size());
    sum += Decibels({reinterpret_cast<const float*>(found.data()), found.size() / sizeof(float)},
                    reinterpret_cast<const float*>(wanted.data()), output.low, output.high);
  }
  quality_.push_back(outputs_.empty() ? 0 : sum / static_cast<double>(outputs_.size()));
}

}  // namespace rshift
