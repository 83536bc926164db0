#include "rshift/toolchain.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "calibrate/threshold.h"
#include "pipeline/calibrate.h"
#include "pipeline/deploy.h"
#include "quantize/profile.h"
#include "rshift/c_status.h"
#include "rshift/float_kernels.h"

namespace rshift {
namespace {

std::string TextOr(const char* text, const char* fallback = "") {
  return text == nullptr ? fallback : text;
}

// Of malloc, with a 0 behind it.
char* CopyOf(std::string_view bytes) {
  auto* copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = 0;
  return copy;
}

CalibrateOptions OptionsOf(const rshift_calibrate_options& given) {
  RequirePointer(given.model, "rshift_calibrate", "model");
  RequirePointer(given.dataset, "rshift_calibrate", "dataset");
  RSHIFT_REQUIRE(given.samples >= -1, ErrorCode::kInvalidInput, "rshift_calibrate: samples is ",
                 given.samples, ", expected a number of samples, 0 for ", kCalibrationSamples,
                 " or -1 for all");
  CalibrateOptions options{.model = {given.model, {}}};
  options.dataset = {given.dataset};
  options.preprocess.source = TextOr(given.preprocess);
  options.method.method = ParseMethod(TextOr(given.method, "kl"));
  options.equalize = TextOr(given.equalize, "auto");
  if (given.samples != 0) options.samples = given.samples == -1 ? 0 : given.samples;
  options.seed = given.seed;
  options.threads = given.threads;
  return options;
}

DeployMode ModeOf(const std::string& name) {
  if (name.empty()) return DeployMode::kDefault;
  if (name == "symmetric") return DeployMode::kSymmetric;
  if (name == "asymmetric") return DeployMode::kAsymmetric;
  RSHIFT_REQUIRE(name == "f32", ErrorCode::kInvalidInput, "rshift_deploy: mode is '", name,
                 "', expected symmetric, asymmetric or f32");
  return DeployMode::kF32;
}

DeployOptions OptionsOf(const rshift_deploy_options& given) {
  RequirePointer(given.model, "rshift_deploy", "model");
  DeployOptions options{.model = {given.model, {}}};
  if (given.table != nullptr) options.table.value = ReadTable(given.table, "the table");
  options.mode = ModeOf(TextOr(given.mode));
  if (given.profile != nullptr) options.profile = ParseProfile(given.profile);
  options.config.path = TextOr(given.config);
  options.target.path = TextOr(given.target);
  options.preprocess.source = TextOr(given.preprocess);
  options.check = given.no_check == 0;
  options.threads = given.threads;
  return options;
}

}  // namespace
}  // namespace rshift

extern "C" {

rshift_status rshift_calibrate(const rshift_calibrate_options* options, char** table) {
  return rshift::Guarded([&] {
    rshift::RequirePointer(options, "rshift_calibrate", "options");
    rshift::RequirePointer(table, "rshift_calibrate", "table");
    rshift::RegisterFloatKernels();
    *table =
        rshift::CopyOf(rshift::WriteTable(rshift::Calibrate(rshift::OptionsOf(*options)).table));
  });
}

rshift_status rshift_deploy(const rshift_deploy_options* options, void** program, size_t* size,
                            char** warnings) {
  return rshift::Guarded([&] {
    rshift::RequirePointer(options, "rshift_deploy", "options");
    rshift::RequirePointer(program, "rshift_deploy", "program");
    rshift::RequirePointer(size, "rshift_deploy", "size");
    rshift::RegisterFloatKernels();
    const rshift::DeployResult result = rshift::Deploy(rshift::OptionsOf(*options));
    std::string lines;
    for (const std::string& warning : result.warnings) lines += warning + "\n";
    char* warning_lines = warnings == nullptr ? nullptr : rshift::CopyOf(lines);
    const auto* bytes = reinterpret_cast<const char*>(result.program.data());
    try {
      *program = rshift::CopyOf({bytes, result.program.size()});
    } catch (...) {
      std::free(warning_lines);
      throw;
    }
    *size = result.program.size();
    if (warnings != nullptr) *warnings = warning_lines;
  });
}

void rshift_free(void* memory) { std::free(memory); }

}  // extern "C"
