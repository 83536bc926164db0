// A trained model becomes a program: all that model_deploy does but the command line and the files
// it writes. Prints nothing.
#ifndef RSHIFT_PIPELINE_DEPLOY_H_
#define RSHIFT_PIPELINE_DEPLOY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "pipeline/model_file.h"
#include "pipeline/preprocess_choice.h"
#include "pipeline/report.h"
#include "quantize/interface.h"
#include "quantize/quantize.h"

namespace rshift {

// kDefault: symmetric, or what a model with QuantizeLinear and DequantizeLinear says of itself.
enum class DeployMode { kDefault, kSymmetric, kAsymmetric, kF32 };

inline constexpr int64_t kCheckSamples = 4;

// Messages call an option by its name on model_deploy's command line; configs/README.md has the
// files. Everything has a default but the model and, of a float model's integer program, the table.
struct DeployOptions {
  ModelFile model;
  ImportOptions import = {};
  FileOr<CalibrationTable> table = {};
  DeployMode mode = DeployMode::kDefault;

  // Of integer programs only.
  std::optional<ProfileId> profile = {};  // default: kTpu
  std::optional<Variant> variant = {};    // default: the profile's first
  FileOr<QuantizeConfig> config = {};
  FileOr<Target> target = {};

  PreprocessChoice preprocess = {};  // carried into the program; default: the table's
  bool force_preprocess = false;     // even where it differs from the table's
  ElementTypes input_type = {}, output_type = {};
  bool fuse = true;                // CompileOptions::fuse
  std::string output = "program";  // the program's name in messages and in the report

  // Of integer programs only: the check and the comparison with the float program.
  bool check = true;
  int64_t check_samples = kCheckSamples;     // most, of the check and of `sensitivity`
  std::vector<std::string> test_input = {};  // what OpenDataset takes; compares every tensor
  std::vector<Sample> test_samples = {};     // the same in memory; one of both at most
  Tolerance tolerance = {};                  // what the report marks
  bool sensitivity = false;                  // fills DeployReport::sensitivity
  int64_t keep_f32 = 0;                      // MeasureSensitivity's `keep`
  int threads = 0;                           // default: 1
};

enum class DeployStage { kImported, kPasses, kQuantized };

// What a caller may hear of while Deploy works. Whatever these throw ends it.
struct DeployEvents {
  std::function<void(DeployStage stage, const Graph& graph)> graph = {};
  std::function<void(const CalibrationTable& table)> table = {};  // fits the model; not used yet
  std::function<void(const std::string& warning)> warning = {};   // at once; also in the result
  ProgressFunction progress = {};
};

struct DeployResult {
  std::vector<uint8_t> program;  // the content of a .rshift file: Program::FromBytes
  DeployReport report;           // TextReport, JsonReport, HtmlReport; the check's verdict
  std::vector<std::string> warnings;
};

// Throws UsageError for options that contradict each other. Deploy asks it first of all.
void CheckOptions(const DeployOptions& options);

// The same bytes for the same options. Throws Error; UsageError (pipeline/usage.h) for options that
// contradict each other or the model. A program that loses too much is no error: see the report.
DeployResult Deploy(const DeployOptions& options, const DeployEvents& events = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_H_
