#include "pipeline/bias_runs.h"

#include "pipeline/consumer_error.h"
#include "pipeline/output_quality.h"
#include "pipeline/program_pair.h"
#include "pipeline/sample_runs.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

constexpr const char* kTitle = "measuring";

std::vector<std::string> Inputs(const std::vector<BiasLayer>& layers, bool integer) {
  std::vector<std::string> names;
  names.reserve(layers.size());
  for (const BiasLayer& layer : layers) names.push_back(integer ? layer.integer_x : layer.x);
  return names;
}

SampleMeans Empty(size_t layers, size_t samples) {
  return SampleMeans(layers, std::vector<std::vector<double>>(samples));
}

}  // namespace

const FloatRuns& BiasRuns::RunFloat(const std::vector<BiasLayer>& layers) {
  float_program_ = CompileObservable(floating_, "float program");
  const Program& program = *float_program_;
  judged_ = JudgedTensors(floating_, program);
  const std::vector<int32_t> outputs = TensorPlaces(program, judged_);
  const std::vector<int32_t> inputs = TensorPlaces(program, Inputs(layers, false));
  const auto count = static_cast<size_t>(samples_.size());
  for (const int32_t tensor : outputs) {
    const TensorRecord& record = program.image().tensors[tensor];
    float_runs_.outputs.push_back({record.name, record.dtype, OnnxShape(record), {}});
    float_runs_.outputs.back().samples.resize(count);
  }
  float_runs_.floating = Empty(layers.size(), count);
  float_runs_.alone = Empty(layers.size(), count);
  RunOnSamples(program, samples_, threads_, kTitle, progress_,
               [&](const Session& session, size_t s) {
                 for (size_t l = 0; l < layers.size(); ++l) {
                   const BiasLayer& layer = layers[l];
                   const std::span<const std::byte> memory = session.Tensor(inputs[l]);
                   const auto* x = reinterpret_cast<const float*>(memory.data());
                   const size_t size = memory.size() / sizeof(float);
                   float_runs_.floating[l][s] = FloatMeans(layer, x);
                   float_runs_.alone[l][s] =
                       IntegerMeans(layer, IntegersOf(layer.dtype, layer.quant, {x, size}));
                 }
                 for (size_t o = 0; o < outputs.size(); ++o)
                   float_runs_.outputs[o].samples[s] =
                       OnnxFloats(program.image().tensors[outputs[o]], session.Tensor(outputs[o]));
               });
  return float_runs_;
}

PairedRuns BiasRuns::RunBoth(const Graph& integer, const std::vector<BiasLayer>& layers,
                             const std::vector<std::optional<WindowRows>>& rows) const {
  const Program program = CompileObservable(integer, "integer program");
  const std::vector<int32_t> floats = TensorPlaces(*float_program_, Inputs(layers, false));
  const std::vector<int32_t> integers = TensorPlaces(program, Inputs(layers, true));
  const auto count = static_cast<size_t>(samples_.size());
  PairedRuns runs{Empty(layers.size(), count), {}};
  runs.moments.resize(layers.size());
  for (size_t l = 0; l < layers.size(); ++l) {
    if (!rows[l]) continue;
    runs.moments[l].assign(static_cast<size_t>(layers[l].product.outputs),
                           std::vector<ChannelMoments>(count));
  }
  RunOnSamples(*float_program_, program, samples_, threads_, kTitle, nullptr,
               [&](const Session& floating, const Session& session, size_t s) {
                 for (size_t l = 0; l < layers.size(); ++l) {
                   const std::span<const std::byte> bytes = session.Tensor(integers[l]);
                   runs.means[l][s] = IntegerMeans(layers[l], bytes);
                   if (!rows[l]) continue;
                   const std::span<const std::byte> x = floating.Tensor(floats[l]);
                   const std::vector<ChannelMoments> found = MomentsOf(
                       layers[l], *rows[l],
                       {reinterpret_cast<const float*>(x.data()), x.size() / sizeof(float)}, bytes);
                   for (size_t c = 0; c < found.size(); ++c) runs.moments[l][c][s] = found[c];
                 }
               });
  return runs;
}

IntegerRuns BiasRuns::RunInteger(const Graph& integer, const std::vector<BiasLayer>& layers) const {
  const Program program = CompileObservable(integer, "integer program");
  const std::vector<int32_t> outputs = TensorPlaces(program, judged_);
  const std::vector<int32_t> inputs = TensorPlaces(program, Inputs(layers, true));
  const auto count = static_cast<size_t>(samples_.size());
  IntegerRuns runs{Empty(layers.size(), count), std::vector<double>(count)};
  RunOnSamples(program, samples_, threads_, kTitle, nullptr, [&](const Session& session, size_t s) {
    for (size_t l = 0; l < layers.size(); ++l)
      runs.means[l][s] = IntegerMeans(layers[l], session.Tensor(inputs[l]));
    for (size_t o = 0; o < outputs.size(); ++o) {
      const OutputValues& wanted = float_runs_.outputs[o];
      const std::vector<float> found =
          OnnxFloats(program.image().tensors[outputs[o]], session.Tensor(outputs[o]));
      runs.quality[s] +=
          OutputDecibels(wanted, found, wanted.samples[s]) / static_cast<double>(outputs.size());
    }
  });
  return runs;
}

}  // namespace rshift
