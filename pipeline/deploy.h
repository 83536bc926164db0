// A trained model becomes a program: all that model_deploy does but the command line and the files
// it writes. Prints nothing.
#ifndef RSHIFT_PIPELINE_DEPLOY_H_
#define RSHIFT_PIPELINE_DEPLOY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "pipeline/deploy_options.h"
#include "pipeline/report.h"

namespace rshift {

// kTarget: integer convolutions in the shape that the target wants, as the program has them.
enum class DeployStage { kImported, kPasses, kQuantized, kTarget };

// What a caller may hear of while Deploy works. Whatever these throw ends it.
struct DeployEvents {
  std::function<void(DeployStage stage, const Graph& graph)> graph = {};
  std::function<void(const CalibrationTable& table)> table = {};  // fits the model; not used yet
  std::function<void(const std::string& warning)> warning = {};   // at once; also in the result
  NoteFunction note = {};                                         // of samples that are left over
  ProgressFunction progress = {};
};

struct DeployResult {
  std::vector<uint8_t> program;  // the content of a .rshift file: Program::FromBytes
  std::string qdq,
      fakequantize;     // of emit_qdq, emit_fakequantize: ONNX files (interop/qdq_export.h)
  DeployReport report;  // TextReport, JsonReport, HtmlReport; the check's verdict
  std::vector<std::string> warnings;
};

// The same bytes for the same options. Throws Error; UsageError (pipeline/usage.h) for options that
// contradict each other or the model. A program that loses too much is no error: see the report.
DeployResult Deploy(const DeployOptions& options, const DeployEvents& events = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_H_
