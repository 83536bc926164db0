#include "pipeline/deploy_options.h"

#include "base/error.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

// The first option that an f32 program has no use for; nullptr when there is none. --no-check and
// --threads hold of it as they are said: nothing is checked, by any number of threads.
const char* UselessForF32(const DeployOptions& o) {
  return o.config.given()                                   ? "--config"
         : o.scales.given()                                 ? "--scales"
         : o.target.given()                                 ? "--target"
         : o.profile                                        ? "--profile"
         : o.variant                                        ? "--variant"
         : o.activation_bits != 8                           ? "--activation-bits"
         : o.residual_bits != 8                             ? "--residual-bits"
         : o.weight_bits != 8                               ? "--weight-bits"
         : !o.shift_negative                                ? "--shift-negative"
         : o.equalize != EqualizeMode::kAuto                ? "--equalize"
         : !o.test_input.empty() || !o.test_samples.empty() ? "--test-input"
         : o.bias_correction != BiasCorrectionMode::kAuto   ? "--bias-correction"
         : o.weights.rounding != WeightRounding::kAuto      ? "--weight-rounding"
         : o.weights.clipping != WeightClipping::kOff       ? "--weight-clipping"
         : GivesCorrectionSamples(o)                        ? "--correction-data"
         : o.drop_residual_round                            ? "--drop-residual-round"
         : o.automatic                                      ? "--auto"
         : o.sensitivity                                    ? "--sensitivity"
         : o.emit_fakequantize                              ? "--emit-fakequantize"
         : o.emit_qdq                                       ? "--emit-qdq"
         : o.check_samples != kCheckSamples                 ? "--check-samples"
                                                            : nullptr;
}

void CheckSearch(const DeployOptions& o) {
  const bool methods = o.bias_correction != BiasCorrectionMode::kAuto || o.weights.asked() ||
                       o.weights.rounding != WeightRounding::kAuto;
  RequireUsage(!o.automatic || !methods,
               "--auto chooses --bias-correction, --weight-rounding and --weight-clipping itself: "
               "leave them out");
  RequireUsage(!o.automatic || !o.sensitivity, "--auto and --sensitivity: give one of them");
  RequireUsage(o.search_labels.empty() || !o.correction_data.empty(),
               "--labels are those of --correction-data: give both");
}

}  // namespace

EqualizeMode ParseEqualizeMode(const std::string& name) {
  if (name == "auto") return EqualizeMode::kAuto;
  if (name == "table") return EqualizeMode::kTable;
  if (name == "all") return EqualizeMode::kAll;
  RSHIFT_REQUIRE(name == "off", ErrorCode::kInvalidInput, "equalize '", name,
                 "': expected auto, table, all or off");
  return EqualizeMode::kOff;
}

void CheckOptions(const DeployOptions& o) {
  RequireUsage(!o.force_preprocess || o.preprocess.given(),
               "--force-preprocess needs --preprocess or one of the flags beside it");
  RequireUsage(o.check_samples >= 1, "--check-samples ", o.check_samples, ": expected 1 or more");
  RequireUsage(o.threads >= 0, "--threads ", o.threads, ": expected 0 (one) or more");
  RequireUsage(o.keep_f32 >= 0, "--keep-f32 ", o.keep_f32,
               ": expected 0 (the fewest that are enough) or more");
  RequireUsage(o.keep_f32 == 0 || o.sensitivity, "--keep-f32 needs --sensitivity");
  if (o.mode == DeployMode::kF32) {
    const char* useless = UselessForF32(o);
    RequireUsage(useless == nullptr, useless == nullptr ? "" : useless,
                 " has no meaning with --mode f32: leave it out");
  }
  RequireUsage(o.shift_negative || o.mode != DeployMode::kAsymmetric,
               "--shift-negative is for --mode symmetric: asymmetric programs have zero points");
  RequireUsage(o.shift_negative || o.profile.value_or(ProfileId::kTpu) == ProfileId::kTpu,
               "--shift-negative is of profile tpu alone: leave it or --profile out");
  RequireUsage(o.equalize == EqualizeMode::kAuto || o.table.given(),
               "--equalize is about the equalization of a table: give --calibration, or leave it "
               "out");
  const bool models_own = o.emit_qdq || o.emit_fakequantize || o.scales.given();
  RequireUsage(
      !models_own || (o.equalize != EqualizeMode::kAll && o.equalize != EqualizeMode::kTable),
      "--emit-qdq, --emit-fakequantize and --scales are about the model's own weights and "
      "tensors: give --equalize off, or leave it out");
  // What is automatic is left out beside another tool's scales.
  const bool may = !o.scales.given();
  const bool rounds = o.weights.asked() || (may && o.weights.rounding == WeightRounding::kAuto &&
                                            o.profile != ProfileId::kAscend);
  const bool corrects = AsksForCorrection(o.bias_correction) || rounds || o.automatic ||
                        (may && o.bias_correction == BiasCorrectionMode::kAuto);
  CheckSearch(o);
  RequireUsage(o.correction_samples >= 0, "--correction-samples ", o.correction_samples,
               ": expected 0 (all) or more");
  RequireUsage(o.correction_data.empty() || o.correction_values.empty(),
               "--correction-data names the samples that are measured on, and samples in memory "
               "are given, too: give one of them");
  RequireUsage(!GivesCorrectionSamples(o) || corrects,
               "--correction-data is for --auto, --bias-correction, --weight-rounding and "
               "--weight-clipping mse: add one, or leave the data out");
  RequireUsage(
      !o.weights.asked() || o.profile != ProfileId::kAscend,
      "--weight-rounding and --weight-clipping are not for --profile ascend, whose weights "
      "have the scales of its configuration: leave them out");
  RequireUsage(o.activation_bits == 8 || o.activation_bits == 16, "--activation-bits ",
               o.activation_bits, ": expected 8 or 16");
  RequireUsage(o.residual_bits == 8 || o.residual_bits == 16, "--residual-bits ", o.residual_bits,
               ": expected 8 or 16");
  RequireUsage(o.weight_bits == 8 || o.weight_bits == 4, "--weight-bits ", o.weight_bits,
               ": expected 8 or 4");
  RequireUsage(o.weight_bits == 8 || o.profile != ProfileId::kAscend,
               "--weight-bits is not for --profile ascend, whose weights have the scales of its "
               "configuration: leave it out");
  const bool has_test = !o.test_input.empty() || !o.test_samples.empty();
  RequireUsage(o.test_input.empty() || o.test_samples.empty(),
               "the test input is given twice, as files and as samples in memory");
  RequireUsage(o.threads == 0 || o.mode == DeployMode::kF32 || o.check || has_test || corrects,
               "--threads is for the check, --test-input, --auto, --bias-correction, "
               "--weight-rounding and --weight-clipping; leave it out with --no-check");
  RequireUsage(o.check_samples == kCheckSamples || o.check || o.sensitivity,
               "--check-samples is for the check and --sensitivity; leave it out with --no-check");
  if (!o.variant) return;
  const ProfileId profile = o.profile.value_or(ProfileId::kTpu);
  const std::string names = VariantNames(profile);
  RequireUsage(HasVariant(profile, *o.variant), "--variant ", Name(*o.variant), ": profile ",
               Name(profile), " has ", names.empty() ? "none" : names,
               "; give the --profile it belongs to, or leave it out");
}

}  // namespace rshift
