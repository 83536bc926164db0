#include <algorithm>
#include <exception>
#include <mutex>

#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/checkpoint.h"
#include "calibrate/environment.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observation.h"
#include "calibrate/observed_program.h"
#include "calibrate/tensor_counter.h"
#include "graph/passes/passes.h"
#include "runtime/outputs.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

constexpr size_t kRound = 50;  // samples between two checkpoints

std::vector<TensorStatistics> EmptyStatistics(const std::vector<std::string>& names) {
  std::vector<TensorStatistics> statistics(names.size());
  for (size_t i = 0; i < names.size(); ++i) statistics[i].name = names[i];
  return statistics;
}

// The data set has the graph's inputs in the graph's order; so has the program.
void CheckInputs(const Graph& graph, const ProgramImage& image) {
  bool same = graph.inputs.size() == image.inputs.size();
  for (size_t i = 0; same && i < graph.inputs.size(); ++i)
    same = graph.value(graph.inputs[i]).name == image.inputs[i].name;
  RSHIFT_REQUIRE(same, ErrorCode::kInternal, "calibration: the program has other inputs");
}

// One thread's share: a session and the statistics of the samples it ran since the last merge.
class Worker {
 public:
  Worker(const Program& program, const ObservationPlan& plan)
      : program_(program),
        plan_(plan),
        session_(program, {.threads = 1}),
        counters_(plan.names.size()),
        derived_peaks_(plan.derived.size()) {}

  void Run(const Sample& sample, const std::string& sha256, std::vector<SampleSource> sources) {
    FillInputs(program_, session_, sample);
    RecordedSample recorded{sha256, sample.name, std::move(sources)};
    for (const Observation& observation : plan_.before) Observe(observation, recorded);
    session_.RunObserved([&](int command) {
      for (const Observation& observation : plan_.after[static_cast<size_t>(command)]) {
        Observe(observation, recorded);
      }
    });
    RequireNoFault(program_, session_);
    for (size_t i = 0; i < plan_.derived.size(); ++i) {
      std::optional<float> peak;
      for (const int source : plan_.derived[i].sources)
        peak = std::max(peak, Counter(source).peak());
      if (peak) ++derived_peaks_[i][PeakBin(*peak)];
    }
    samples_.emplace_back(sha256, sample.name);
    if (!recorded.sources.empty()) recorded_.push_back(std::move(recorded));
  }

  // Adds what was gathered to `total` and starts anew.
  void MoveInto(StatisticsFile& total) {
    for (size_t i = 0; i < counters_.size(); ++i) Merge(total.tensors[i], counters_[i].Sum());
    for (size_t i = 0; i < plan_.derived.size(); ++i) {
      TensorStatistics& into = total.tensors[static_cast<size_t>(plan_.derived[i].statistic)];
      for (const int source : plan_.derived[i].sources) MergePart(into, Counter(source).Sum());
      for (const auto& [bin, samples] : derived_peaks_[i]) into.peaks[bin] += samples;
      derived_peaks_[i].clear();
    }
    for (TensorCounter& counter : counters_) counter.Reset();
    total.samples.insert(total.samples.end(), samples_.begin(), samples_.end());
    samples_.clear();
    total.recorded.insert(total.recorded.end(), recorded_.begin(), recorded_.end());
    KeepLowest(total.recorded);
    recorded_.clear();
  }

 private:
  void Observe(const Observation& observation, const RecordedSample& sample) {
    const std::span<const std::byte> memory = session_.Tensor(observation.tensor);
    const std::span<const float> values(reinterpret_cast<const float*>(memory.data()),
                                        memory.size() / sizeof(float));
    const auto statistic = static_cast<size_t>(observation.statistic);
    counters_[statistic].Add(values, plan_.rules[statistic], plan_.names[statistic], sample);
  }

  TensorCounter& Counter(int statistic) { return counters_[static_cast<size_t>(statistic)]; }

  const Program& program_;
  const ObservationPlan& plan_;
  Session session_;
  std::vector<TensorCounter> counters_;  // by statistic
  std::vector<std::map<uint32_t, uint64_t>> derived_peaks_;
  std::vector<std::pair<std::string, std::string>> samples_;
  std::vector<RecordedSample> recorded_;
};

// Samples go to whoever is free, in ascending order. After an error nobody starts a new sample, but
// those started finish: so the reported error is that of the lowest sample, whatever the number of
// threads.
class Round {
 public:
  Round(const Dataset& dataset, std::span<const int64_t> samples, const CollectOptions& options,
        ProgressReport& progress, DoneSamples& done)
      : dataset_(dataset), samples_(samples), options_(options), progress_(progress), done_(done) {}

  // Throws the error of the lowest sample. False: interrupted before all samples were run.
  bool Run(std::vector<Worker>& workers) {
    RunThreads(workers.size(), [&](size_t i) { Work(workers[i]); });
    if (error_) std::rethrow_exception(error_);
    return !interrupted_;
  }

 private:
  // The next sample's place, or none. What `interrupted` throws is an error of that place.
  bool Claim(size_t& place) {
    const std::lock_guard lock(mutex_);
    if (error_ || interrupted_ || next_ == samples_.size()) return false;
    place = next_;
    if (options_.interrupted && options_.interrupted()) {
      interrupted_ = true;
      return false;
    }
    ++next_;
    return true;
  }

  void Work(Worker& worker) {
    size_t place = 0;
    while (true) {
      try {
        if (!Claim(place)) return;
        const Sample sample = dataset_.Read(samples_[place]);
        const std::string sha256 = ContentSha256(sample);
        if (!IsDone(sha256, sample.name)) {
          worker.Run(sample, sha256, dataset_.sources(samples_[place]));
        }
        progress_.Advance();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_ || place < error_place_) {
          error_ = std::current_exception();
          error_place_ = place;
        }
      }
    }
  }

  bool IsDone(const std::string& sha256, const std::string& name) {
    const std::lock_guard lock(mutex_);
    return done_.Take(sha256, name);
  }

  const Dataset& dataset_;
  const std::span<const int64_t> samples_;
  const CollectOptions& options_;
  ProgressReport& progress_;
  DoneSamples& done_;
  std::mutex mutex_;
  size_t next_ = 0;
  bool interrupted_ = false;
  std::exception_ptr error_;
  size_t error_place_ = 0;
};

}  // namespace

StatisticsFile CollectStatistics(const Graph& graph, const Dataset& dataset,
                                 const std::vector<int64_t>& samples,
                                 const std::string& preprocess_text,
                                 const CollectOptions& options) {
  RSHIFT_REQUIRE(!samples.empty(), ErrorCode::kInvalidInput,
                 "calibration needs at least one sample");
  const Program program = CompileForObservation(graph);
  const ObservationPlan plan = PlanObservation(graph, program.image());
  CheckInputs(graph, program.image());
  StatisticsFile total{
      graph.sha256, kPassListVersion,           preprocess_text, DescribeEnvironment(),
      {},           EmptyStatistics(plan.names)};
  total.equalization = options.equalization;
  if (options.resume) LoadCheckpoint(options.checkpoint, dataset, samples, total);
  DoneSamples done(total.samples);

  std::vector<Worker> workers;
  const size_t threads = ThreadCount(options.threads, std::min(samples.size(), kRound));
  workers.reserve(threads);
  for (size_t i = 0; i < threads; ++i) workers.emplace_back(program, plan);
  ProgressReport progress("calibrating", static_cast<int64_t>(samples.size()), options.progress);
  for (size_t begin = 0; begin < samples.size(); begin += kRound) {
    const size_t count = std::min(kRound, samples.size() - begin);
    Round round(dataset, std::span(samples).subspan(begin, count), options, progress, done);
    const bool finished = round.Run(workers);
    for (Worker& worker : workers) worker.MoveInto(total);
    std::sort(total.samples.begin(), total.samples.end());
    if (finished && begin + count == samples.size()) break;
    SaveCheckpoint(options.checkpoint, total);
    if (!finished) {
      Fail(ErrorCode::kIo, "interrupted",
           options.checkpoint.empty() ? "" : "; carry on with --resume", " (", total.samples.size(),
           " of ", samples.size(), " samples are done)");
    }
  }
  return total;
}

}  // namespace rshift
