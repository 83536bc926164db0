// The command line of model_deploy.
#ifndef RSHIFT_TOOLS_DEPLOY_ARGUMENTS_H_
#define RSHIFT_TOOLS_DEPLOY_ARGUMENTS_H_

#include <string>
#include <vector>

#include "pipeline/deploy.h"
#include "tools/preprocess_options.h"
#include "tools/tool_main.h"

namespace rshift {

struct DeployArguments {
  ModelArguments model;
  int activation_bits = 8, weight_bits = 8;
  std::optional<int> residual_bits;  // default: 8, or 16 with activation_bits
  std::string shift_negative = "on";
  std::string equalize = "auto";
  std::string calibration, scales, output, mode, profile, variant, config, target, tolerance;
  PreprocessArguments preprocess;
  std::string report, report_json;
  std::vector<std::string> input_type, output_type, test_input, dump_graph;
  int threads = 0;
  std::string sensitivity, emit_qdq, emit_fakequantize;
  std::string bias_correction = "auto";
  std::string weight_rounding = "auto", weight_clipping = "off";
  std::vector<std::string> correction_data;
  bool automatic = false;
  std::vector<std::string> budget;
  std::string auto_config, auto_qtable, auto_report, auto_state, labels;
  int64_t check_samples = kCheckSamples, keep_f32 = 0, correction_samples = kCorrectionSamples;
  bool no_fuse = false, json = false, no_check = false, force_preprocess = false,
       drop_residual_round = false;

  void AddTo(CLI::App& app);
  RunPaths Paths() const;
  // Without `import` and `tolerance`: CheckPaths comes before these are read.
  DeployOptions Options() const;

 private:
  void AddCorrectionOptions(CLI::App& app);
  void AddSearchOptions(CLI::App& app);
  void AddCheckOptions(CLI::App& app);
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_DEPLOY_ARGUMENTS_H_
