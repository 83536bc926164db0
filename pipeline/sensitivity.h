// Which nodes a model can least afford in integers: each of them alone in INT8, all others in F32,
// ranked by what that does to the outputs; and the fewest of them that F32 must keep.
#ifndef RSHIFT_PIPELINE_SENSITIVITY_H_
#define RSHIFT_PIPELINE_SENSITIVITY_H_

#include <string>
#include <vector>

#include "base/progress.h"
#include "pipeline/check_program.h"

namespace rshift {

struct NodeSensitivity {
  std::string tensor;  // that the node writes
  std::string command;
  std::vector<std::string> layers;  // for --config: the tensor, and those fused into its command
  double quality_db = 200;          // Quality() of the outputs with this node alone in INT8
};

// The model deployed with that many nodes in F32, and run.
struct SensitivityTrial {
  int64_t nodes = 0;
  double quality_db = 0;
  Grade grade = Grade::kNone;
};

// A cosine of .995: a configuration should not be just good enough for the samples it is made on.
inline constexpr double kEnoughDb = 20;

struct Sensitivity {
  int64_t samples = 0;
  std::vector<NodeSensitivity> ranking;  // worst first
  std::vector<SensitivityTrial> trials;  // as they were made
  std::vector<size_t> kept;              // of the ranking: what the configuration leaves in F32
  SensitivityTrial result;               // with those
  bool enough = false;                   // the outputs are good, of kEnoughDb and more
};

// Costs one float and one integer run for each sample, and for each node half a float run on
// average: the commands behind the node are run again on the tensors of the float run. Then
// deploys with none and the 1, 2, 4, ... worst nodes in F32 until that is enough, and puts back one
// by one those that are not needed. Or takes the `keep` worst when that is not 0. `progress`
// hears of the nodes.
Sensitivity MeasureSensitivity(const Deployment& deployment, const Dataset& samples, int64_t keep,
                               const ProgressFunction& progress = {});

// The text of a --config file: that of `config_text` ("" for none) and mode: f32 for the kept.
std::string SensitivityConfig(const Sensitivity& sensitivity, const std::string& config_text);
// The lines model_deploy prints; `path`: of the configuration.
std::string SensitivityText(const Sensitivity& sensitivity, const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SENSITIVITY_H_
