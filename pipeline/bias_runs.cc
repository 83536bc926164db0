#include "pipeline/bias_runs.h"

#include <functional>
#include <map>
#include <memory>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observed_program.h"
#include "pipeline/consumer_error.h"
#include "pipeline/output_quality.h"
#include "pipeline/program_pair.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

// visit(session, sample) after a run on each sample, of several at a time.
void RunAll(const Program& program, const Dataset& samples, int threads,
            const ProgressFunction& progress,
            const std::function<void(const Session& session, size_t sample)>& visit) {
  ProgressReport report("measuring means", samples.size(), progress);
  ForEachIndex(threads, static_cast<size_t>(samples.size()), [&]() -> IndexWork {
    const auto session =
        std::make_shared<Session>(program, SessionOptions{.threads = 1, .one_by_one = true});
    return [&, session](size_t s) {
      FillInputs(program, *session, samples.Read(static_cast<int64_t>(s)));
      session->Run();
      visit(*session, s);
      report.Advance();
    };
  });
}

// The tensor that a layer reads.
int32_t Place(const std::map<std::string, int32_t>& places, const Program& program,
              const std::string& name) {
  const auto found = places.find(name);
  RSHIFT_REQUIRE(found != places.end() && program.image().tensors[found->second].pitch == 0,
                 ErrorCode::kInternal, program.where(), " has no tensor '", name, "'");
  return found->second;
}

std::vector<int32_t> Places(const Program& program, const std::vector<std::string>& names) {
  const std::map<std::string, int32_t> places = TensorsByName(program);
  std::vector<int32_t> found;
  found.reserve(names.size());
  for (const std::string& name : names) found.push_back(Place(places, program, name));
  return found;
}

std::vector<std::string> Inputs(const std::vector<BiasLayer>& layers, bool integer) {
  std::vector<std::string> names;
  names.reserve(layers.size());
  for (const BiasLayer& layer : layers) names.push_back(integer ? layer.integer_x : layer.x);
  return names;
}

SampleMeans Empty(size_t layers, size_t samples) {
  return SampleMeans(layers, std::vector<std::vector<double>>(samples));
}

std::vector<std::string> JudgedTensors(const Graph& graph, const Program& program) {
  std::vector<std::string> names;
  for (const ComparedTensor& compared : ComparedTensors(program)) {
    const std::string& name = program.image().tensors[compared.tensor].name;
    const ValueId id = graph.FindValue(name);
    names.push_back(id.valid() ? graph.value(BeforeSoftmax(graph, id)).name : name);
  }
  return names;
}

}  // namespace

const FloatRuns& BiasRuns::RunFloat(const std::vector<BiasLayer>& layers) {
  const Program program = CompileObservable(floating_, "float program");
  judged_ = JudgedTensors(floating_, program);
  const std::vector<int32_t> outputs = Places(program, judged_);
  const std::vector<int32_t> inputs = Places(program, Inputs(layers, false));
  const auto count = static_cast<size_t>(samples_.size());
  for (const int32_t tensor : outputs) {
    const TensorRecord& record = program.image().tensors[tensor];
    float_runs_.outputs.push_back({record.name, record.dtype, OnnxShape(record), {}});
    float_runs_.outputs.back().samples.resize(count);
  }
  float_runs_.floating = Empty(layers.size(), count);
  float_runs_.alone = Empty(layers.size(), count);
  RunAll(program, samples_, threads_, progress_, [&](const Session& session, size_t s) {
    for (size_t l = 0; l < layers.size(); ++l) {
      const BiasLayer& layer = layers[l];
      const std::span<const std::byte> memory = session.Tensor(inputs[l]);
      const auto* x = reinterpret_cast<const float*>(memory.data());
      const size_t size = memory.size() / sizeof(float);
      TensorRecord record;
      record.dtype = layer.dtype;
      record.quantized = true;
      record.scale = layer.quant.scale;
      record.zero_point = layer.quant.zero_point;
      std::vector<std::byte> bytes(size * SizeOf(layer.dtype));
      StoreValues(record, {x, size}, bytes);
      float_runs_.floating[l][s] = FloatMeans(layer, x);
      float_runs_.alone[l][s] = IntegerMeans(layer, bytes);
    }
    for (size_t o = 0; o < outputs.size(); ++o)
      float_runs_.outputs[o].samples[s] =
          OnnxFloats(program.image().tensors[outputs[o]], session.Tensor(outputs[o]));
  });
  return float_runs_;
}

IntegerRuns BiasRuns::RunInteger(const Graph& integer, const std::vector<BiasLayer>& layers) const {
  const Program program = CompileObservable(integer, "integer program");
  const std::vector<int32_t> outputs = Places(program, judged_);
  const std::vector<int32_t> inputs = Places(program, Inputs(layers, true));
  const auto count = static_cast<size_t>(samples_.size());
  IntegerRuns runs{Empty(layers.size(), count), std::vector<double>(count)};
  RunAll(program, samples_, threads_, nullptr, [&](const Session& session, size_t s) {
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
