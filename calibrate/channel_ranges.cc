#include "calibrate/channel_ranges.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observation.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/sha256.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

// Of one tensor in one sample.
struct ChannelSums {
  std::vector<float> peak;
  std::vector<double> squares;
};

void Scan(std::span<const float> values, size_t channels, ChannelSums* sums) {
  sums->peak.assign(channels, 0);
  sums->squares.assign(channels, 0);
  for (size_t row = 0; row + channels <= values.size(); row += channels) {
    for (size_t c = 0; c < channels; ++c) {
      const float x = std::isfinite(values[row + c]) ? std::fabs(values[row + c]) : 0;
      sums->peak[c] = std::max(sums->peak[c], x);
      sums->squares[c] += static_cast<double>(x) * x;
    }
  }
}

struct Watched {
  int tensor = 0;
  size_t channels = 0;
  size_t rows = 0;
};

class Measurer {
 public:
  Measurer(const Graph& graph, const std::vector<ValueId>& values, const Dataset& dataset,
           const std::vector<int64_t>& samples, const MeasureChannelsOptions& options)
      : program_(CompileObserved(graph)),
        dataset_(dataset),
        samples_(samples),
        options_(options),
        progress_("measuring channels", static_cast<int64_t>(samples.size()), options.progress),
        sums_(samples.size(), std::vector<ChannelSums>(values.size())) {
    after_.resize(program_.image().commands.size());
    for (const ValueId id : values) {
      const Value& value = graph.value(id);
      const auto channels = static_cast<size_t>(value.shape.back());
      const CompleteTensor at = FindComplete(program_.image(), value.name);
      const size_t index = watched_.size();
      watched_.push_back(
          {at.tensor, channels, static_cast<size_t>(NumElements(value.shape)) / channels});
      names_.push_back(value.name);
      (at.command < 0 ? before_ : after_[static_cast<size_t>(at.command)]).push_back(index);
    }
  }

  MeasuredChannels Run() {
    const size_t asked = options_.threads > 0 ? static_cast<size_t>(options_.threads)
                                              : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min(asked, samples_.size()); ++i)
      threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    return Sum();
  }

 private:
  static Program CompileObserved(const Graph& graph) {
    CompileOptions options;
    options.observable = true;
    options.reuse_observed = true;
    return Program::FromBytes(WriteContainer(Compile(graph, options)),
                              "float program of " + graph.name, Limits::None());
  }

  void Work() {
    omp_set_num_threads(1);
    try {
      Session session(program_, {.threads = 1});
      while (true) {
        const size_t place = next_.fetch_add(1);
        if (place >= samples_.size()) return;
        RSHIFT_REQUIRE(!options_.interrupted || !options_.interrupted(), ErrorCode::kIo,
                       "interrupted while channels were measured; run it again");
        RunSample(session, place);
        const std::lock_guard lock(mutex_);
        progress_.Advance();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_ = samples_.size();
    }
  }

  void RunSample(Session& session, size_t place) {
    FillInputs(program_, session, dataset_.Read(samples_[place]));
    for (const size_t index : before_) Look(session, place, index);
    session.RunObserved([&](int command) {
      for (const size_t index : after_[static_cast<size_t>(command)]) Look(session, place, index);
    });
  }

  void Look(const Session& session, size_t place, size_t index) {
    const std::span<const std::byte> memory = session.Tensor(watched_[index].tensor);
    Scan({reinterpret_cast<const float*>(memory.data()), memory.size() / sizeof(float)},
         watched_[index].channels, &sums_[place][index]);
  }

  // In the samples' order: sums of floating point numbers depend on it.
  MeasuredChannels Sum() const {
    MeasuredChannels measured;
    for (size_t index = 0; index < watched_.size(); ++index) {
      const Watched& watched = watched_[index];
      ChannelRanges ranges{std::vector<float>(watched.channels, 0),
                           std::vector<double>(watched.channels, 0)};
      for (const std::vector<ChannelSums>& sample : sums_) {
        for (size_t c = 0; c < watched.channels; ++c) {
          ranges.peak[c] = std::max(ranges.peak[c], sample[index].peak[c]);
          ranges.square[c] += sample[index].squares[c];
        }
      }
      const double count = static_cast<double>(watched.rows * sums_.size());
      for (double& square : ranges.square) square = count > 0 ? square / count : 0;
      measured[names_[index]] = std::move(ranges);
    }
    return measured;
  }

  Program program_;
  const Dataset& dataset_;
  const std::vector<int64_t>& samples_;
  const MeasureChannelsOptions& options_;
  ProgressReport progress_;
  std::vector<Watched> watched_;
  std::vector<std::string> names_;
  std::vector<size_t> before_;
  std::vector<std::vector<size_t>> after_;      // by command
  std::vector<std::vector<ChannelSums>> sums_;  // by sample, by value
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

std::vector<int64_t> ChooseChannelSamples(const Dataset& dataset,
                                          const std::vector<int64_t>& samples) {
  std::vector<std::pair<std::string, int64_t>> hashed;
  for (const int64_t index : samples) {
    const std::string name = dataset.name(index);
    hashed.emplace_back(
        Sha256Hex({reinterpret_cast<const uint8_t*>(name.data()), name.size()}) + name, index);
  }
  std::sort(hashed.begin(), hashed.end());
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < std::min(hashed.size(), kChannelSamples); ++i)
    chosen.push_back(hashed[i].second);
  return chosen;
}

MeasuredChannels MeasureChannels(const Graph& graph, const std::vector<ValueId>& values,
                                 const Dataset& dataset, const std::vector<int64_t>& samples,
                                 const MeasureChannelsOptions& options) {
  if (values.empty() || samples.empty()) return {};
  return Measurer(graph, values, dataset, samples, options).Run();
}

}  // namespace rshift
