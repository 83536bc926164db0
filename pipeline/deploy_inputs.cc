#include "pipeline/deploy_inputs.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "graph/passes/passes.h"
#include "graph/sha256.h"
#include "interop/formats.h"
#include "pipeline/plural.h"
#include "pipeline/usage.h"
#include "quantize/types.h"

namespace rshift {
namespace {

std::string HashOf(const std::string& text) {
  return Sha256Hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace

void CheckAgainstModel(const DeployOptions& options, const Graph& graph) {
  if (options.mode == DeployMode::kF32) return;
  if (HoldsQuantization(graph)) {
    const auto refuse = [](bool given, const char* option, const char* why) {
      RequireUsage(!given, option,
                   ": the model holds its own quantization parameters (QuantizeLinear, "
                   "DequantizeLinear, FakeQuantize)",
                   why);
    };
    refuse(options.table.given(), "--calibration", "; leave the table out");
    refuse(options.scales.given(), "--scales", "; leave the scales out");
    refuse(AsksForCorrection(options.bias_correction), "--bias-correction",
           ", its integer biases among them; leave it out");
    refuse(options.automatic, "--auto", ", which say what is in 8 bits; leave it out");
    refuse(options.weights.asked(), "--weight-rounding and --weight-clipping",
           ", its integer weights among them; leave them out");
    refuse(options.weight_bits != 8, "--weight-bits",
           ", its integer weights among them; leave it out");
    refuse(GivesCorrectionSamples(options), "--correction-data",
           ", so that nothing is measured on samples; leave it out");
    refuse(!options.shift_negative, "--shift-negative",
           ", which say what has a sign; leave it out");
    return;
  }
  // Profile ascend may have its scales in --config; layers without stay in fp16.
  if (options.profile == ProfileId::kAscend && options.config.given()) return;
  RequireUsage(
      options.table.given() || options.scales.given(), "--mode ",
      options.mode == DeployMode::kAsymmetric ? "asymmetric" : "symmetric",
      " needs --calibration TABLE.yaml (make one with model_calibrate), or --scales FILE of "
      "another tool");
}

void CheckFakeQuantize(const Graph& imported) {
  const bool found =
      std::any_of(imported.nodes().begin(), imported.nodes().end(),
                  [](const Node& node) { return std::holds_alternative<FakeQuantize>(node.op); });
  RequireUsage(found,
               "--drop-residual-round is for models with FakeQuantize (OpenVINO, NNCF), this one "
               "has none; leave it out");
}

QuantizeOptions ReadQuantizeOptions(const DeployOptions& options) {
  QuantizeOptions quantize;
  quantize.mode_given = options.mode != DeployMode::kDefault;
  quantize.mode =
      options.mode == DeployMode::kAsymmetric ? QuantMode::kAsymmetric : QuantMode::kSymmetric;
  quantize.profile.id = options.profile.value_or(ProfileId::kTpu);
  quantize.profile.variant = options.variant.value_or(Variant::kByTable);
  quantize.activation_bits = options.activation_bits;
  quantize.residual_bits = options.residual_bits;
  quantize.shift_negative = options.shift_negative;
  if (options.target.given()) {
    quantize.target = options.target.Get(
        [](const std::string& path) { return ReadTarget(ReadTextFile(path), path); });
  }
  if (options.config.given()) {
    quantize.config = options.config.Get(
        [](const std::string& path) { return ReadQuantizeConfig(ReadTextFile(path), path); });
  }
  return quantize;
}

HashedTable ReadGivenTable(const DeployOptions& options) {
  try {
    if (options.table.value)
      return {*options.table.value, HashOf(WriteTable(*options.table.value))};
    const std::string text = ReadTextFile(options.table.path);
    return {ReadTable(text, options.table.path), HashOf(text)};
  } catch (const Error&) {
    return {{}, "", std::current_exception()};
  }
}

void CheckTableFits(const DeployOptions& options, const HashedTable& given, const Graph& graph) {
  if (given.error) std::rethrow_exception(given.error);
  const std::string where = options.table.Name("the table");
  const CalibrationTable& table = given.table;
  RSHIFT_REQUIRE(table.model_sha256.empty() || table.model_sha256 == graph.sha256,
                 ErrorCode::kInvalidInput, where, ": made from another model (sha256 ",
                 table.model_sha256.substr(0, 12), "..., this model is ",
                 graph.sha256.substr(0, 12), "...); calibrate this model");
  RSHIFT_REQUIRE(table.pass_list_version == 0 || table.pass_list_version == kPassListVersion,
                 ErrorCode::kInvalidInput, where, ": made with pass list version ",
                 table.pass_list_version, ", this program has ", kPassListVersion,
                 "; calibrate again");
}

std::string LeaveOutEqualization(const DeployOptions& options, CalibrationTable* table) {
  const char* option = options.emit_qdq            ? "--emit-qdq"
                       : options.emit_fakequantize ? "--emit-fakequantize"
                       : options.scales.given()    ? "--scales"
                                                   : nullptr;
  if (options.equalize != EqualizeMode::kOff && option == nullptr) return "";
  const size_t count = table->equalization.size() + table->trial.size();
  *table = WithoutEqualization(std::move(*table), options.table.Name("the table"));
  if (count == 0 || options.equalize == EqualizeMode::kOff) return "";
  return Cat(options.table.Name("the table"), ": its equalization of ", Count(count, "tensor"),
             " is left out: ", option, " is about the model's own weights and tensors");
}

TakenScales TakeScales(const DeployOptions& options, const Graph& imported, Graph* graph,
                       CalibrationTable* table, QuantizeOptions* quantize) {
  std::string sha256;
  const ScaleSet set = options.scales.Get([&](const std::string& path) {
    const std::string text = ReadTextFile(path);
    sha256 = HashOf(text);
    return ReadScales(text, path, /*from=*/"");
  });
  const ModelNames names = options.model.value ? ReadModelNames(*options.model.value)
                                               : ReadModelNamesOf(options.model.path);
  AppliedScales applied = ApplyScales(set, imported, names, options.table.given() ? table : nullptr,
                                      quantize->mode, graph, &quantize->config);
  *table = std::move(applied.table);
  quantize->scaled_weights = true;
  applied.trace.file = options.scales.path;
  applied.trace.sha256 = sha256;
  return {std::move(applied.notes), std::move(applied.trace)};
}

}  // namespace rshift
