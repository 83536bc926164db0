#include "pipeline/diagnose/measure.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "calibrate/channel_ranges.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/passes/passes.h"
#include "pipeline/calibrate.h"
#include "pipeline/check_samples.h"
#include "pipeline/deploy.h"
#include "pipeline/diagnose/bad_weights.h"
#include "pipeline/diagnose/channel_extremes.h"
#include "pipeline/diagnose/scores.h"
#include "pipeline/diagnose/tensor_facts.h"
#include "pipeline/equalized_statistics.h"
#include "pipeline/explain.h"
#include "pipeline/input_shapes.h"
#include "pipeline/usage.h"
#include "quantize/equalize/apply.h"
#include "quantize/types.h"
#include "runtime/onednn/float_library.h"
#include "runtime/threads.h"

namespace rshift {
namespace {

constexpr int64_t kComparedSamples = 8;   // through both programs, layer by layer
constexpr int64_t kMeasuredSamples = 16;  // of what corrects weights and biases, as a table's

class Diagnosis {
 public:
  Diagnosis(const DiagnoseOptions& options, const ProgressFunction& progress,
            const NoteFunction& note)
      : options_(options), progress_(progress), note_(note) {
    threads_ = options.threads > 0 ? options.threads : DefaultThreads();
  }

  DiagnoseFacts Facts() {
    facts_.table_given = !options_.calibration.empty();
    facts_.label_offset = options_.label_offset;
    facts_.mode = options_.mode == QuantMode::kSymmetric ? "symmetric" : "asymmetric";
    if (!options_.calibration.empty()) {
      given_ = ReadTable(ReadSmallText(options_.calibration), options_.calibration);
      import_ = WithShapesOf(*given_, options_.import);
    }
    imported_ = ImportOnnx(options_.model, import_);
    facts_.bad_weights = FindBadWeights(imported_);
    if (!facts_.bad_weights.empty()) return std::move(facts_);
    graph_ = RunPasses(imported_);
    ReadSamples();
    TryPreprocessing();
    CalibrateModel();
    MeasureEqualization();
    DeployModel();
    return std::move(facts_);
  }

 private:
  void ReadSamples() {
    std::optional<Preprocess> recorded;
    if (given_ && !given_->preprocess.empty())
      recorded = ReadPreprocess(given_->preprocess, options_.calibration);
    const std::vector<InputSpec> inputs = InputSpecs(graph_);
    preprocess_ = options_.preprocess.Resolve(inputs, recorded);
    const auto dataset = OpenDataset(options_.dataset, inputs, preprocess_, note_);
    for (const int64_t index : ChooseSamples(dataset->size(), options_.samples, options_.seed)) {
      samples_.push_back(dataset->Read(index));
      facts_.samples.push_back(samples_.back().name);
    }
  }

  void TryPreprocessing() {
    if (!preprocess_) {
      RequireUsage(options_.labels.empty(),
                   "--labels needs --preprocess: without one there is no "
                   "other way of preparing the data to compare with");
      return;
    }
    if (preprocess_->inputs[0].audio) return;  // the other ways are those of pictures
    facts_.preprocess = TryPreprocesses(imported_, *preprocess_,
                                        {.dataset = options_.dataset,
                                         .labels = options_.labels,
                                         .samples = options_.samples,
                                         .seed = options_.seed,
                                         .threads = threads_,
                                         .label_offset = options_.label_offset,
                                         .only_if_judged = true});
  }

  void CalibrateModel() {
    CalibrateOptions calibrate{.model = {options_.model}, .import = import_};
    calibrate.data = samples_;
    calibrate.samples = 0;
    calibrate.threads = options_.threads;
    if (given_) calibrate.equalize = options_.calibration;
    CalibrateResult result = Calibrate(calibrate, {.progress = progress_});
    table_ = given_ ? *given_ : std::move(result.table);
    statistics_ = std::move(result.statistics);
    TakeEqualized();
    for (const nlohmann::json& join : JoinsFarApart(table_, equalized_)) {
      if (join["mode"] != facts_.mode) continue;
      JoinFacts facts{join["node"], join["op"], join["output"], {}};
      for (const nlohmann::json& input : join["inputs"])
        facts.inputs.push_back({input["tensor"], input["quanta"]});
      facts_.joins.push_back(std::move(facts));
    }
  }

  // The tensors of the graph that the table is of, and what was seen of them.
  void TakeEqualized() {
    equalized_ = Equalize(graph_, table_.equalization, options_.calibration);
    seen_ = StatisticsOf(statistics_, equalized_);
  }

  // What the table leaves undone.
  void MeasureEqualization() {
    if (!given_ || !given_->equalization.empty()) return;
    constexpr auto kThrough = EqualizeThrough::kFunctions;
    const SampleList list(samples_);
    const auto chosen =
        ChooseChannelSamples(list, ChooseSamples(list.size(), 0, options_.seed), options_.threads);
    ObservedProgram program(graph_, /*portable=*/false);
    facts_.not_equalized =
        ChooseEqualization(graph_, kThrough,
                           MeasureChannels(graph_, program, EqualizableValues(graph_, kThrough),
                                           list, chosen, {.threads = options_.threads}))
            .gains;
  }

  void DeployModel() {
    DeployOptions deploy{.model = {options_.model}, .import = import_};
    deploy.table.value = table_;
    deploy.mode =
        options_.mode == QuantMode::kSymmetric ? DeployMode::kSymmetric : DeployMode::kAsymmetric;
    deploy.test_samples = FirstSamples(kComparedSamples);
    deploy.check_samples = kComparedSamples;
    if (!given_) deploy.correction_values = FirstSamples(kMeasuredSamples);
    deploy.threads = threads_;
    DeployResult result = Deploy(deploy, {.progress = progress_});
    facts_.verdict = std::move(result.report.verdict);
    if (const auto& trial = result.report.equalization_trial; trial && trial->kept) {
      table_ = WithTrial(std::move(table_));
      TakeEqualized();
    }
    const auto extremes =
        MeasureExtremes(equalized_, SampleList(samples_), options_.threads, progress_);
    facts_.tensors =
        DescribeTensors({equalized_, table_, options_.mode, seen_, extremes, result.report.layers});
    const SampleList compared(deploy.test_samples);
    const Program floating =
        Program::FromBytes(WriteContainer(Compile(graph_)), "float program", Limits::None());
    const Program integer = Program::FromBytes(result.program, "integer program", Limits::None());
    facts_.scores = DescribeScores(RunOutputs(integer, compared, threads_),
                                   RunOutputs(floating, compared, threads_));
  }

  std::vector<Sample> FirstSamples(int64_t most) const {
    const auto count = std::min(most, static_cast<int64_t>(samples_.size()));
    return {samples_.begin(), samples_.begin() + count};
  }

  const DiagnoseOptions& options_;
  ImportOptions import_ = options_.import;  // with the shapes that the table gives
  const ProgressFunction& progress_;
  const NoteFunction& note_;
  int threads_ = 1;
  Graph imported_, graph_, equalized_;
  std::optional<Preprocess> preprocess_;
  std::vector<Sample> samples_;
  std::optional<CalibrationTable> given_;
  CalibrationTable table_;
  StatisticsFile statistics_, seen_;  // seen_: of equalized_
  DiagnoseFacts facts_;
};

}  // namespace

void CheckOptions(const DiagnoseOptions& options) {
  RequireUsage(!options.dataset.empty(), "give --dataset PATH: the rules judge by samples");
  RequireUsage(options.samples >= 1 && options.samples <= kMostDiagnoseSamples, "--samples ",
               options.samples, ": expected 1 to ", kMostDiagnoseSamples);
  RequireUsage(options.threads >= 0, "--threads ", options.threads,
               ": expected 0 (OMP_NUM_THREADS, else as many as the CPU has) or more");
  RequireUsage(options.label_offset == 0 || !options.labels.empty(),
               "--label-offset needs --labels");
}

DiagnoseFacts MeasureFacts(const DiagnoseOptions& options, const ProgressFunction& progress,
                           const NoteFunction& note) {
  CheckOptions(options);
  RegisterFloatLibrary();
  return Diagnosis(options, progress, note).Facts();
}

}  // namespace rshift
