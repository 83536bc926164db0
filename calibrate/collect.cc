#include <time.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/checkpoint.h"
#include "calibrate/environment.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/memory_use.h"
#include "calibrate/observation.h"
#include "calibrate/observed_program.h"
#include "calibrate/sample_queue.h"
#include "calibrate/shared_statistics.h"
#include "calibrate/tensor_counter.h"
#include "graph/passes/passes.h"
#include "quantize/ranges/ranges.h"
#include "runtime/outputs.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

// Between two checkpoints are that many samples, and that many times the time which one takes, for
// which the other threads wait.
constexpr size_t kSamplesBetween = 50;
constexpr int kShareOfSaving = 100;

std::vector<TensorStatistics> EmptyStatistics(const std::vector<std::string>& names) {
  std::vector<TensorStatistics> statistics(names.size());
  for (size_t i = 0; i < names.size(); ++i) statistics[i].name = names[i];
  return statistics;
}

// That the calling thread has spent, whatever else runs on its processor.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The data set has the graph's inputs in the graph's order; so has the program.
void CheckInputs(const Graph& graph, const ProgramImage& image) {
  bool same = graph.inputs.size() == image.inputs.size();
  for (size_t i = 0; same && i < graph.inputs.size(); ++i)
    same = graph.value(graph.inputs[i]).name == image.inputs[i].name;
  RSHIFT_REQUIRE(same, ErrorCode::kInternal, "calibration: the program has other inputs");
}

using Clock = std::chrono::steady_clock;

// One thread's share: a session and what it counts one tensor with.
class Worker {
 public:
  Worker(const Program& program, ObservedProgram::SessionOwner session, const ObservationPlan& plan,
         SharedStatistics& statistics)
      : program_(program),
        plan_(plan),
        session_(std::move(session)),
        statistics_(statistics),
        peaks_(plan.names.size()),
        memories_(plan.names.size()) {}

  void Run(const Sample& sample, const std::string& sha256, std::vector<SampleSource> sources) {
    SharedStatistics::Addition addition(statistics_);
    const double begin = ThreadSeconds();
    const Clock::time_point start = Clock::now();
    observing_ = {};
    FillInputs(program_, *session_, sample);
    RecordedSample recorded{sha256, sample.name, std::move(sources)};
    for (const Observation& observation : plan_.before) Observe(observation, recorded, addition);
    session_->RunObserved([&](int command) {
      for (const Observation& observation : plan_.after[static_cast<size_t>(command)]) {
        Observe(observation, recorded, addition);
      }
    });
    RequireNoFault(program_, *session_, sample.name);
    for (const DerivedStatistic& derived : plan_.derived) {
      std::optional<float> peak;
      for (const int source : derived.sources)
        peak = std::max(peak, peaks_[static_cast<size_t>(source)]);
      if (peak) addition.AddPeak(derived.statistic, *peak);
    }
    addition.Finish(std::move(recorded));
    const double seconds = ThreadSeconds() - begin;
    all_ += seconds;
    all_observing_ += seconds * (observing_ / std::chrono::duration<double>(Clock::now() - start));
  }

  // When the thread has ended.
  CollectTimes times() const { return {all_ - all_observing_, all_observing_, observed_}; }

 private:
  void Observe(const Observation& observation, const RecordedSample& sample,
               SharedStatistics::Addition& addition) {
    const Clock::time_point begin = Clock::now();
    const std::span<const std::byte> memory = session_->Tensor(observation.tensor);
    const std::span<const float> values(reinterpret_cast<const float*>(memory.data()),
                                        memory.size() / sizeof(float));
    const auto i = static_cast<size_t>(observation.statistic);
    counter_.Count(values, plan_.rules[i], plan_.names[i], sample.name, memories_[i]);
    peaks_[i] = counter_.peak();
    addition.Add(observation.statistic, counter_, sample, memories_[i]);
    observed_ += values.size();
    observing_ += Clock::now() - begin;
  }

  const Program& program_;
  const ObservationPlan& plan_;
  ObservedProgram::SessionOwner session_;
  SharedStatistics& statistics_;
  TensorCounter counter_;
  // Thread seconds. Asking for them is a system call, so that those of one sample are divided as
  // the time is that has passed.
  double all_ = 0, all_observing_ = 0;
  std::chrono::duration<double> observing_{};  // of the sample at hand
  uint64_t observed_ = 0;
  std::vector<std::optional<float>> peaks_;  // by statistic: of the sample at hand
  std::vector<TensorMemory> memories_;       // by statistic
};

// Everything that the threads of one run share.
class Run {
 public:
  Run(ObservedProgram& program, const ObservationPlan& plan, const Dataset& dataset,
      std::span<const int64_t> samples, const CollectOptions& options, StatisticsFile& total)
      : dataset_(dataset),
        options_(options),
        total_(total),
        statistics_(plan, total),
        done_(total.samples),
        progress_("calibrating", static_cast<int64_t>(samples.size()), options.progress),
        count_(samples.size()),
        threads_(ThreadCount(options.threads, samples.size())),
        queue_(dataset, samples, threads_, options.interrupted) {
    std::vector<ObservedProgram::SessionOwner> sessions(threads_);
    ForEachIndex(options.threads, threads_,
                 [&] { return [&](size_t i) { sessions[i] = program.TakeSession(); }; });
    for (ObservedProgram::SessionOwner& session : sessions)
      workers_.emplace_back(program.program(), std::move(session), plan, statistics_);
  }

  // Throws the error of the lowest sample, and keeps the others that are done where none has failed
  // halfway. False: interrupted before all samples were run.
  bool Work() {
    RunThreads(threads_, [this](size_t i) { Work(workers_[i]); });
    try {
      const bool finished = queue_.Finish();
      statistics_.UseWhole([&] {
        if (!finished) SaveCheckpoint(options_.checkpoint, total_);
      });
      return finished;
    } catch (const Error& error) {
      if (!KeepsDone()) throw;
      Fail(error.code(), error.what(), "; ", total_.samples.size(), " of ", count_,
           " samples are done and kept: carry on with --resume");
    }
  }

  // Before Work: at its peak, in bytes.
  uint64_t ExpectedMemory(const Graph& graph) const {
    MemoryPlan plan{.threads = threads_,
                    .pages = ExpectedPages(graph, CalibratedValues(graph), count_),
                    .pictures = !total_.preprocess.empty()};
    for (const ValueId input : graph.inputs)
      plan.sample_bytes +=
          static_cast<uint64_t>(NumElements(graph.value(input).shape)) * sizeof(float);
    return ExpectedPeak(plan);
  }

  CollectTimes Times() const {
    CollectTimes times;
    for (const Worker& worker : workers_) times += worker.times();
    return times;
  }

 private:
  // Whether they are in the checkpoint now; few are not worth one, which the next run would have to
  // be told what to do with. An error of its own would hide the sample's.
  bool KeepsDone() {
    bool kept = false;
    try {
      statistics_.UseWhole([&] {
        if (options_.checkpoint.empty() || total_.samples.size() < kSamplesBetween) return;
        SaveCheckpoint(options_.checkpoint, total_);
        kept = true;
      });
    } catch (const Error&) {
    }
    return kept;
  }

  void Work(Worker& worker) {
    while (std::optional<NextSample> next = queue_.Take()) {
      try {
        if (!IsDone(*next)) worker.Run(next->sample, next->sha256, dataset_.sources(next->index));
        progress_.Advance();
        SaveNowAndThen();
      } catch (...) {
        queue_.FailAt(next->place);
      }
    }
  }

  bool IsDone(const NextSample& next) {
    const std::lock_guard lock(mutex_);
    return done_.Take(next.sha256, next.sample.name);
  }

  // By the thread that finds it due; the others finish their samples and wait.
  void SaveNowAndThen() {
    const std::unique_lock lock(saving_, std::try_to_lock);
    if (options_.checkpoint.empty() || !lock) return;
    const auto begin = Clock::now();
    if (++unsaved_ < kSamplesBetween || begin - saved_ < kShareOfSaving * cost_) return;
    statistics_.UseWhole([&] { SaveCheckpoint(options_.checkpoint, total_); });
    unsaved_ = 0;
    saved_ = Clock::now();
    cost_ = saved_ - begin;
  }

  const Dataset& dataset_;
  const CollectOptions& options_;
  StatisticsFile& total_;  // what statistics_ makes of it
  SharedStatistics statistics_;
  std::mutex mutex_;
  DoneSamples done_;  // guarded by mutex_
  ProgressReport progress_;
  const size_t count_, threads_;
  std::deque<Worker> workers_;
  std::mutex saving_;
  // Below: guarded by saving_.
  // Samples since the last checkpoint, but for those that ended while another thread was here.
  size_t unsaved_ = 0;
  Clock::time_point saved_ = Clock::now();
  Clock::duration cost_{};  // of the last checkpoint
  SampleQueue queue_;       // last: its thread ends before the rest goes
};

}  // namespace

StatisticsFile CollectStatistics(const Graph& graph, ObservedProgram& observed,
                                 const Dataset& dataset, const std::vector<int64_t>& samples,
                                 const std::string& preprocess_text,
                                 const CollectOptions& options) {
  RSHIFT_REQUIRE(!samples.empty(), ErrorCode::kInvalidInput,
                 "calibration needs at least one sample");
  const Program& program = observed.program();
  const ObservationPlan plan = PlanObservation(graph, program.image());
  CheckInputs(graph, program.image());
  StatisticsFile total{graph.sha256,
                       kPassListVersion,
                       preprocess_text,
                       DescribeEnvironment(observed.portable()),
                       {},
                       EmptyStatistics(plan.names)};
  total.equalization = options.equalization;
  total.trial = options.trial;
  if (options.resume) LoadCheckpoint(options.checkpoint, dataset, samples, total);
  Run run(observed, plan, dataset, samples, options, total);
  ReturnFreedMemory();  // what reading the model has left
  if (options.memory) options.memory(run.ExpectedMemory(graph));
  if (!run.Work()) {
    Fail(ErrorCode::kIo, "interrupted",
         options.checkpoint.empty() ? "" : "; carry on with --resume", " (", total.samples.size(),
         " of ", samples.size(), " samples are done)");
  }
  if (options.times != nullptr) *options.times = run.Times();
  return total;
}

}  // namespace rshift
