#include "calibrate/channel_ranges.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "calibrate/channel_scan.h"
#include "calibrate/data/stored_samples.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/observation.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

struct Watched {
  std::string name;
  int tensor = 0;
  size_t channels = 0;
};

class Measurer {
 public:
  Measurer(const Graph& graph, ObservedProgram& program, const std::vector<ValueId>& values,
           const Dataset& dataset, const std::vector<int64_t>& samples,
           const MeasureChannelsOptions& options)
      : program_(program),
        dataset_(dataset),
        samples_(samples),
        options_(options),
        progress_("equalizing", static_cast<int64_t>(samples.size()), options.progress) {
    after_.resize(program_.program().image().commands.size());
    for (const ValueId id : values) {
      const Value& value = graph.value(id);
      const std::optional<CompleteTensor> at = FindComplete(program_.program().image(), value.name);
      if (!at || NumElements(value.shape) == 0) continue;
      const auto channels = static_cast<size_t>(value.shape.back());
      (at->command < 0 ? before_ : after_[static_cast<size_t>(at->command)])
          .push_back(watched_.size());
      watched_.push_back({value.name, at->tensor, channels});
      total_.push_back({std::vector<float>(channels, 0), std::vector<double>(channels, 0)});
      rows_.push_back(static_cast<size_t>(NumElements(value.shape)) / channels);
    }
  }

  MeasuredChannels Run() {
    ForEachIndex(options_.threads, samples_.size(), [this] { return Work(); });
    return Means();
  }

 private:
  using SampleSums = std::vector<ChannelSums>;  // by watched tensor; empty: the sample failed

  IndexWork Work() {
    const std::shared_ptr<Session> session = program_.TakeSession();
    return [this, session](size_t place) {
      RSHIFT_REQUIRE(!options_.interrupted || !options_.interrupted(), ErrorCode::kIo,
                     "interrupted while channels were measured; run it again");
      SampleSums sums = RunSample(*session, place);
      const std::lock_guard lock(mutex_);
      done_[place] = std::move(sums);
      TakeInOrder();
      progress_.Advance();
    };
  }

  SampleSums RunSample(Session& session, size_t place) {
    SampleSums sums(watched_.size());
    try {
      FillInputs(program_.program(), session, dataset_.Read(samples_[place]));
    } catch (const Error&) {
      return {};  // CollectStatistics reads it again and says what is wrong
    }
    for (const size_t index : before_) Look(session, index, sums);
    session.RunObserved([&](int command) {
      for (const size_t index : after_[static_cast<size_t>(command)]) Look(session, index, sums);
    });
    return sums;
  }

  void Look(const Session& session, size_t index, SampleSums& sums) const {
    const std::span<const std::byte> memory = session.Tensor(watched_[index].tensor);
    sums[index] =
        ScanChannels({reinterpret_cast<const float*>(memory.data()), memory.size() / sizeof(float)},
                     watched_[index].channels);
  }

  // Sums of floating point numbers depend on their order: it is the samples', and those that are
  // ahead of it wait.
  void TakeInOrder() {
    for (auto at = done_.find(taken_); at != done_.end(); at = done_.find(++taken_)) {
      const SampleSums sums = std::move(at->second);
      done_.erase(at);
      if (sums.empty()) continue;
      ++counted_;
      for (size_t i = 0; i < sums.size(); ++i) {
        for (size_t c = 0; c < watched_[i].channels; ++c) {
          total_[i].peak[c] = std::max(total_[i].peak[c], sums[i].peak[c]);
          total_[i].squares[c] += sums[i].squares[c];
        }
      }
    }
  }

  MeasuredChannels Means() {
    MeasuredChannels measured;
    for (size_t i = 0; i < watched_.size() && counted_ > 0; ++i) {
      for (double& square : total_[i].squares) square /= static_cast<double>(rows_[i] * counted_);
      measured[watched_[i].name] = {std::move(total_[i].peak), std::move(total_[i].squares)};
    }
    return measured;
  }

  ObservedProgram& program_;
  const Dataset& dataset_;
  const std::vector<int64_t>& samples_;
  const MeasureChannelsOptions& options_;
  ProgressReport progress_;
  std::vector<Watched> watched_;
  std::vector<size_t> rows_;  // of each watched tensor
  std::vector<size_t> before_;
  std::vector<std::vector<size_t>> after_;  // by command
  std::vector<ChannelSums> total_;          // of the samples taken
  std::map<size_t, SampleSums> done_;       // that wait for others, by place
  size_t taken_ = 0, counted_ = 0;
  std::mutex mutex_;
};

}  // namespace

std::vector<int64_t> ChooseChannelSamples(const Dataset& dataset,
                                          const std::vector<int64_t>& samples, int threads) {
  std::vector<std::pair<std::string, int64_t>> hashed(samples.size());
  ForEachIndex(threads, samples.size(), [&] {
    return [&](size_t i) {
      try {
        hashed[i] = {StoredSha256(dataset, samples[i]), samples[i]};
      } catch (const Error&) {  // CollectStatistics reads it again and says what is wrong
      }
    };
  });
  std::erase_if(hashed, [](const auto& sample) { return sample.first.empty(); });
  std::sort(hashed.begin(), hashed.end());
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < std::min(hashed.size(), kChannelSamples); ++i)
    chosen.push_back(hashed[i].second);
  return chosen;
}

MeasuredChannels MeasureChannels(const Graph& graph, ObservedProgram& program,
                                 const std::vector<ValueId>& values, const Dataset& dataset,
                                 const std::vector<int64_t>& samples,
                                 const MeasureChannelsOptions& options) {
  if (values.empty() || samples.empty()) return {};
  return Measurer(graph, program, values, dataset, samples, options).Run();
}

}  // namespace rshift
