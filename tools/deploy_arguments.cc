#include "tools/deploy_arguments.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

DeployMode ParseMode(const std::string& name) {
  return name == "f32"          ? DeployMode::kF32
         : name == "asymmetric" ? DeployMode::kAsymmetric
         : name == "symmetric"  ? DeployMode::kSymmetric
                                : DeployMode::kDefault;
}

// TYPE or NAME=TYPE, each at most once.
void AddType(const char* option, const std::string& text, bool* has_all, ElementTypes* types) {
  const size_t equals = text.rfind('=');
  const std::string type = equals == std::string::npos ? text : text.substr(equals + 1);
  constexpr DType kTypes[] = {DType::kU8, DType::kS8, DType::kS16, DType::kF32};
  const auto* const found = std::ranges::find_if(kTypes, [&](DType t) { return type == Name(t); });
  RSHIFT_REQUIRE(found != std::end(kTypes) && equals != 0, ErrorCode::kInvalidInput, "'", text,
                 "', expected u8, s8, s16, f32 or NAME=u8, NAME=s8, NAME=s16, NAME=f32");
  const DType dtype = *found;
  bool once = true;
  if (equals == std::string::npos) {
    once = !*has_all;
    *has_all = true;
    types->all = dtype;
  } else {
    once = types->named.emplace(text.substr(0, equals), dtype).second;
  }
  RSHIFT_REQUIRE(once, ErrorCode::kInvalidInput, option, " ", text, ": given twice");
}

ElementTypes ParseTypes(const char* option, const std::vector<std::string>& texts) {
  ElementTypes types;
  bool has_all = false;
  for (const std::string& text : texts) AddType(option, text, &has_all, &types);
  return types;
}

CLI::Option* AddTypeOption(CLI::App& app, const char* option, std::vector<std::string>* texts,
                           const std::string& what) {
  return app.add_option(option, *texts, what)
      ->allow_extra_args(false)
      ->type_name("[NAME=]TYPE")
      ->check(TakenBy([=](const std::string& text) { ParseTypes(option, {text}); }));
}

void CheckAutoReport(const std::string& path) {
  RSHIFT_REQUIRE(path.ends_with(".html") || path.ends_with(".json"), ErrorCode::kInvalidInput,
                 "--auto-report ", path, ": the name ends in neither .html nor .json");
}

}  // namespace

void DeployArguments::AddTo(CLI::App& app) {
  model.AddTo(app);
  app.add_option("--calibration", calibration,
                 "calibration table (--mode f32 needs none; it takes the preprocessing from it; a "
                 "model with QuantizeLinear and DequantizeLinear has its own parameters)");
  app.add_option("--scales", scales,
                 "another tool's scales, thresholds or ranges, in any format of model_tool scales; "
                 "--calibration beside it gives what they do not say");
  app.add_option("-o,--output", output, "the .rshift program to write")->required();
  app.add_option("--mode", mode,
                 "symmetric | asymmetric | f32 (default symmetric; a QDQ model's own)")
      ->check(CLI::IsMember({"symmetric", "asymmetric", "f32"}));
  std::vector<std::string> profiles;
  profiles.reserve(kProfileCount);
  for (int i = 0; i < kProfileCount; ++i) profiles.push_back(Name(static_cast<ProfileId>(i)));
  app.add_option("--profile", profile, "integer arithmetic (default tpu)")
      ->check(CLI::IsMember(profiles));
  std::string variants;
  for (int i = 0; i < kProfileCount; ++i) {
    const auto id = static_cast<ProfileId>(i);
    const std::string names = VariantNames(id);
    if (!names.empty()) variants += Cat(variants.empty() ? "" : "; ", Name(id), ": ", names);
  }
  app.add_option("--variant", variant,
                 Cat("another arithmetic of the profile: ", variants,
                     ". tpu's are the bits of convolutions' multipliers"))
      ->check(TakenBy([](const std::string& name) { ParseVariant(name); }));
  app.add_option("--activation-bits", activation_bits,
                 "8 (default) | 16: results of every operator that has a 16-bit form, weights stay "
                 "8 (or 4) bits; single layers: activation_bits in --config")
      ->check(CLI::IsMember({8, 16}));
  app.add_option("--residual-bits", residual_bits,
                 "8 (default) | 16: sums of two activations and what they add; convolutions and "
                 "matrix products behind them read 8 bits")
      ->check(CLI::IsMember({8, 16}));
  app.add_option("--weight-bits", weight_bits,
                 "8 (default) | 4: weights of 1x1 convolutions and matrix products but the first "
                 "and the last, two to a byte in the file (docs/weights.md); others: weight_bits "
                 "in --config")
      ->check(CLI::IsMember({8, 4}));
  app.add_option("--shift-negative", shift_negative,
                 "on (default) | off, symmetric mode: results of SiLU, HardSwish, GELU and others "
                 "that reach little below zero are unsigned, moved up by whole quanta, where "
                 "convolutions and matrix products alone read them (docs/accuracy.md)")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--equalize", equalize,
                 "auto (default): as the table says, what it leaves to a trial where the outputs "
                 "gain 1 dB by it (docs/accuracy.md) | all: that in any case | table: in none | "
                 "off: as if the table had been made with --equalize off; --scales, --emit-qdq "
                 "and --emit-fakequantize do that, too")
      ->check(CLI::IsMember({"auto", "table", "all", "off"}));
  app.add_option("--config", config,
                 "overrides by name, wildcard or operator (YAML; configs/README.md)");
  app.add_option("--target", target, "what the chip can do: configs/targets/X.yaml");
  AddTypeOption(
      app, "--input-type", &input_type,
      "u8 | s8 | s16 | f32 (default), of one input NAME=u8 (repeatable): the integers the "
      "program takes. Bytes of an input with preprocessing are pixels (s8: pixel - 128), "
      "mean and scale are in the program; all others are those of the input's own scale "
      "and zero point (model_tool info); s16 is for inputs of 16 bits");
  AddTypeOption(app, "--output-type", &output_type,
                "u8 | s8 | s16 | f32 (default), of one output NAME=s8 (repeatable): the integers "
                "as they are; s16 is for outputs of 16 bits");
  preprocess.AddTo(app, "carried into the program; default: the table's");
  app.add_flag("--force-preprocess", force_preprocess,
               "take a preprocessing that differs from the table's all the same");
  AddCorrectionOptions(app);
  AddSearchOptions(app);
  AddCheckOptions(app);
  app.add_flag("--no-fuse", no_fuse,
               "a command and tensors of its own for every operator: the same bytes, more slowly");
  app.add_flag(
      "--drop-residual-round", drop_residual_round,
      "of a model with FakeQuantize: one before an Add with a FakeQuantize behind it scales "
      "and clips, but does not round, as OpenVINO's CPU plugin; other numbers, by half a "
      "level of it at most");
  app.add_option("--emit-qdq", emit_qdq,
                 "the quantized model as ONNX with QuantizeLinear and DequantizeLinear, for ONNX "
                 "Runtime and OpenVINO");
  app.add_option("--emit-fakequantize", emit_fakequantize,
                 "the same with OpenVINO's FakeQuantize (domain org.openvinotoolkit)");
  app.add_option("--report", report, "per-layer report, one self-contained HTML page");
  app.add_option("--report-json", report_json, "the same as JSON");
  app.add_flag("--json", json, "the summary on stdout as JSON, as --report-json writes it");
  app.add_option("--dump-graph", dump_graph,
                 "STAGE[=FILE]: imported | passes | quantized | target (repeatable)");
  app.add_option("--threads", threads,
                 "for the check, --test-input, --auto, --bias-correction, --weight-rounding and "
                 "--weight-clipping (default 1)")
      ->check(CLI::Range(1, kMaxThreads));
}

void DeployArguments::AddCorrectionOptions(CLI::App& app) {
  app.add_option(
         "--bias-correction", bias_correction,
         "auto | off | fast | full | regression: take the mean of each channel's error out of the "
         "biases, as every layer makes it by itself (fast) or as the whole integer program does "
         "(full); regression: scale each channel, too, to come nearest to the float one; auto, the "
         "default: fast where it brings the outputs 1 dB")
      ->check(CLI::IsMember({"auto", "off", "fast", "full", "regression"}));
  app.add_option("--weight-rounding", weight_rounding,
                 "auto | nearest | gptq: round each weight by itself (nearest), or a channel's "
                 "weights together, so that its sums on the samples are right; auto, the default: "
                 "gptq where it brings the outputs 1 dB")
      ->check(CLI::IsMember({"auto", "nearest", "gptq"}));
  app.add_option("--weight-clipping", weight_clipping,
                 "off | mse: clip a channel's largest weights where its sums on the samples get "
                 "better by finer steps")
      ->check(CLI::IsMember({"off", "mse"}));
  auto* data = app.add_option(
      "--correction-data", correction_data,
      "data set that --auto, --bias-correction, --weight-rounding and --weight-clipping measure "
      "on (default: the samples that the table recorded)");
  app.add_option(
         "--correction-samples", correction_samples,
         "how many of --correction-data, chosen as model_calibrate does (default 64; 0: all)")
      ->check(CLI::Range(0, 1'000'000))
      ->needs(data);
}

void DeployArguments::AddSearchOptions(CLI::App& app) {
  auto* search = app.add_flag(
      "--auto", automatic,
      "search for what makes the program good enough: how weights are rounded and biases "
      "corrected, then which groups of operators get 16 bits, or stay in F32 (docs/auto.md)");
  app.add_option("--budget", budget,
                 "cosine=0.999 | top1=99 (percent of what the float program has right) | "
                 "boxes=0.95 (recall and precision of a detector's boxes) | "
                 "float-layers=2 | time=40evaluations: what is good enough, and what may be spent "
                 "on it (repeatable; default: 25 dB SQNR and 0.95 of a detector's boxes, or what "
                 "16 bits everywhere reach; nothing in F32)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE")
      ->check(TakenBy([](const std::string& text) { ParseBudget({text}); }))
      ->needs(search);
  app.add_option("--auto-config", auto_config,
                 "the types chosen, as a --config file: with the options that its first line names "
                 "it makes the same program without a search")
      ->needs(search);
  app.add_option("--auto-qtable", auto_qtable,
                 "the same as a quantization table of TPU-MLIR (F16 for 16 bits)")
      ->needs(search);
  app.add_option("--auto-report", auto_report,
                 "everything that was tried, as a page (.html) or as JSON (.json)")
      ->check(TakenBy([](const std::string& path) { CheckAutoReport(path); }))
      ->needs(search);
  app.add_option("--auto-state", auto_state,
                 "keep what was measured in this file: a search that was interrupted goes on, and "
                 "another budget measures only what is new")
      ->needs(search);
  app.add_option("--labels", labels,
                 "classes of --correction-data, as model_runner takes them: --auto judges by top-1")
      ->needs(search);
}

void DeployArguments::AddCheckOptions(CLI::App& app) {
  app.add_flag("--no-check", no_check,
               "do not run the program on samples of the calibration beside the float model");
  app.add_option("--check-samples", check_samples,
                 "for the check and --sensitivity: how many of the recorded samples, or of "
                 "--test-input (default 4)")
      ->check(CLI::Range(1, static_cast<int>(kMaxRecordedSamples)));
  auto* test = app.add_option("--test-input", test_input,
                              "run float and integer program on these and compare every tensor");
  app.add_option("--tolerance", tolerance,
                 "COS,EUCLID every compared tensor must reach, else exit 1")
      ->needs(test);
  auto* ranking = app.add_option(
      "--sensitivity", sensitivity,
      "run each integer node alone in INT8, rank them by the outputs, and write a --config file "
      "that leaves the worst in F32");
  app.add_option("--keep-f32", keep_f32,
                 "how many nodes that file leaves in F32 (default: the fewest that are enough)")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(ranking);
}

RunPaths DeployArguments::Paths() const {
  RunPaths paths;
  model.AddTo(paths);
  paths.inputs.push_back({"--calibration", calibration});
  paths.inputs.push_back({"--scales", scales});
  paths.inputs.push_back({"--config", config});
  paths.inputs.push_back({"--target", target});
  paths.inputs.push_back({"--labels", labels});
  paths.AddInputs("--preprocess", {preprocess.file()});
  paths.AddData("--correction-data", correction_data);
  paths.AddData("--test-input", test_input);
  paths.outputs = {{"--output", output},           {"--report", report},
                   {"--report-json", report_json}, {"--sensitivity", sensitivity},
                   {"--emit-qdq", emit_qdq},       {"--emit-fakequantize", emit_fakequantize},
                   {"--auto-config", auto_config}, {"--auto-qtable", auto_qtable},
                   {"--auto-report", auto_report}, {"--auto-state", auto_state}};
  for (const std::string& request : dump_graph) {
    const size_t equals = request.find('=');
    if (equals != std::string::npos)
      paths.outputs.push_back({"--dump-graph", request.substr(equals + 1)});
  }
  return paths;
}

DeployOptions DeployArguments::Options() const {
  DeployOptions options{.model = {model.path}};
  options.table.path = calibration;
  options.scales.path = scales;
  options.mode = ParseMode(mode);
  if (!profile.empty()) options.profile = ParseProfile(profile);
  if (!variant.empty()) options.variant = ParseVariant(variant);
  options.activation_bits = activation_bits;
  RequireUsage(activation_bits == 8 || residual_bits.value_or(16) == 16,
               "--residual-bits 8: with --activation-bits 16 sums of two activations have 16 bits "
               "as every result has; leave it out, or give single layers activation_bits in "
               "--config");
  options.residual_bits = residual_bits.value_or(8);
  options.weight_bits = weight_bits;
  options.shift_negative = shift_negative == "on";
  options.equalize = ParseEqualizeMode(equalize);
  options.config.path = config;
  options.target.path = target;
  options.preprocess = preprocess;
  options.force_preprocess = force_preprocess;
  options.input_type = ParseTypes("--input-type", input_type);
  options.output_type = ParseTypes("--output-type", output_type);
  options.fuse = !no_fuse;
  options.drop_residual_round = drop_residual_round;
  options.output = output;
  options.bias_correction = ParseBiasCorrection(bias_correction);
  options.weights = {ParseWeightRounding(weight_rounding), ParseWeightClipping(weight_clipping)};
  options.correction_data = correction_data;
  options.correction_samples = correction_samples;
  options.automatic = automatic;
  options.budget = ParseBudget(budget);
  options.search_state = auto_state;
  options.search_labels = labels;
  options.check = !no_check;
  options.check_samples = check_samples;
  options.test_input = test_input;
  options.emit_qdq = !emit_qdq.empty();
  options.emit_fakequantize = !emit_fakequantize.empty();
  options.sensitivity = !sensitivity.empty();
  options.keep_f32 = keep_f32;
  options.threads = threads;
  return options;
}

}  // namespace rshift
