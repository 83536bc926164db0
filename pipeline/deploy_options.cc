#include "pipeline/deploy_options.h"

#include "base/atomic_file.h"
#include "graph/passes/passes.h"
#include "graph/sha256.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

// The first option that an f32 program has no use for; nullptr when there is none.
const char* UselessForF32(const DeployOptions& o) {
  return o.config.given()                                   ? "--config"
         : o.target.given()                                 ? "--target"
         : o.profile                                        ? "--profile"
         : o.variant                                        ? "--variant"
         : !o.test_input.empty() || !o.test_samples.empty() ? "--test-input"
         : o.sensitivity                                    ? "--sensitivity"
         : !o.check                                         ? "--no-check"
         : o.check_samples != kCheckSamples                 ? "--check-samples"
         : o.threads != 0                                   ? "--threads"
                                                            : nullptr;
}

std::string HashOf(const std::string& text) {
  return Sha256Hex({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace

void CheckOptions(const DeployOptions& o) {
  RequireUsage(!o.force_preprocess || o.preprocess.given(),
               "--force-preprocess needs --preprocess or one of the flags beside it");
  if (o.mode == DeployMode::kF32) {
    const char* useless = UselessForF32(o);
    RequireUsage(useless == nullptr, useless == nullptr ? "" : useless,
                 " has no meaning with --mode f32: leave it out");
  }
  const bool has_test = !o.test_input.empty() || !o.test_samples.empty();
  RequireUsage(o.test_input.empty() || o.test_samples.empty(),
               "the test input is given twice, as files and as samples in memory");
  RequireUsage(o.threads == 0 || o.check || has_test,
               "--threads is for the check and --test-input; leave it out with --no-check");
  RequireUsage(o.check_samples == kCheckSamples || o.check || o.sensitivity,
               "--check-samples is for the check and --sensitivity; leave it out with --no-check");
  if (!o.variant) return;
  const ProfileId profile = o.profile.value_or(ProfileId::kTpu);
  const std::string names = VariantNames(profile);
  RequireUsage(HasVariant(profile, *o.variant), "--variant ", Name(*o.variant), ": profile ",
               Name(profile), " has ", names.empty() ? "none" : names,
               "; give the --profile it belongs to, or leave it out");
}

void CheckAgainstModel(const DeployOptions& options, const Graph& graph) {
  if (options.mode == DeployMode::kF32) return;
  if (HoldsQuantization(graph)) {
    RequireUsage(!options.table.given(),
                 "--calibration: the model holds its own quantization parameters "
                 "(QuantizeLinear, DequantizeLinear); leave the table out");
    return;
  }
  RequireUsage(options.table.given(), "--mode ",
               options.mode == DeployMode::kAsymmetric ? "asymmetric" : "symmetric",
               " needs --calibration TABLE.yaml (make one with model_calibrate)");
}

QuantizeOptions ReadQuantizeOptions(const DeployOptions& options) {
  QuantizeOptions quantize;
  quantize.mode_given = options.mode != DeployMode::kDefault;
  quantize.mode =
      options.mode == DeployMode::kAsymmetric ? QuantMode::kAsymmetric : QuantMode::kSymmetric;
  quantize.profile.id = options.profile.value_or(ProfileId::kTpu);
  quantize.profile.variant = options.variant.value_or(Variant::kByTable);
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

HashedTable ReadTableFor(const DeployOptions& options, const Graph& graph) {
  const std::string& where = options.table.path;
  const std::string text =
      options.table.value ? WriteTable(*options.table.value) : ReadTextFile(where);
  HashedTable read{options.table.value ? *options.table.value : ReadTable(text, where),
                   HashOf(text)};
  const CalibrationTable& table = read.table;
  RSHIFT_REQUIRE(table.model_sha256.empty() || table.model_sha256 == graph.sha256,
                 ErrorCode::kInvalidInput, where, ": made from another model (sha256 ",
                 table.model_sha256.substr(0, 12), "..., this model is ",
                 graph.sha256.substr(0, 12), "...); calibrate this model");
  RSHIFT_REQUIRE(table.pass_list_version == 0 || table.pass_list_version == kPassListVersion,
                 ErrorCode::kInvalidInput, where, ": made with pass list version ",
                 table.pass_list_version, ", this program has ", kPassListVersion,
                 "; calibrate again");
  return read;
}

}  // namespace rshift
