#include "calibrate/threshold.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "calibrate/kl.h"
#include "calibrate/threshold_methods.h"

namespace rshift {
namespace {

// The border below which `wanted` of the values lie; `bins` ascending. The end of the bin that
// reaches it.
double Quantile(const std::vector<WeightedBin>& bins, double wanted) {
  double below = 0;
  for (const WeightedBin& bin : bins) {
    below += static_cast<double>(bin.count);
    if (below >= wanted) return bin.high;
  }
  return bins.back().high;
}

std::vector<WeightedBin> Mirrored(std::vector<WeightedBin> bins) {
  for (WeightedBin& bin : bins) bin = {-bin.high, -bin.low, bin.count};
  std::reverse(bins.begin(), bins.end());
  return bins;
}

std::vector<WeightedBin> Magnitudes(std::vector<WeightedBin> bins) {
  for (WeightedBin& bin : bins) {
    if (bin.low < 0) bin = {-bin.high, -bin.low, bin.count};
  }
  std::stable_sort(bins.begin(), bins.end(),
                   [](const WeightedBin& a, const WeightedBin& b) { return a.low < b.low; });
  return bins;
}

struct MethodEntry {
  const char *name, *criterion;
  void (*derive)(const TensorBins&, const MethodOptions&, TensorRange&);
};

// By Method.
constexpr MethodEntry kMethods[] = {
#define RSHIFT_METHOD(name, text, criterion) {text, criterion, Derive##name},
#include "calibrate/methods.def"
};

std::optional<Method> FindMethod(std::string_view name) {
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    if (name == kMethods[i].name) return static_cast<Method>(i);
  }
  return std::nullopt;
}

const MethodEntry& EntryOf(Method method) { return kMethods[static_cast<size_t>(method)]; }

}  // namespace

void DeriveMinMax(const TensorBins&, const MethodOptions&, TensorRange&) {}

// Threshold: p percent of all |x| (zeros count). Low and high: the rest is cut off half at each
// end; all of it at one end when the tensor never goes beyond zero at the other. A range that would
// be empty although values are not zero (more than p percent are) falls back to the observed one.
void DerivePercentile(const TensorBins& tensor, const MethodOptions& options, TensorRange& range) {
  const std::vector<WeightedBin>& bins = tensor.bins();
  const auto count = static_cast<double>(tensor.statistics().count);
  const double rest = (100.0 - options.percentile) / 100.0 * count;
  const auto bounded = [](double value, float low, float high) {
    return std::clamp(static_cast<float>(value), low, high);
  };
  const float threshold = bounded(Quantile(Magnitudes(bins), count - rest), 0.0f, range.threshold);
  if (threshold > 0) range.threshold = threshold;
  const bool two_sided = range.min < 0 && range.max > 0;
  const double tail = two_sided ? rest / 2 : rest;
  const float high =
      range.max > 0 ? bounded(Quantile(bins, count - tail), range.min, range.max) : range.max;
  const float low = range.min < 0
                        ? bounded(-Quantile(Mirrored(bins), count - tail), range.min, range.max)
                        : range.min;
  if (high > low && (low < 0 || high > 0)) {
    range.low = low;
    range.high = high;
  }
}

void DeriveKl(const TensorBins& tensor, const MethodOptions&, TensorRange& range) {
  const bool is_signed = range.min < 0;
  const double threshold = KlThreshold(tensor, is_signed ? kSignedSteps : kUnsignedSteps);
  range.threshold = std::min(static_cast<float>(threshold), range.threshold);
  // Q has a level for each number. With one less, as the unsigned search has, six networks were
  // measured from 0.3 points worse to 0.7 better in top-1, which is chance.
  const ClipRange clip = KlRange(tensor, kAsymmetricSteps + 1);
  range.low = static_cast<float>(clip.low);
  range.high = static_cast<float>(clip.high);
}

Method ParseMethod(const std::string& name) {
  if (const std::optional<Method> method = FindMethod(name)) return *method;
  // As TensorRT, ONNX Runtime and TPU-MLIR call them.
  if (name == "entropy" || name == "kld") return Method::kKl;
  if (name == "max") return Method::kMinMax;
  std::string names;
  constexpr size_t kCount = std::size(kMethods);
  for (size_t i = 0; i < kCount; ++i)
    names += Cat(i == 0 ? "" : i + 1 < kCount ? ", " : " or ", kMethods[i].name);
  Fail(ErrorCode::kInvalidInput, "unknown threshold method '", name, "', expected ", names);
}

std::vector<Method> AllMethods() {
  return {
#define RSHIFT_METHOD(name, text, criterion) Method::k##name,
#include "calibrate/methods.def"
  };
}

std::string_view Name(Method method) { return EntryOf(method).name; }

std::string_view CriterionOf(Method method) { return EntryOf(method).criterion; }

std::string MethodName(const MethodOptions& options) {
  const char* name = EntryOf(options.method).name;
  return options.method == Method::kPercentile ? Cat(name, " ", options.percentile) : name;
}

std::optional<Method> MethodOfTable(std::string_view name) {
  return FindMethod(name.substr(0, name.find(' ')));
}

namespace {

TensorRange WholeRange(const TensorStatistics& statistics) {
  TensorRange range;
  if (statistics.count > 0) {
    range.min = range.low = statistics.min;
    range.max = range.high = statistics.max;
    range.threshold = std::max(std::abs(range.min), std::abs(range.max));
  }
  return range;
}

}  // namespace

std::vector<TensorRange> DeriveRanges(const TensorStatistics& statistics,
                                      std::span<const MethodOptions> methods) {
  const TensorBins tensor(statistics);
  std::vector<TensorRange> ranges;
  for (const MethodOptions& options : methods) {
    RSHIFT_REQUIRE(options.percentile > 50 && options.percentile <= 100, ErrorCode::kInvalidInput,
                   "percentile ", options.percentile, ", expected more than 50 and at most 100");
    MethodOptions used = options;
    if (options.method == Method::kOmse && options.readers.empty()) used.method = Method::kMse;
    const std::string name = MethodName(used);
    const auto same = std::find_if(ranges.begin(), ranges.end(),
                                   [&](const TensorRange& range) { return range.method == name; });
    if (same != ranges.end() && used.method != Method::kOmse) {
      ranges.push_back(*same);
      continue;
    }
    TensorRange range = WholeRange(statistics);
    range.method = name;
    if (range.threshold != 0) EntryOf(used.method).derive(tensor, used, range);
    ranges.push_back(std::move(range));
  }
  return ranges;
}

TensorRange DeriveRange(const TensorStatistics& statistics, const MethodOptions& options) {
  return DeriveRanges(statistics, {&options, 1})[0];
}

}  // namespace rshift
