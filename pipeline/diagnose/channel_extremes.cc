#include "pipeline/diagnose/channel_extremes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "calibrate/fill_inputs.h"
#include "calibrate/observation.h"
#include "calibrate/observed_program.h"
#include "quantize/ranges/ranges.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Seen {
  std::string name;
  int tensor = 0;
  size_t channels = 0;
};

class ExtremesRun {
 public:
  ExtremesRun(const Graph& graph, const Dataset& samples, const ProgressFunction& progress)
      : program_(CompileForObservation(graph)),
        samples_(samples),
        progress_("channels", samples.size(), progress) {
    after_.resize(program_.image().commands.size());
    for (const ValueId id : CalibratedValues(graph)) {
      const Value& value = graph.value(id);
      const std::optional<CompleteTensor> at = FindComplete(program_.image(), value.name);
      if (!at || NumElements(value.shape) == 0) continue;
      (at->command < 0 ? before_ : after_[static_cast<size_t>(at->command)])
          .push_back(seen_.size());
      const size_t channels = value.shape.empty() ? 1 : static_cast<size_t>(value.shape.back());
      seen_.push_back({value.name, at->tensor, channels});
      total_.push_back(Empty(seen_.size() - 1));
      total_.back().sample_peaks.resize(static_cast<size_t>(samples.size()));
    }
  }

  std::map<std::string, ChannelExtremes> Run(int threads) {
    ForEachIndex(threads, static_cast<size_t>(samples_.size()), [this] { return Work(); });
    std::map<std::string, ChannelExtremes> found;
    for (size_t i = 0; i < seen_.size(); ++i) found[seen_[i].name] = std::move(total_[i]);
    return found;
  }

 private:
  ChannelExtremes Empty(size_t index) const {
    const size_t channels = seen_[index].channels;
    return {std::vector<float>(channels, kInfinite), std::vector<float>(channels, -kInfinite), {}};
  }

  IndexWork Work() {
    const auto session = std::make_shared<Session>(program_, SessionOptions{.threads = 1});
    return [this, session](size_t s) {
      std::vector<ChannelExtremes> found;
      for (size_t i = 0; i < seen_.size(); ++i) found.push_back(Empty(i));
      FillInputs(program_, *session, samples_.Read(static_cast<int64_t>(s)));
      for (const size_t i : before_) Look(*session, i, found[i]);
      session->RunObserved([&](int command) {
        for (const size_t i : after_[static_cast<size_t>(command)]) Look(*session, i, found[i]);
      });
      const std::lock_guard lock(mutex_);
      Take(s, found);
      progress_.Advance();
    };
  }

  void Look(const Session& session, size_t index, ChannelExtremes& found) const {
    const std::span<const std::byte> memory = session.Tensor(seen_[index].tensor);
    const auto* values = reinterpret_cast<const float*>(memory.data());
    const size_t count = memory.size() / sizeof(float), channels = seen_[index].channels;
    for (size_t i = 0; i + channels <= count; i += channels) {
      for (size_t c = 0; c < channels; ++c) {
        const float v = values[i + c];
        if (!std::isfinite(v)) continue;
        found.min[c] = std::min(found.min[c], v);
        found.max[c] = std::max(found.max[c], v);
      }
    }
  }

  // Smallest and largest: the order of the samples makes no difference.
  void Take(size_t sample, const std::vector<ChannelExtremes>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
      float& peak = total_[i].sample_peaks[sample];
      for (size_t c = 0; c < seen_[i].channels; ++c) {
        if (found[i].min[c] > found[i].max[c]) continue;  // nothing finite
        total_[i].min[c] = std::min(total_[i].min[c], found[i].min[c]);
        total_[i].max[c] = std::max(total_[i].max[c], found[i].max[c]);
        peak = std::max({peak, std::fabs(found[i].min[c]), std::fabs(found[i].max[c])});
      }
    }
  }

  Program program_;
  const Dataset& samples_;
  ProgressReport progress_;
  std::vector<Seen> seen_;
  std::vector<size_t> before_;
  std::vector<std::vector<size_t>> after_;  // by command
  std::vector<ChannelExtremes> total_;
  std::mutex mutex_;
};

}  // namespace

std::map<std::string, ChannelExtremes> MeasureExtremes(const Graph& graph, const Dataset& samples,
                                                       int threads,
                                                       const ProgressFunction& progress) {
  return ExtremesRun(graph, samples, progress).Run(threads);
}

}  // namespace rshift
