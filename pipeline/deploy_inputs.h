// What Deploy reads besides the model, and whether it fits that.
#ifndef RSHIFT_PIPELINE_DEPLOY_INPUTS_H_
#define RSHIFT_PIPELINE_DEPLOY_INPUTS_H_

#include <exception>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "interop/apply_scales.h"
#include "pipeline/deploy_options.h"

namespace rshift {

// What can only be said when the model is known. Throws UsageError.
void CheckAgainstModel(const DeployOptions& options, const Graph& graph);

// --drop-residual-round is about FakeQuantize. `imported`: before RunPasses. Throws UsageError.
void CheckFakeQuantize(const Graph& imported);

// Reads target and configuration.
QuantizeOptions ReadQuantizeOptions(const DeployOptions& options);

// The table given and the hash of its file. It is read before the model, whose open inputs have
// their shapes there; what is wrong with it is said after what is wrong with the model and the
// options.
struct HashedTable {
  CalibrationTable table;
  std::string sha256;
  std::exception_ptr error = nullptr;  // why there is no table
};
HashedTable ReadGivenTable(const DeployOptions& options);
// Throws `error`, and kInvalidInput when the table is not of this model.
void CheckTableFits(const DeployOptions& options, const HashedTable& given, const Graph& graph);

// The weights of an equalized model are others than the file's: for --equalize off, and for options
// that bring or write what belongs to those, `table` becomes that of the model as it is. What is to
// be said of it; "" for nothing.
std::string LeaveOutEqualization(const DeployOptions& options, CalibrationTable* table);

// Reads the scales and applies them (interop/apply_scales.h). In `table`: the one given beside
// them; out: the whole one. `graph`: after RunPasses.
struct TakenScales {
  std::vector<std::string> notes;  // what to warn of
  ScalesTrace trace;
};
TakenScales TakeScales(const DeployOptions& options, const Graph& imported, Graph* graph,
                       CalibrationTable* table, QuantizeOptions* quantize);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_INPUTS_H_
