#include "pipeline/deploy.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/version.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "graph/passes/passes.h"
#include "graph/passes/split_fake_quantize.h"
#include "graph/sha256.h"
#include "interop/qdq_export.h"
#include "pipeline/check_program.h"
#include "pipeline/choose_integers.h"
#include "pipeline/config_names.h"
#include "pipeline/correction_samples.h"
#include "pipeline/deploy_inputs.h"
#include "pipeline/deploy_preprocess.h"
#include "pipeline/equalization_trial.h"
#include "pipeline/input_shapes.h"
#include "pipeline/model_integers.h"
#include "pipeline/own_program.h"
#include "pipeline/program_interface.h"
#include "pipeline/search/trials.h"
#include "quantize/equalize/apply.h"
#include "quantize/int16_plan.h"
#include "quantize/quantize.h"
#include "quantize/set_biases.h"
#include "quantize/set_weights.h"
#include "quantize/weight_bits.h"
#include "runtime/onednn/float_library.h"

namespace rshift {
namespace {

// "conv1=tflite d1; conv2=caffe2"; "" where every node has the model's.
std::string LayerProfiles(const std::vector<QuantizeReport::NodeProfile>& profiles) {
  std::string text;
  for (const auto& [node, profile] : profiles) {
    text += Cat(text.empty() ? "" : "; ", node, "=", Name(profile.id));
    if (profile.variant != Variant::kByTable) text += Cat(" ", Name(profile.variant));
  }
  return text;
}

// One run of Deploy: each step takes what the steps before it have left.
class Deployer {
 public:
  Deployer(const DeployOptions& options, const DeployEvents& events)
      : options_(options), events_(events) {}

  DeployResult Result() {
    ReadInputs();
    Quantize();
    MakeProgram();
    ChangeInterface();
    Check();
    Describe();
    return std::move(result_);
  }

 private:
  void ReadInputs() {
    DeployReport& report = result_.report;
    report.model = options_.model.path;
    report.output = options_.output;
    report.tolerance = options_.tolerance;
    if (options_.table.given()) given_ = ReadGivenTable(options_);
    Graph imported = ImportModel(options_.model, WithShapesOf(given_.table, options_.import),
                                 [&](const std::string& note) { Warn(note); });
    Tell(DeployStage::kImported, imported);
    if (options_.emit_qdq || options_.emit_fakequantize) {
      CheckQdqExport(imported);
      imported_ = imported;
    }
    if (IsInteger()) {
      const bool keep_ranges = options_.profile == ProfileId::kOpenVino;
      const Profile profile{options_.profile.value_or(ProfileId::kTpu), Variant::kByTable};
      if (options_.drop_residual_round) CheckFakeQuantize(imported);
      integers_ = TakeModelIntegers(std::move(imported), profile,
                                    {options_.drop_residual_round, keep_ranges});
      if (options_.drop_residual_round && integers_.unrounded.empty())
        Warn(
            "--drop-residual-round: no FakeQuantize stands before an Add with another behind it; "
            "nothing changes");
      imported = std::move(integers_.graph);
      if (integers_.with_own_steps) model_ = RunPasses(*std::move(integers_.with_own_steps));
    }
    floating_ = RunPasses(imported);
    Tell(DeployStage::kPasses, floating_);
    CheckAgainstModel(options_, floating_);
    quantize_ = ReadQuantizeOptions(options_);
    CheckFusedNames(imported, floating_, quantize_.config);
    for (const ValueId id : floating_.inputs) {
      const std::string& name = floating_.value(id).name;
      if (options_.input_type.Of(name) != DType::kF32) quantize_.integer_inputs.insert(name);
    }
    report.model_sha256 = floating_.sha256;
    report.target = quantize_.target.name;
    if (options_.table.given()) TakeTable();
    if (options_.scales.given()) TakeGivenScales(imported);
    if (options_.weight_bits == 4)
      quantize_.config = WithWeightBits(floating_, std::move(quantize_.config));
  }

  void TakeGivenScales(const Graph& imported) {
    TakenScales taken = TakeScales(options_, imported, &floating_, &table_, &quantize_);
    for (const std::string& note : taken.notes) Warn(note);
    result_.report.scales = std::move(taken.trace);
  }

  void TakeTable() {
    DeployReport& report = result_.report;
    CheckTableFits(options_, given_, floating_);
    table_ = std::move(given_.table);
    if (events_.table) events_.table(table_);
    report.table = options_.table.path;
    report.table_sha256 = given_.sha256;
    report.calibration_samples = table_.samples;
    if (!IsInteger()) return;
    const std::string left_out = LeaveOutEqualization(options_, &table_);
    if (!left_out.empty()) Warn(left_out);
    if (options_.equalize == EqualizeMode::kAll) table_ = WithTrial(std::move(table_));
    if (options_.equalize == EqualizeMode::kAuto && !table_.trial.empty())
      tried_ = Equalize(floating_, WithTrial(table_).equalization, TableName());
    floating_ = Equalize(std::move(floating_), table_.equalization, TableName());
    report.equalized_tensors = static_cast<int>(table_.equalization.size());
  }

  // From here on it is as if the table had said so.
  void TakeTrial() {
    if (!tried_) return;
    SettleAutomatic();
    const CalibrationTable tried_table = WithTrial(table_);
    EqualizationTrial trial =
        TryEqualization(Request(floating_, table_), Request(*tried_, tried_table));
    if (trial.report.kept) {
      floating_ = *std::move(tried_);
      table_ = tried_table;
      result_.report.equalized_tensors = static_cast<int>(table_.equalization.size());
    }
    result_.report.equalization_trial = std::move(trial.report);
    if (!options_.automatic) chosen_ = std::move(trial.integers);
  }

  void Quantize() {
    DeployReport& report = result_.report;
    report.mode = "f32";
    final_ = floating_;
    if (!IsInteger()) return;
    RSHIFT_REQUIRE(
        !AsksForInt16(quantize_) || (!options_.emit_qdq && !options_.emit_fakequantize),
        ErrorCode::kInvalidInput,
        "--emit-qdq and --emit-fakequantize write activations of 8 bits; leave 16 bits or "
        "the emitted file out");
    TakeTrial();
    if (options_.automatic) SearchTypes();
    TakeChosenIntegers();
    QuantizeResult quantized = QuantizeGraph(SetBiases(weighted_, biases_), table_, quantize_);
    CheckWeightBits(floating_, quantized.graph, quantize_.config);
    const WeightBitsCount small = CountWeightsOf4Bits(quantized.graph);
    report.layers_of_4_bits = small.layers;
    report.weights_of_4_bits = small.weights;
    report.mode = quantized.mode == QuantMode::kSymmetric ? "symmetric" : "asymmetric";
    report.profile = Name(quantize_.profile.id);
    Tell(DeployStage::kQuantized, quantized.graph);
    if (options_.emit_qdq) result_.qdq = ExportQdq(imported_, quantized.graph, biases_);
    if (options_.emit_fakequantize)
      result_.fakequantize = ExportFakeQuantize(imported_, quantized.graph, biases_);
    final_ = RunTargetPasses(quantized.graph, quantize_.target);
    report.quantize = std::move(quantized.report);
    integers_.Describe(&report.quantize);
    report.proofs = ProveIntegers(final_);
    Tell(DeployStage::kTarget, final_);
  }

  // From here on it is as if the configuration and the options that it finds had been given.
  void SearchTypes() {
    RegisterFloatLibrary();
    const std::unique_ptr<Dataset> samples = CorrectionSamples();
    std::vector<int64_t> labels;
    if (!options_.search_labels.empty())
      labels = ReadLabels(options_.search_labels, *samples, {.note = events_.note});
    const SearchInput input{.floating = floating_,
                            .table = table_,
                            .options = quantize_,
                            .samples = *samples,
                            .labels = std::move(labels),
                            .threads = Threads(),
                            .identity = SearchIdentity(),
                            .state_path = options_.search_state,
                            .progress = events_.progress};
    SearchResult found = Search(input, options_.budget);
    for (const auto& [name, layer] : found.config.layers) {
      LayerConfig& entry = quantize_.config.layers[name];
      if (layer.float32) entry.float32 = layer.float32;
      if (layer.activation_bits) entry.activation_bits = layer.activation_bits;
    }
    weights_ = found.candidate.weights;
    bias_correction_ = found.candidate.bias_correction;
    if (const auto& trial = result_.report.equalization_trial) {
      std::string& command = found.report.command;
      command += Cat(command.empty() ? "" : " ", "--equalize ", trial->kept ? "all" : "table");
    }
    result_.report.search = std::move(found.report);
  }

  // Of all but the samples that the figures of a search depend on.
  std::string SearchIdentity() const {
    const std::map<std::string, std::string> parts = {
        {"producer", Version()},
        {"model", floating_.sha256},
        {"append",
         options_.import.append.empty() ? "" : Sha256Hex(ReadFile(options_.import.append))},
        {"table", result_.report.table_sha256},
        {"scales", result_.report.scales.sha256},
        {"mode", Cat(static_cast<int>(quantize_.mode), " ", static_cast<int>(quantize_.profile.id),
                     " ", static_cast<int>(quantize_.profile.variant))},
        {"bits",
         Cat(quantize_.activation_bits, " ", quantize_.residual_bits, " ", quantize_.shift_negative,
             " ", static_cast<int>(options_.equalize), " ", options_.weight_bits)},
        {"target", quantize_.target.name + ToText(quantize_.target.cost)},
        {"config", options_.config.path.empty() ? "" : ReadTextFile(options_.config.path)}};
    std::string text;
    for (const auto& [name, value] : parts) text += Cat(name, " ", value, "\n");
    return text;
  }

  // The float program that the integer one is compared with keeps its own weights and biases.
  void TakeChosenIntegers() {
    SettleAutomatic();
    IntegerChoice choice =
        chosen_ ? *std::move(chosen_) : ChooseIntegers(Request(floating_, table_));
    weighted_ = SetWeights(floating_, choice.weights);
    biases_ = std::move(choice.biases);
    quantize_.scaled_weights |= !choice.weights.empty();
    result_.report.weight_choice = std::move(choice.weight_report);
    result_.report.bias_correction = std::move(choice.bias_report);
  }

  IntegerRequest Request(const Graph& floating, const CalibrationTable& table) const {
    return {.floating = floating,
            .table = table,
            .options = quantize_,
            .weights = weights_,
            .bias_correction = bias_correction_,
            .samples = [this] { return CorrectionSamples(); },
            .samples_given = GivesCorrectionSamples(options_),
            .threads = Threads(),
            .progress = events_.progress};
  }

  // What is automatic happens where it may.
  void SettleAutomatic() {
    const bool may =
        options_.table.given() && !options_.scales.given() && !HoldsQuantization(floating_);
    if (!may && bias_correction_ == BiasCorrectionMode::kAuto)
      bias_correction_ = BiasCorrectionMode::kOff;
    if (weights_.rounding != WeightRounding::kAuto) return;
    const bool may_round = may && quantize_.profile.id != ProfileId::kAscend &&
                           weights_.clipping == WeightClipping::kOff;
    if (!may_round) weights_.rounding = WeightRounding::kNearest;
  }

  int Threads() const { return options_.threads == 0 ? 1 : options_.threads; }

  std::unique_ptr<Dataset> CorrectionSamples() const {
    return ReadCorrectionSamples(options_, table_, TableName(), InputSpecs(floating_),
                                 PreprocessText(), events_.note);
  }

  void MakeProgram() {
    compile_.fuse = options_.fuse;
    compile_.meta = Meta();
    AddRecordedPixels(floating_, &compile_.meta);
    image_ = Compile(final_, compile_);
    result_.program = WriteContainer(image_);
    Warn(CheckOwnProgram(result_.program, options_.output));
    Warn(options_.preprocess.Note(InputSpecs(floating_)));
    result_.report.preprocess = DescribePreprocess(compile_.meta["preprocess"]);
  }

  // The same arithmetic behind other inputs and outputs: what is checked in F32 holds.
  void ChangeInterface() {
    const ElementTypes &input = options_.input_type, &output = options_.output_type;
    const bool all_f32 = input.AllF32() && output.AllF32();
    if (all_f32 && input.named.empty() && output.named.empty()) return;
    const InterfaceOptions interface =
        ReadInterface(input, output, compile_.meta["preprocess"], floating_);
    const Graph changed =
        WithInterface(final_, interface);  // refuses names the model does not have
    if (all_f32) return;
    AddInterfaceMeta(interface, &compile_.meta);
    AddRecordedPixels(floating_, &compile_.meta);
    image_ = Compile(changed, compile_);
    checked_ = std::exchange(result_.program, WriteContainer(image_));
    Warn(CheckOwnProgram(result_.program, options_.output));
  }

  // The check, the layers of the test input, and the sensitivity; all leave the program as it is.
  void Check() {
    const bool has_test = !options_.test_input.empty() || !options_.test_samples.empty();
    if (!IsInteger() || !(options_.check || has_test || options_.sensitivity)) return;
    RegisterFloatLibrary();
    const Deployment deployment{model_ ? *model_ : floating_,
                                floating_,
                                final_,
                                table_,
                                quantize_,
                                checked_.empty() ? result_.program : checked_,
                                weights_.clipping != WeightClipping::kOff,
                                options_.automatic};
    const CheckRequest request{.check = options_.check,
                               .samples = options_.check_samples,
                               .test_input = options_.test_input,
                               .test_samples = options_.test_samples,
                               .table_path = TableName(),
                               .preprocess = compile_.meta["preprocess"],
                               .threads = Threads(),
                               .note = events_.note,
                               .progress = events_.progress};
    DeployReport& report = result_.report;
    CheckResult checked = CheckProgram(deployment, request);
    report.checked = request.check;
    report.verdict = std::move(checked.verdict);
    report.layers = std::move(checked.layers);
    report.compared_samples = checked.layer_samples;
    report.test_input = has_test;
    if (!options_.sensitivity) return;
    const ChosenSamples chosen = ChooseSamples(deployment, request);
    RSHIFT_REQUIRE(chosen.samples.size() > 0, ErrorCode::kInvalidInput,
                   "--sensitivity: there are no samples: ", chosen.why_none);
    report.sensitivity =
        MeasureSensitivity(deployment, chosen.samples, options_.keep_f32, events_.progress);
  }

  void Describe() {
    DeployReport& report = result_.report;
    report.file_bytes = result_.program.size();
    report.arena_bytes = image_.arena_size;
    report.transposes = CountTransposes(final_);
    report.nodes = ListNodes(final_);
    CountCommands(image_, report);
  }

  std::map<std::string, std::string> Meta() const {
    std::map<std::string, std::string> meta = {
        {"producer", Version()},
        {"model", std::filesystem::path(options_.model.path).stem().string()},
        {"source_sha256", floating_.sha256},
        {"mode", result_.report.mode},
        {"cost", ToText(quantize_.target.cost)},
        {"preprocess", PreprocessText()}};
    if (!options_.import.append.empty())
      meta["append_sha256"] = Sha256Hex(ReadFile(options_.import.append));
    if (!IsInteger()) return meta;
    meta["profile"] = Name(quantize_.profile.id);
    if (quantize_.profile.variant != Variant::kByTable)
      meta["variant"] = Name(quantize_.profile.variant);
    if (const auto& correction = result_.report.bias_correction; correction && correction->kept)
      meta["bias_correction"] =
          Name(correction->mode == BiasCorrectionMode::kAuto ? BiasCorrectionMode::kFast
                                                             : correction->mode);
    if (const auto& choice = result_.report.weight_choice; choice && choice->kept) {
      meta["weight_rounding"] = Name(
          weights_.rounding == WeightRounding::kAuto ? WeightRounding::kGptq : weights_.rounding);
      meta["weight_clipping"] = Name(weights_.clipping);
    }
    const std::string own = LayerProfiles(result_.report.quantize.profiles);
    if (!own.empty()) meta["layer_profiles"] = own;
    meta["target"] = quantize_.target.name;
    if (options_.scales.given()) {
      meta["scales"] = result_.report.scales.format;
      meta["scales_sha256"] = result_.report.scales.sha256;
    }
    meta["calibration_method"] = HoldsQuantization(floating_) ? "the model's own" : table_.method;
    return meta;
  }

  std::string PreprocessText() const {
    return ChoosePreprocess(table_, TableName(), options_.preprocess, InputSpecs(floating_),
                            options_.force_preprocess);
  }

  bool IsInteger() const { return options_.mode != DeployMode::kF32; }

  // "" for a model with its own parameters.
  std::string TableName() const {
    return options_.table.given() ? options_.table.Name("the table") : "";
  }

  void Tell(DeployStage stage, const Graph& graph) const {
    if (events_.graph) events_.graph(stage, graph);
  }

  // Each warning once; "" is none.
  void Warn(const std::string& warning) {
    std::vector<std::string>& told = result_.warnings;
    if (warning.empty() || std::find(told.begin(), told.end(), warning) != told.end()) return;
    told.push_back(warning);
    if (events_.warning) events_.warning(warning);
  }

  const DeployOptions& options_;
  const DeployEvents& events_;
  WeightMethods weights_ = options_.weights;
  BiasCorrectionMode bias_correction_ = options_.bias_correction;
  QuantizeOptions quantize_;
  ModelIntegers integers_;               // its graphs have moved on
  std::optional<Graph> model_;           // as floating_, where that has other steps than the model
  Graph imported_;                       // where a model is emitted
  Graph floating_, final_;               // final_: what the program is compiled from
  std::optional<Graph> tried_;           // as floating_, with what the table leaves to a trial
  std::optional<IntegerChoice> chosen_;  // by the trial
  Graph weighted_;          // floating_, with integers for weights where samples chose them
  NodeBiases biases_;       // others than floating_'s
  HashedTable given_;       // until TakeTable()
  CalibrationTable table_;  // empty when none is given
  CompileOptions compile_;
  ProgramImage image_;
  std::vector<uint8_t> checked_;  // with f32 inputs and outputs; empty: result_.program has them
  DeployResult result_;
};

}  // namespace

DeployResult Deploy(const DeployOptions& options, const DeployEvents& events) {
  CheckOptions(options);
  return Deployer(options, events).Result();
}

}  // namespace rshift
