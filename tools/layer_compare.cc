#include "tools/layer_compare.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "runtime/runtime.h"
#include "tools/runner_data.h"
#include "tools/tensor_view.h"

namespace rshift {
namespace {

Program CompileObservable(const Graph& graph, const std::string& where) {
  CompileOptions options;
  options.observable = true;
  return Program::FromBytes(WriteContainer(Compile(graph, options)), where);
}

// One tensor of the integer program beside its float counterpart.
struct Pair {
  int32_t integer = 0, floating = 0;
  LayerResult result;
  SimilaritySum sum;
};

std::vector<Pair> PairTensors(const ProgramImage& integer, const ProgramImage& floating) {
  std::map<std::string, int32_t> by_name;
  for (size_t i = 0; i < floating.tensors.size(); ++i) {
    if (floating.tensors[i].region == Region::kArena)
      by_name[floating.tensors[i].name] = static_cast<int32_t>(i);
  }
  std::map<int32_t, std::string> written;
  for (const Command& command : integer.commands) {
    written[command.Tensor(Field::kDst)] = FindOp(command.opcode)->name;
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i < integer.tensors.size(); ++i) {
    const TensorRecord& record = integer.tensors[i];
    const auto match = by_name.find(record.name);
    const auto command = written.find(static_cast<int32_t>(i));
    if (record.region != Region::kArena || match == by_name.end() || command == written.end())
      continue;
    Pair pair;
    pair.integer = static_cast<int32_t>(i);
    pair.floating = match->second;
    pair.result.tensor = record.name;
    pair.result.command = command->second;
    pair.result.integer = record.quantized;
    pair.result.scale = record.scale;
    pair.result.zero_point = record.zero_point;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

int64_t CountSaturated(const TensorRecord& record, std::span<const float> integer,
                       std::span<const float> reference) {
  if (!record.quantized) return 0;
  const int q_lo = record.dtype == DType::kU8 ? 0 : -128, q_hi = q_lo + 255;
  const float lo = record.scale * static_cast<float>(q_lo - record.zero_point);
  const float hi = record.scale * static_cast<float>(q_hi - record.zero_point);
  const float half = record.scale / 2;
  int64_t count = 0;
  for (size_t i = 0; i < integer.size(); ++i) {
    count += (integer[i] >= hi && reference[i] > hi + half) ||
             (integer[i] <= lo && reference[i] < lo - half);
  }
  return count;
}

}  // namespace

std::vector<LayerResult> CompareLayers(const Graph& floating, const Graph& integer,
                                       const Dataset& samples, int threads) {
  const Program float_program = CompileObservable(floating, "float program");
  const Program integer_program = CompileObservable(integer, "integer program");
  Session float_session(float_program, {.threads = threads});
  Session integer_session(integer_program, {.threads = threads});
  std::vector<Pair> pairs = PairTensors(integer_program.image(), float_program.image());
  for (int64_t s = 0; s < samples.size(); ++s) {
    const Sample sample = samples.Read(s);
    FillInputs(float_program, float_session, sample);
    FillInputs(integer_program, integer_session, sample);
    float_session.Run();
    integer_session.Run();
    for (Pair& pair : pairs) {
      const TensorRecord& record = integer_program.image().tensors[pair.integer];
      const auto a = OnnxFloats(record, integer_session.Tensor(pair.integer));
      const auto b = OnnxFloats(float_program.image().tensors[pair.floating],
                                float_session.Tensor(pair.floating));
      pair.sum.Add(a, b);
      pair.result.saturated += CountSaturated(record, a, b);
    }
  }
  std::vector<LayerResult> results;
  for (Pair& pair : pairs) {
    pair.result.similarity = pair.sum.Result();
    results.push_back(std::move(pair.result));
  }
  return results;
}

}  // namespace rshift
