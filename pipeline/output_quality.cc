#include "pipeline/output_quality.h"

#include <set>
#include <span>
#include <string>

#include "base/error.h"
#include "calibrate/observed_program.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "pipeline/paired_choice.h"
#include "quantize/quantize.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

Program ProgramOf(const Graph& graph, const std::string& where) {
  return Program::FromBytes(WriteContainer(Compile(graph)), where, Limits::None());
}

Graph WithoutChoice(Graph graph) {
  for (ValueId& output : graph.outputs) output = BeforeChoice(graph, output);
  graph.RemoveUnused();
  return graph;
}

CalibrationTable TableFor(const Graph& graph, CalibrationTable table) {
  std::set<std::string> names;
  for (const ValueId id : CalibratedValues(graph)) names.insert(graph.value(id).name);
  std::erase_if(table.tensors, [&](const auto& entry) { return !names.contains(entry.first); });
  return table;
}

bool IsClasses(const OutputValues& output) {
  const Shape& shape = output.shape;
  return shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1);
}

// The mean of a row of several numbers; of a single one nothing would be left without it.
double Centre(std::span<const float> row) {
  double sum = 0;
  for (const float x : row) sum += x;
  return row.size() < 2 ? 0 : sum / static_cast<double>(row.size());
}

}  // namespace

ValueId BeforeChoice(const Graph& graph, ValueId output) {
  const std::vector<NodeId> producers = graph.Producers();
  // Of what is moved, or made another type.
  const auto maker_of = [&](ValueId value, bool through_casts) {
    NodeId maker = producers[value.index()];
    while (maker.valid() && (MovesInput(graph, graph.node(maker)) ||
                             (through_casts && std::holds_alternative<Cast>(graph.node(maker).op))))
      maker = producers[graph.node(maker).inputs[0].index()];
    return maker;
  };
  const NodeId place = maker_of(output, true);
  if (place.valid() && std::holds_alternative<ArgMax>(graph.node(place).op))
    output = graph.node(place).inputs[0];
  const NodeId maker = maker_of(output, false);
  const bool softmax = maker.valid() && std::holds_alternative<Softmax>(graph.node(maker).op);
  return softmax ? graph.node(maker).inputs[0] : output;
}

std::vector<std::string> JudgedTensors(const Graph& graph, const Program& program) {
  std::vector<std::string> names;
  for (const ComparedTensor& compared : ComparedTensors(program)) {
    const std::string& name = program.image().tensors[compared.tensor].name;
    ValueId id = graph.FindValue(name);
    const auto& outputs = program.image().outputs;
    for (size_t o = 0; o < outputs.size() && !id.valid(); ++o) {
      // A copy: the value is an input, or another output, too.
      if (outputs[o].tensor == compared.tensor) id = graph.outputs[o];
    }
    if (id.valid() && graph.value(id).is_constant()) continue;  // in any program the same
    names.push_back(id.valid() ? graph.value(BeforeChoice(graph, id)).name : name);
  }
  return names;
}

double OutputDecibels(const OutputValues& output, std::span<const float> found,
                      std::span<const float> wanted) {
  const bool centred = IsClasses(output);
  const auto length = centred ? static_cast<size_t>(output.shape[1]) : wanted.size();
  double error = 0, signal = 0;
  for (size_t at = 0; at + length <= wanted.size() && length > 0; at += length) {
    const auto a = found.subspan(at, length), b = wanted.subspan(at, length);
    const double mean_a = centred ? Centre(a) : 0, mean_b = centred ? Centre(b) : 0;
    for (size_t i = 0; i < length; ++i) {
      const double x = b[i] - mean_b, off = a[i] - mean_a - x;
      error += off * off;
      signal += x * x;
    }
  }
  return BoundedDecibels(signal, error);
}

OutputQuality::OutputQuality(const Graph& graph, const Dataset& samples,
                             const ChooseRangesOptions& options)
    : graph_(WithoutChoice(graph)),
      samples_(samples),
      options_(options),
      reference_(RunOutputs(ProgramOf(graph_, "float program"), samples, 1, options.portable)) {}

std::vector<double> OutputQuality::Of(const CalibrationTable& table, QuantMode mode) const {
  RSHIFT_REQUIRE(!options_.interrupted || !options_.interrupted(), ErrorCode::kIo, "interrupted");
  QuantizeOptions options;
  options.mode = mode;
  const QuantizeResult quantized = QuantizeGraph(graph_, TableFor(graph_, table), options);
  const Program program =
      ProgramOf(RunTargetPasses(quantized.graph, options.target), "trial program");
  const std::vector<OutputValues> found = RunOutputs(program, samples_, 1, options_.portable);
  std::vector<double> quality(static_cast<size_t>(samples_.size()));
  for (size_t o = 0; o < found.size(); ++o) {
    for (size_t s = 0; s < quality.size(); ++s)
      quality[s] += OutputDecibels(reference_[o], found[o].samples[s], reference_[o].samples[s]) /
                    static_cast<double>(found.size());
  }
  return quality;
}

std::vector<std::vector<double>> OutputQuality::OfAll(const std::vector<CalibrationTable>& tables,
                                                      QuantMode mode) const {
  std::vector<std::vector<double>> quality(tables.size());
  ForEachIndex(options_.threads, tables.size(),
               [&]() -> IndexWork { return [&](size_t i) { quality[i] = Of(tables[i], mode); }; });
  return quality;
}

}  // namespace rshift
