// The parts of Deploy that look at its options.
#ifndef RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_
#define RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_

#include "pipeline/deploy.h"

namespace rshift {

// What can only be said when the model is known. Throws UsageError.
void CheckAgainstModel(const DeployOptions& options, const Graph& graph);

// Reads target and configuration.
QuantizeOptions ReadQuantizeOptions(const DeployOptions& options);

// The table and the hash of its file. Throws kInvalidInput when it is not of this model.
struct HashedTable {
  CalibrationTable table;
  std::string sha256;
};
HashedTable ReadTableFor(const DeployOptions& options, const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_
