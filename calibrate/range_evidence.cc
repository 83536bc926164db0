#include "calibrate/range_evidence.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr uint64_t kLeastSamples = 8;

}  // namespace

std::vector<ThinRange> FindThinRanges(const StatisticsFile& statistics,
                                      const CalibrationTable& table) {
  std::vector<ThinRange> thin;
  for (size_t i = 0; i < statistics.tensors.size(); ++i) {
    const TensorStatistics& tensor = statistics.tensors[i];
    const TensorRange& range = table.tensors[i].second;
    if (range.method == kKnownMethod || range.threshold == 0) continue;
    ThinRange found{tensor.name, range.threshold, 0, 0, 0};
    for (const auto& [bin, samples] : tensor.peaks) {
      found.of += samples;
      if (PeakBinLow(bin) >= range.threshold / 2)
        found.samples += samples;
      else
        found.others = PeakBinLow(bin + 1);
    }
    const uint64_t few = std::max<uint64_t>(1, found.of / 100);
    if (found.of >= kLeastSamples && found.samples <= few) thin.push_back(found);
  }
  std::stable_sort(thin.begin(), thin.end(), [](const ThinRange& a, const ThinRange& b) {
    return a.threshold * b.others > b.threshold * a.others;
  });
  return thin;
}

}  // namespace rshift
