// The work of model_deploy on a model in memory, without reading and writing files.
#ifndef RSHIFT_TESTS_BENCH_GROWTH_STEPS_H_
#define RSHIFT_TESTS_BENCH_GROWTH_STEPS_H_

#include <string>
#include <vector>

#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "quantize/proof.h"
#include "quantize/quantize.h"
#include "quantize/ranges/ranges.h"
#include "runtime/runtime.h"

namespace rshift::testing {

inline Graph ImportAndPass(const std::string& model) {
  return RunPasses(
      ImportOnnxBytes({reinterpret_cast<const uint8_t*>(model.data()), model.size()}, "chain"));
}

inline CalibrationTable UnitTable(const Graph& graph) {
  CalibrationTable table;
  for (ValueId id : CalibratedValues(graph)) {
    table.tensors.emplace_back(graph.value(id).name,
                               TensorRange{-1.0f, 1.0f, 1.0f, -1.0f, 1.0f, "max"});
  }
  return table;
}

// Bytes of the loaded program.
inline size_t CompileAndLoad(const Graph& graph) {
  const std::vector<uint8_t> bytes = WriteContainer(Compile(graph));
  return Program::FromBytes(bytes).file_bytes();
}

inline size_t DeployF32(const std::string& model) { return CompileAndLoad(ImportAndPass(model)); }

inline size_t DeployIntegers(const std::string& model) {
  const Graph graph = ImportAndPass(model);
  const QuantizeResult result = QuantizeGraph(graph, UnitTable(graph), {});
  const Graph shaped = RunTargetPasses(result.graph, Target{});
  ProveIntegers(shaped);
  return CompileAndLoad(shaped);
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_BENCH_GROWTH_STEPS_H_
