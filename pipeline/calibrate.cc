#include "pipeline/calibrate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/channel_ranges.h"
#include "calibrate/environment.h"
#include "calibrate/find_bad_samples.h"
#include "calibrate/observed_program.h"
#include "calibrate/range_effect.h"
#include "graph/passes/passes.h"
#include "pipeline/calibration_page.h"
#include "pipeline/check_samples.h"
#include "pipeline/choose_ranges.h"
#include "pipeline/equalized_statistics.h"
#include "pipeline/first_norm.h"
#include "pipeline/input_shapes.h"
#include "pipeline/preprocess_trial.h"
#include "pipeline/sample_pictures.h"
#include "pipeline/shard.h"
#include "pipeline/usage.h"
#include "quantize/equalize/apply.h"
#include "quantize/ranges/known_bounds.h"
#include "quantize/types.h"
#include "runtime/onednn/float_library.h"

namespace rshift {
namespace {

constexpr int64_t kTrialSamples = 16;  // that judge the preprocessing

std::unique_ptr<Dataset> OpenSamples(const CalibrateOptions& options,
                                     const std::vector<InputSpec>& inputs,
                                     const std::optional<Preprocess>& preprocess,
                                     const NoteFunction& note) {
  if (!options.data.empty()) {
    CheckFits(options.data, inputs);
    return std::make_unique<SampleList>(options.data);
  }
  RequireUsage(!options.dataset.empty(), "give --dataset PATH (or --from-statistics FILE.stats)");
  return OpenDataset(options.dataset, inputs, preprocess, note);
}

// The data set without what cannot be read, which goes to `bad`.
std::unique_ptr<Dataset> LeaveOutBad(std::unique_ptr<Dataset> dataset,
                                     const CalibrateOptions& options, const CalibrateEvents& events,
                                     const std::vector<InputSpec>& inputs,
                                     std::vector<BadSample>* bad) {
  for (const InputSpec& input : inputs) {
    RSHIFT_REQUIRE(input.shape.size() < 2 || input.shape[0] <= 1, ErrorCode::kInvalidInput,
                   "--skip-bad: input '", input.name, "' takes ", input.shape[0],
                   " samples at once, a bad one would move all behind it into other batches; mend "
                   "or remove it, or bind the batch to 1 with --input-shape");
  }
  *bad = FindBadSamples(*dataset, {options.threads, events.progress, events.interrupted});
  if (bad->empty()) return dataset;
  RequireFewBad(*bad, dataset->size());
  return WithoutSamples(std::move(dataset), *bad);
}

EqualizationChoice EqualizationOfTable(const std::string& path, const Graph& graph) {
  CalibrationTable table = ReadTable(ReadSmallText(path), path);
  RSHIFT_REQUIRE(table.model_sha256 == graph.sha256, ErrorCode::kInvalidInput, path,
                 ": made from another model; give a table of this one, or none (model_calibrate "
                 "--equalize, model_tool diagnose --calibration)");
  return {std::move(table.equalization), {}, std::move(table.trial)};
}

// Not "off", and not a table's.
bool ChoosesEqualization(const std::string& equalize) {
  return equalize == "auto" || equalize == "weights";
}

EqualizationChoice Choose(const CalibrateOptions& options, const CalibrateEvents& events,
                          const Graph& graph, const Dataset& dataset,
                          const std::vector<int64_t>& samples,
                          std::optional<ObservedProgram>& program) {
  if (options.equalize == "off") return {};
  if (!ChoosesEqualization(options.equalize)) return EqualizationOfTable(options.equalize, graph);
  const EqualizeThrough through =
      options.equalize == "weights" ? EqualizeThrough::kWeights : EqualizeThrough::kFunctions;
  const std::vector<ValueId> values = EqualizableValues(graph, through);
  if (values.empty()) return {};
  program.emplace(graph, options.portable);
  return ChooseEqualization(graph, through,
                            MeasureChannels(graph, *program, values, dataset,
                                            ChooseChannelSamples(dataset, samples, options.threads),
                                            {.threads = options.threads,
                                             .progress = events.progress,
                                             .interrupted = events.interrupted}));
}

// One of several shards says it, the first. A sample that cannot be read has its error in the
// calibration itself.
void NoteWrongPreprocess(const CalibrateOptions& options, const CalibrateEvents& events,
                         const FirstNorm& norm, const Dataset& dataset,
                         const std::vector<int64_t>& chosen, const Preprocess& preprocess) {
  if (!events.note || options.dataset.empty()) return;
  if (!options.shard.empty() && !options.shard.starts_with("0/")) return;
  try {
    const std::string found =
        SuspectPreprocess(norm, dataset, chosen, preprocess,
                          {.dataset = options.dataset, .labels = "", .samples = kTrialSamples});
    if (!found.empty()) events.note(found);
  } catch (const Error&) {
    return;
  }
}

// `graphs`: of the model, become the equalized ones. `result`: gets what was equalized, and what
// was left out.
StatisticsFile Measure(const CalibrateOptions& options, const CalibrateEvents& events,
                       const std::optional<FirstNorm>& norm, EqualizedGraphs& graphs,
                       CalibrateResult* result) {
  const std::vector<InputSpec> inputs = InputSpecs(graphs.model);
  const std::optional<Preprocess> preprocess = options.preprocess.Resolve(inputs, std::nullopt);
  const std::string note = options.preprocess.Note(inputs);
  if (events.note && !note.empty()) events.note(note);
  std::unique_ptr<Dataset> dataset = OpenSamples(options, inputs, preprocess, events.note);
  if (options.skip_bad) {
    if (events.measuring) events.measuring();
    dataset = LeaveOutBad(std::move(dataset), options, events, inputs, &result->bad);
  }
  const std::vector<int64_t> chosen = ChooseSamples(dataset->size(), options.samples, options.seed);
  const Share share = TakeShare(*dataset, chosen, options.shard);
  if (events.measuring) events.measuring();
  if (norm && preprocess)
    NoteWrongPreprocess(options, events, *norm, *dataset, chosen, *preprocess);
  std::optional<ObservedProgram> program;  // of the graph as it is now
  EqualizationChoice choice = Choose(options, events, graphs.model, *dataset, chosen, program);
  if (!choice.equalization.empty() || !choice.trial.empty()) program.reset();
  graphs = EqualizeGraphs(graphs.model, choice.equalization, choice.trial, options.equalize);
  const Graph observed = ObservedGraph(graphs, choice.equalization, choice.trial);
  result->equalized = std::move(choice.gains);
  if (!program) program.emplace(observed, options.portable);
  const CollectOptions collect{.threads = options.threads,
                               .progress = events.progress,
                               .checkpoint = options.checkpoint,
                               .resume = options.resume,
                               .interrupted = events.interrupted,
                               .equalization = std::move(choice.equalization),
                               .trial = std::move(choice.trial),
                               .times = &result->times,
                               .memory = [&](uint64_t bytes) {
                                 result->expected_memory = bytes;
                                 if (events.memory) events.memory(bytes);
                               }};
  StatisticsFile statistics = CollectStatistics(observed, *program, *dataset, share.samples,
                                                preprocess ? preprocess->text : "", collect);
  statistics.shards = share.ids;
  return statistics;
}

StatisticsFile Load(const CalibrateOptions& options, EqualizedGraphs& graphs) {
  const Graph& graph = graphs.model;
  StatisticsFile merged;
  for (size_t i = 0; i < options.statistics.size(); ++i) {
    const std::string where = options.statistics[i].Name("the statistics");
    StatisticsFile next = options.statistics[i].Get(
        [](const std::string& path) { return ReadStatistics(ReadFile(path), path); });
    RSHIFT_REQUIRE(next.model_sha256 == graph.sha256, ErrorCode::kInvalidInput, where,
                   ": made from another model (sha256 ", next.model_sha256.substr(0, 12),
                   "..., this model is ", graph.sha256.substr(0, 12),
                   "...); measure again with this model");
    RSHIFT_REQUIRE(next.pass_list_version == kPassListVersion, ErrorCode::kInvalidInput, where,
                   ": made with pass list version ", next.pass_list_version, ", this program has ",
                   kPassListVersion, "; measure again");
    if (i == 0) {
      merged = std::move(next);
      continue;
    }
    try {
      Merge(merged, next);
    } catch (const Error& error) {
      Fail(ErrorCode::kInvalidInput, where, " and those before it: ", error.what());
    }
  }
  const std::string missing = MissingShards(merged);
  RSHIFT_REQUIRE(missing.empty() || options.partial, ErrorCode::kInvalidInput,
                 options.statistics[0].Name("the statistics"),
                 options.statistics.size() > 1 ? " and the others" : "", ": shard ", missing,
                 " of the same samples is missing; add its statistics, or give --partial for a "
                 "table without it");
  graphs = EqualizeGraphs(graph, merged.equalization, merged.trial,
                          options.statistics[0].Name("the statistics"));
  return merged;
}

// One for each of `methods`.
std::vector<CalibrationTable> TablesOf(const Graph& graph, const StatisticsFile& statistics,
                                       const std::vector<MethodOptions>& methods, int threads) {
  std::vector<CalibrationTable> tables =
      DeriveTables(statistics, methods, ReaderFunctions(graph), threads);
  for (CalibrationTable& table : tables) ApplyKnownBounds(graph, table);
  DescribeRanges(statistics, tables, threads);
  return tables;
}

std::vector<MethodOptions> EveryMethod(const CalibrateOptions& options) {
  std::vector<MethodOptions> methods;
  for (const Method method : AllMethods()) {
    methods.push_back(options.method);
    methods.back().method = method;
  }
  return methods;
}

std::vector<CalibrationTable> TablesOfEveryMethod(const CalibrateOptions& options,
                                                  const Graph& graph,
                                                  const StatisticsFile& statistics) {
  return TablesOf(graph, statistics, EveryMethod(options), options.threads);
}

// Of samples in memory, those with the lowest hashes.
SampleList LowestOf(const std::vector<Sample>& data, const StatisticsFile& statistics) {
  const size_t count = std::min(kMaxRecordedSamples, statistics.samples.size());
  std::map<std::pair<std::string, std::string>, const Sample*> lowest;
  for (size_t i = 0; i < count; ++i) lowest[statistics.samples[i]] = nullptr;
  for (const Sample& sample : data) {
    const auto found = lowest.find({ContentSha256(sample), sample.name});
    if (found != lowest.end()) found->second = &sample;
  }
  std::vector<Sample> samples;
  samples.reserve(lowest.size());
  for (const auto& [id, sample] : lowest) samples.push_back(*sample);
  return SampleList(std::move(samples));
}

SampleList AutoSamples(const CalibrateOptions& options, const CalibrateEvents& events,
                       const Graph& graph, const StatisticsFile& statistics,
                       const CalibrationTable& table) {
  if (!options.data.empty()) return LowestOf(options.data, statistics);
  const std::string where =
      options.statistics.empty() ? "" : options.statistics[0].Name("the statistics");
  const std::vector<RecordedSample>& recorded = table.check_samples;
  RSHIFT_REQUIRE(!recorded.empty(), ErrorCode::kInvalidInput, "--method auto reads samples again: ",
                 where.empty() ? "the data set's cannot be"
                               : Cat(where, " records none (it is old, or of samples in memory)"),
                 "; give one of the other methods");
  CheckSamples found = ReadCheckSamples(table, where, InputSpecs(graph),
                                        static_cast<int64_t>(recorded.size()), events.note);
  RSHIFT_REQUIRE(found.samples.size() == static_cast<int64_t>(recorded.size()),
                 ErrorCode::kInvalidInput, "--method auto reads ", recorded.size(),
                 " samples again: ", found.first_error, "; put it back, or measure anew");
  return std::move(found.samples);
}

CalibrationTable AutoTable(const CalibrateOptions& options, const CalibrateEvents& events,
                           const Graph& graph, const StatisticsFile& statistics) {
  std::vector<CalibrationTable> tables = TablesOfEveryMethod(options, graph, statistics);
  const SampleList samples = AutoSamples(options, events, graph, statistics, tables[0]);
  CalibrationTable table = ChooseRanges(graph, std::move(tables), samples,
                                        {.threads = options.threads,
                                         .portable = IsPortable(statistics.environment),
                                         .progress = events.progress,
                                         .interrupted = events.interrupted});
  DescribeRanges(statistics, {&table, 1}, options.threads);
  return table;
}

// Of the model as it is, the ranges that the table does not have so: of tensors that are scaled
// and, unless those are all that is asked for, what omse sees through functions of which only the
// result is.
std::vector<std::pair<std::string, TensorRange>> OwnRanges(const CalibrationTable& of_model,
                                                           const CalibrationTable& table,
                                                           bool scaled_alone) {
  std::vector<std::pair<std::string, TensorRange>> own;
  for (const auto& [name, range] : of_model.tensors) {
    const TensorRange* there = table.Find(name);
    if (there != nullptr && scaled_alone) continue;
    const bool same = there != nullptr && there->threshold == range.threshold &&
                      there->low == range.low && there->high == range.high;
    if (!same) own.emplace_back(name, range);
  }
  return own;
}

// What the tables say of the model as it is, and of what is to be tried. --method auto judges by
// the program of the usual equalization: beside it the method is the default.
void AddOtherRanges(const CalibrateOptions& options, const EqualizedGraphs& graphs,
                    const EqualizedStatistics& statistics, CalibrateResult* result) {
  const std::vector<MethodOptions> methods =
      options.every_method ? EveryMethod(options) : std::vector{options.method};
  const std::vector<CalibrationTable> of_model =
      TablesOf(graphs.model, statistics.model, methods, options.threads);
  std::vector<CalibrationTable> tried =
      TablesOf(graphs.tried, statistics.tried, methods, options.threads);
  const auto add = [&](size_t method, CalibrationTable& table) {
    table.unequalized = OwnRanges(of_model[method], table, options.automatic);
    table.trial_tensors = tried[method].tensors;
  };
  for (size_t m = 0; m < result->tables.size(); ++m) add(m, result->tables[m]);
  add(options.every_method ? static_cast<size_t>(options.method.method) : 0, result->table);
}

std::string Report(const CalibrateOptions& options, const CalibrateEvents& events,
                   const Graph& graph, const StatisticsFile& statistics,
                   const CalibrateResult& result) {
  const std::vector<CalibrationTable> methods =
      options.every_method ? result.tables : TablesOfEveryMethod(options, graph, statistics);
  SamplePictures pictures;
  const std::vector<RecordedSample> extremes = ExtremeSamplesOf(statistics);
  const bool readable = std::any_of(extremes.begin(), extremes.end(),
                                    [](const auto& sample) { return !sample.sources.empty(); });
  if (readable) {
    const std::string where =
        options.statistics.empty() ? "" : options.statistics[0].Name("the statistics");
    pictures =
        DrawSamples({extremes, statistics.preprocess, where}, InputSpecs(graph), events.note);
  } else {
    pictures.why_none = extremes.empty() ? "the statistics do not say which samples these are"
                                         : "these samples are in no files";
  }
  return CalibrationHtml({options.model.Name("the model"), graph, statistics, result.table, methods,
                          std::move(pictures)});
}

// The first option that says how samples are measured; nullptr when there is none.
const char* UselessForStatistics(const CalibrateOptions& o) {
  return o.preprocess.given()               ? "--preprocess"
         : o.samples != kCalibrationSamples ? "--samples"
         : o.seed != 0                      ? "--seed"
         : o.skip_bad                       ? "--skip-bad"
         : !o.shard.empty()                 ? "--shard"
         : o.threads != 0 && !o.automatic   ? "--threads"
         : o.equalize != "auto"             ? "--equalize"
         : o.portable                       ? "--portable"
         : o.resume                         ? "--resume"
         : !o.checkpoint.empty()            ? "a checkpoint"
                                            : nullptr;
}

}  // namespace

void CheckOptions(const CalibrateOptions& options) {
  RequireUsage(options.method.percentile > 50 && options.method.percentile <= 100, "--percentile ",
               options.method.percentile, ": expected more than 50 and at most 100");
  RequireUsage(options.samples >= 0, "--samples ", options.samples, ": expected 0 or more");
  const int sources = static_cast<int>(!options.dataset.empty()) +
                      static_cast<int>(!options.data.empty()) +
                      static_cast<int>(!options.statistics.empty());
  RequireUsage(sources <= 1, "give one of a data set, samples in memory and statistics");
  std::error_code ignored;
  RequireUsage(ChoosesEqualization(options.equalize) || options.equalize == "off" ||
                   std::filesystem::exists(options.equalize, ignored),
               "--equalize ", options.equalize,
               ": no such file, and none of auto, weights and off");
  RequireUsage(!options.skip_bad || options.data.empty(),
               "--skip-bad is for the files of a data set: samples in memory are read already");
  RequireUsage(options.threads >= 0, "--threads ", options.threads,
               ": expected 0 (OMP_NUM_THREADS, else as many as the CPU has) or more");
  if (options.statistics.empty()) {
    RequireUsage(!options.partial, "--partial needs --from-statistics");
    RequireUsage(!options.resume || !options.checkpoint.empty(), "--resume needs a checkpoint");
    return;
  }
  const char* useless = UselessForStatistics(options);
  RequireUsage(useless == nullptr, useless == nullptr ? "" : useless,
               " has no meaning with --from-statistics: leave it out");
}

CalibrateResult Calibrate(const CalibrateOptions& options, const CalibrateEvents& events) {
  CheckOptions(options);
  RegisterFloatLibrary();
  Graph graph = ImportModel(options.model, options.import, events.note);
  const std::optional<FirstNorm> norm =
      options.statistics.empty() ? FindFirstNorm(graph) : std::nullopt;
  EqualizedGraphs graphs{.model = RunPasses(std::move(graph)), .usual = {}, .tried = {}};
  RSHIFT_REQUIRE(!HoldsQuantization(graphs.model), ErrorCode::kInvalidInput,
                 options.model.Name("the model"),
                 ": the model holds its own quantization parameters; deploy it directly");
  CalibrateResult result;
  result.statistics = options.statistics.empty() ? Measure(options, events, norm, graphs, &result)
                                                 : Load(options, graphs);
  const EqualizedStatistics statistics = SplitStatistics(result.statistics, graphs);
  if (options.every_method) {
    result.tables = TablesOfEveryMethod(options, graphs.usual, statistics.usual);
    result.table = result.tables[static_cast<size_t>(options.method.method)];
  } else if (options.automatic) {
    result.table = AutoTable(options, events, graphs.usual, statistics.usual);
  } else {
    result.table =
        std::move(TablesOf(graphs.usual, statistics.usual, {options.method}, options.threads)[0]);
  }
  AddOtherRanges(options, graphs, statistics, &result);
  result.table.input_shapes = InputShapesToRecord(options.import);
  for (CalibrationTable& table : result.tables) table.input_shapes = result.table.input_shapes;
  if (options.report)
    result.report = Report(options, events, graphs.usual, statistics.usual, result);
  result.thin_ranges = FindThinRanges(statistics.usual, result.table);
  return result;
}

}  // namespace rshift
