// What Deploy finds out about a compiled model; as text and as one self-contained HTML page (as
// JSON: report_json.h).
#ifndef RSHIFT_PIPELINE_REPORT_H_
#define RSHIFT_PIPELINE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/container/image.h"
#include "interop/apply_scales.h"
#include "pipeline/bias_correction.h"
#include "pipeline/equalization_trial.h"
#include "pipeline/layer_compare.h"
#include "pipeline/search/search.h"
#include "pipeline/sensitivity.h"
#include "pipeline/verdict.h"
#include "pipeline/weight_choice.h"
#include "quantize/proof.h"
#include "quantize/report.h"

namespace rshift {

// A node of the program's graph and the tensor it makes.
struct ReportNode {
  std::string node, op, tensor;
  DType dtype = DType::kF32;
  Shape shape;                       // ONNX order
  std::optional<QuantParams> quant;  // of integer tensors
};

struct DeployReport {
  std::string model = {}, output = {}, mode = {}, profile = {}, target = {};
  std::string model_sha256 = {}, table = {}, table_sha256 = {};  // no table: empty
  ScalesTrace scales = {};                                       // --scales; else without a format
  int64_t calibration_samples = 0, compared_samples = 0;
  int equalized_tensors = 0;  // by the table: the factors are in the weights
  int layers_of_4_bits = 0;   // weights of 4 bits: layers, and how many numbers
  int64_t weights_of_4_bits = 0;
  std::vector<ReportNode> nodes = {};  // in program order
  uint64_t file_bytes = 0, arena_bytes = 0;
  int transposes = 0;
  int integer_commands = 0, move_commands = 0, float_commands = 0;
  QuantizeReport quantize = {};          // empty for f32
  std::vector<LayerProof> proofs = {};   // likewise
  std::vector<LayerResult> layers = {};  // of the test input or of the check's samples
  bool test_input = false;               // the former: the text lists the worst
  Tolerance tolerance = {};
  std::string preprocess = {};  // of the inputs, for people
  bool checked = false;         // the verdict was asked for
  Verdict verdict = {};
  std::optional<Sensitivity> sensitivity = {};
  std::optional<SearchReport> search = {};
  std::optional<WeightChoiceReport> weight_choice = {};
  std::optional<BiasCorrectionReport> bias_correction = {};
  std::optional<EqualizationTrialReport> equalization_trial = {};
};

void CountCommands(const ProgramImage& image, DeployReport& report);
// `graph`: what the program is compiled from.
std::vector<ReportNode> ListNodes(const Graph& graph);
// The lines model_deploy prints: sizes, commands, F32 nodes by name, proofs, repairs, and the worst
// layers.
std::string TextReport(const DeployReport& report);
// One page that needs no network: sortable and searchable, with a legend. Names are written so that
// no text of a model becomes markup.
std::string HtmlReport(const DeployReport& report);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_REPORT_H_
