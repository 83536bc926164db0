#include "rshift/toolchain_options.h"

#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/threshold.h"
#include "quantize/profile.h"
#include "rshift/c_status.h"

namespace rshift {
namespace {

std::string TextOr(const char* text, const char* fallback = "") {
  return text == nullptr ? fallback : text;
}

template <typename T>
std::span<const T> Array(const T* data, size_t count, const char* function, const char* field) {
  if (count > 0) RequirePointer(data, function, field);
  return {data, count};
}

std::span<const uint8_t> Bytes(const rshift_bytes& bytes, const char* function, const char* field) {
  return Array(static_cast<const uint8_t*>(bytes.data), bytes.size, function, field);
}

ModelFile ModelOf(const char* path, const rshift_bytes& content, const char* function) {
  if (content.data == nullptr) {
    RequirePointer(path, function, "model");
    return {path, {}};
  }
  const auto bytes = Bytes(content, function, "model_bytes");
  return {TextOr(path), std::vector<uint8_t>(bytes.begin(), bytes.end())};
}

ImportOptions ImportOf(std::span<const rshift_input_shape> shapes, const char* function) {
  ImportOptions options;
  for (const rshift_input_shape& given : shapes) {
    RequirePointer(given.input, function, "input_shapes[].input");
    const auto dims = Array(given.shape, given.rank, function, "input_shapes[].shape");
    for (const int64_t dim : dims) {
      RSHIFT_REQUIRE(dim > 0, ErrorCode::kInvalidInput, function, ": the shape of input '",
                     given.input, "' has the size ", dim, ", expected positive sizes");
    }
    options.input_shapes[given.input] = Shape(dims.begin(), dims.end());
  }
  return options;
}

std::vector<Sample> SamplesOf(std::span<const rshift_sample> given, const char* function) {
  std::vector<Sample> samples;
  samples.reserve(given.size());
  for (const rshift_sample& from : given) {
    Sample sample{.name = TextOr(from.name), .inputs = {}};
    if (sample.name.empty()) sample.name = "sample " + std::to_string(samples.size());
    const auto values = Array(from.values, from.inputs, function, "the values of a sample");
    const auto elements = Array(from.elements, from.inputs, function, "the elements of a sample");
    for (size_t i = 0; i < from.inputs; ++i) {
      const auto input = Array(values[i], elements[i], function, "an array of a sample");
      sample.inputs.emplace_back(input.begin(), input.end());
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

ElementTypes TypesOf(std::span<const rshift_element_type> given, const char* function) {
  ElementTypes types;
  bool has_all = false;
  for (const rshift_element_type& one : given) {
    const bool known = one.type == RSHIFT_F32 || one.type == RSHIFT_U8 || one.type == RSHIFT_S8 ||
                       one.type == RSHIFT_S16;
    const std::string name = TextOr(one.tensor, "every tensor");
    RSHIFT_REQUIRE(known, ErrorCode::kInvalidInput, function, ": the type of ", name, " is ",
                   static_cast<int>(one.type),
                   ", expected RSHIFT_F32, RSHIFT_U8, RSHIFT_S8 or RSHIFT_S16");
    const auto dtype = static_cast<DType>(one.type);  // the numbers are the same
    bool once = !has_all;
    if (one.tensor == nullptr) {
      types.all = dtype;
      has_all = true;
    } else {
      once = types.named.emplace(one.tensor, dtype).second;
    }
    RSHIFT_REQUIRE(once, ErrorCode::kInvalidInput, function, ": the type of ", name,
                   " is given twice");
  }
  return types;
}

DeployMode ModeOf(const std::string& name) {
  if (name.empty()) return DeployMode::kDefault;
  if (name == "symmetric") return DeployMode::kSymmetric;
  if (name == "asymmetric") return DeployMode::kAsymmetric;
  RSHIFT_REQUIRE(name == "f32", ErrorCode::kInvalidInput, "rshift_deploy: mode is '", name,
                 "', expected symmetric, asymmetric or f32");
  return DeployMode::kF32;
}

// Between commas.
std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream left(text);
  for (std::string part; std::getline(left, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

CalibrateOptions OptionsOf(const rshift_calibrate_options& given, const char* function) {
  RSHIFT_REQUIRE(given.samples >= -1, ErrorCode::kInvalidInput, function, ": samples is ",
                 given.samples, ", expected a number of samples, 0 for ", kCalibrationSamples,
                 " or -1 for all");
  RSHIFT_REQUIRE(given.dataset != nullptr || given.data_count > 0 || given.statistics_count > 0,
                 ErrorCode::kInvalidInput, function, ": dataset is NULL, and there are neither ",
                 "samples in memory nor statistics");
  CalibrateOptions options{.model = ModelOf(given.model, given.model_bytes, function)};
  options.import = ImportOf(
      Array(given.input_shapes, given.input_shapes_count, function, "input_shapes"), function);
  if (given.dataset != nullptr) options.dataset = {given.dataset};
  options.data = SamplesOf(Array(given.data, given.data_count, function, "data"), function);
  options.preprocess.source = TextOr(given.preprocess);
  const std::string method = TextOr(given.method, "kl");
  options.automatic = method == "auto";
  if (!options.automatic) options.method.method = ParseMethod(method);
  options.equalize = TextOr(given.equalize, "auto");
  if (given.samples != 0) options.samples = given.samples == -1 ? 0 : given.samples;
  options.seed = given.seed;
  options.shard = TextOr(given.shard);
  options.threads = given.threads;
  options.portable = given.portable != 0;
  for (const rshift_bytes& part :
       Array(given.statistics, given.statistics_count, function, "statistics")) {
    const std::string where = "statistics " + std::to_string(options.statistics.size());
    options.statistics.push_back(
        {where, ReadStatistics(Bytes(part, function, "statistics[].data"), where)});
  }
  options.partial = given.partial != 0;
  return options;
}

DeployOptions OptionsOf(const rshift_deploy_options& given, const char* function) {
  DeployOptions options{.model = ModelOf(given.model, given.model_bytes, function)};
  options.import = ImportOf(
      Array(given.input_shapes, given.input_shapes_count, function, "input_shapes"), function);
  if (given.table != nullptr) options.table.value = ReadTable(given.table, "the table");
  options.mode = ModeOf(TextOr(given.mode));
  if (given.profile != nullptr) options.profile = ParseProfile(given.profile);
  options.config.path = TextOr(given.config);
  options.scales.path = TextOr(given.scales);
  options.target.path = TextOr(given.target);
  options.preprocess.source = TextOr(given.preprocess);
  options.input_type =
      TypesOf(Array(given.input_types, given.input_types_count, function, "input_types"), function);
  options.output_type = TypesOf(
      Array(given.output_types, given.output_types_count, function, "output_types"), function);
  options.check = given.no_check == 0;
  options.test_samples =
      SamplesOf(Array(given.test_data, given.test_data_count, function, "test_data"), function);
  options.emit_qdq = given.emit_qdq != 0;
  options.bias_correction = ParseBiasCorrection(TextOr(given.bias_correction, "auto"));
  options.weights = {ParseWeightRounding(TextOr(given.weight_rounding, "auto")),
                     ParseWeightClipping(TextOr(given.weight_clipping, "off"))};
  if (given.activation_bits != 0) options.activation_bits = given.activation_bits;
  if (given.weight_bits != 0) options.weight_bits = given.weight_bits;
  if (given.residual_bits != 0) options.residual_bits = given.residual_bits;
  options.shift_negative = given.no_shift_negative == 0;
  options.equalize = ParseEqualizeMode(TextOr(given.equalize, "auto"));
  RSHIFT_REQUIRE(given.budget == nullptr || given.automatic != 0, ErrorCode::kInvalidInput,
                 function, ": budget is '", given.budget, "', but automatic is 0; set it");
  options.automatic = given.automatic != 0;
  options.budget = ParseBudget(Parts(TextOr(given.budget)));
  options.threads = given.threads;
  return options;
}

ProgressFunction CallersProgress::function() {
  if (progress_ == nullptr) return {};
  return [this](const std::string& title, int64_t done, int64_t total) {
    if (progress_(user_, title.c_str(), done, total) == 0) return;
    interrupted_ = true;
    Fail(ErrorCode::kIo, "interrupted by the caller (", title, ", ", done, " of ", total, " done)");
  };
}

}  // namespace rshift
