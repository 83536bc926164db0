// What Deploy is asked for.
#ifndef RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_
#define RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interop/scale_set.h"
#include "pipeline/bias_correction.h"
#include "pipeline/compare.h"
#include "pipeline/file_or.h"
#include "pipeline/model_file.h"
#include "pipeline/preprocess_choice.h"
#include "pipeline/search/budget.h"
#include "pipeline/weight_choice.h"
#include "quantize/interface.h"
#include "quantize/options.h"
#include "quantize/ranges/table.h"

namespace rshift {

// kDefault: symmetric, or what a model with QuantizeLinear and DequantizeLinear says of itself.
enum class DeployMode { kDefault, kSymmetric, kAsymmetric, kF32 };

inline constexpr int64_t kCheckSamples = 4;
inline constexpr int64_t kCorrectionSamples = 64;

// What of a table's equalization a program has. kAuto: all of it, and what the table leaves to a
// trial where the outputs gain by that (equalization_trial.h); kTable: nothing of the trial; kAll:
// the trial's in any case; kOff: nothing at all, as if the table had been made so.
enum class EqualizeMode { kAuto, kTable, kAll, kOff };
// "auto", "table", "all", "off". Throws kInvalidInput for another name.
EqualizeMode ParseEqualizeMode(const std::string& name);

// Messages call an option by its name on model_deploy's command line; configs/README.md has the
// files. Everything has a default but the model and, of a float model's integer program, the table
// or the scales.
struct DeployOptions {
  ModelFile model;
  ImportOptions import = {};  // with --append
  FileOr<CalibrationTable> table = {};
  DeployMode mode = DeployMode::kDefault;

  // Of integer programs only.
  std::optional<ProfileId> profile = {};  // default: kTpu
  std::optional<Variant> variant = {};    // default: the profile's first
  FileOr<QuantizeConfig> config = {};
  FileOr<ScaleSet> scales = {};  // another tool's, in place of the table or before it
  FileOr<Target> target = {};

  // Of integer programs only: bits of all results, and of the residual stream (quantize/options.h).
  int activation_bits = 8, residual_bits = 8;
  // 4: weights of convolutions of one tap and of matrix products, all but the first and the last
  // (quantize/weight_bits.h).
  int weight_bits = 8;
  bool shift_negative = true;  // of symmetric programs of profile tpu (quantize/options.h)
  EqualizeMode equalize = EqualizeMode::kAuto;

  PreprocessChoice preprocess = {};                // carried into the program; default: the table's
  bool force_preprocess = false;                   // even where it differs from the table's
  ElementTypes input_type = {}, output_type = {};  // f32, u8, s8 or s16, for each or for all
  bool fuse = true;                                // CompileOptions::fuse
  bool drop_residual_round = false;                // SplitOptions of a model with FakeQuantize
  std::string output = "program";  // the program's name in messages and in the report

  // Of integer programs only: integers of the weights that suit the samples (weight_choice.h), and
  // biases that take back the mean of the error (bias_correction.h). Measured on the samples that
  // the table recorded, or on others.
  WeightMethods weights = {.rounding = WeightRounding::kAuto};
  BiasCorrectionMode bias_correction = BiasCorrectionMode::kAuto;
  std::vector<std::string> correction_data = {};    // what OpenDataset takes
  int64_t correction_samples = kCorrectionSamples;  // of that data, at most; 0: all
  std::vector<Sample> correction_values = {};       // the same in memory; one of both at most

  // Of integer programs only: types of groups of operators, and which of the methods above, are
  // searched for on the same samples (search/search.h); --bias-correction and its kin are left out.
  bool automatic = false;
  SearchBudget budget = {};
  std::string search_state = {};   // file that keeps what was measured; "": none
  std::string search_labels = {};  // of correction_data: what ReadLabels takes; "": none

  // Of integer programs only: the check and the comparison with the float program.
  bool check = true;
  int64_t check_samples = kCheckSamples;     // most, of the check and of `sensitivity`
  std::vector<std::string> test_input = {};  // what OpenDataset takes; compares every tensor
  std::vector<Sample> test_samples = {};     // the same in memory; one of both at most
  Tolerance tolerance = {};                  // what the report marks
  bool emit_fakequantize = false;            // fills DeployResult::fakequantize
  bool emit_qdq = false;                     // fills DeployResult::qdq
  bool sensitivity = false;                  // fills DeployReport::sensitivity
  int64_t keep_f32 = 0;                      // MeasureSensitivity's `keep`, of `sensitivity`
  int threads = 0;                           // default: 1
};

// Samples to measure weights and biases on, others than those that the table recorded.
inline bool GivesCorrectionSamples(const DeployOptions& o) {
  return !o.correction_data.empty() || !o.correction_values.empty();
}

// Throws UsageError for options out of range or that contradict each other. Deploy asks it first of
// all.
void CheckOptions(const DeployOptions& options);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_OPTIONS_H_
