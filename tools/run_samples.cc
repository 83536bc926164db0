#include "tools/run_samples.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/progress.h"
#include "pipeline/complete_tensors.h"
#include "pipeline/tensor_view.h"
#include "runtime/outputs.h"
#include "tools/read_ahead.h"
#include "tools/runner_data.h"
#include "tools/streams.h"

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

// What a sample leaves behind until its turn comes.
struct SampleResult {
  std::string name;
  double milliseconds = 0;
  std::vector<float> scores;
  std::vector<NumpyArray> outputs, tensors;
};

// Runs once and copies every tensor as soon as it is complete.
std::vector<NumpyArray> RunKeepingTensors(const Program& program, Session& session, bool raw) {
  const ProgramImage& image = program.image();
  std::vector<NumpyArray> tensors;
  for (const Binding& input : image.inputs) {
    NumpyArray array = ToArray(image.tensors[input.tensor], session.Tensor(input.tensor), raw);
    array.name = input.name;
    tensors.push_back(std::move(array));
  }
  const CompleteTensors complete = CompletedTensors(image);
  const auto keep = [&](const std::vector<int32_t>& list) {
    for (const int32_t tensor : list) {
      tensors.push_back(ToArray(image.tensors[tensor], session.Tensor(tensor), raw));
    }
  };
  keep(complete.at_start);
  session.RunObserved([&](int command) { keep(complete.after[static_cast<size_t>(command)]); });
  return tensors;
}

// Those whose size depends on the data have what counts of them.
std::vector<NumpyArray> Outputs(const Program& program, const Session& session, bool raw) {
  const ProgramImage& image = program.image();
  std::vector<NumpyArray> outputs;
  for (size_t i = 0; i < image.outputs.size(); ++i) {
    const auto index = static_cast<int>(i);
    TensorRecord record = image.tensors[image.outputs[i].tensor];
    record.shape = OutputShape(program, session, index);
    outputs.push_back(ToArray(record, OutputBytes(program, session, index), raw));
    outputs.back().name = image.outputs[i].name;
  }
  return outputs;
}

int64_t SampleBytes(const ProgramImage& image) {
  int64_t bytes = 0;
  for (const Binding& input : image.inputs) {
    bytes += NumElements(image.tensors[input.tensor].shape) * static_cast<int64_t>(sizeof(float));
  }
  return bytes;
}

SampleResult RunSample(const Program& program, Session& session, const Sample& sample,
                       const SampleRunOptions& options) {
  const ProgramImage& image = program.image();
  SampleResult result;
  result.name = sample.name;
  FillInputs(program, session,
             options.carried != nullptr ? WithCarried(sample, *options.carried) : sample);
  const Clock::time_point start = Clock::now();
  if (options.keep_tensors)
    result.tensors = RunKeepingTensors(program, session, options.raw);
  else
    session.Run();
  RequireNoFault(program, session);
  result.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (options.on_scores) {
    result.scores = OnnxFloats(image.tensors[image.outputs[0].tensor], session.Output(0));
  }
  if (options.keep_outputs || options.on_outputs)
    result.outputs = Outputs(program, session, options.raw);
  if (options.carried != nullptr) Carry(Outputs(program, session, true), *options.carried);
  return result;
}

}  // namespace

SampleRun RunSamples(const Program& program, std::span<Session> sessions, const Dataset& dataset,
                     const SampleRunOptions& options) {
  SampleRun run;
  ArrayCollector outputs, tensors;
  Progress progress("running", dataset.size(), options.quiet || dataset.size() < 20);
  const Clock::time_point start = Clock::now();
  ReadAhead samples(dataset, static_cast<int>(sessions.size()), SampleBytes(program.image()));
  InOrder(static_cast<int>(sessions.size()), dataset.size(), [&](int stream, int64_t s) -> Commit {
    // A function object is copyable: what it carries is shared, not copied.
    const auto result = std::make_shared<SampleResult>(
        RunSample(program, sessions[static_cast<size_t>(stream)], samples.Take(s), options));
    return [&, s, result] {
      if (options.on_scores) options.on_scores(s, result->name, result->scores);
      if (options.on_outputs) options.on_outputs(s, result->outputs);
      for (const NumpyArray& array : result->outputs)
        if (options.keep_outputs) outputs.Add(array);
      for (const NumpyArray& array : result->tensors) tensors.Add(array);
      run.names.push_back(std::move(result->name));
      run.milliseconds.push_back(result->milliseconds);
      progress.Advance();
    };
  });
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.outputs = outputs.Take();
  run.tensors = tensors.Take();
  return run;
}

}  // namespace rshift
