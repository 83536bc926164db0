#include "quantize/ranges/recorded_sample.h"

#include <algorithm>

namespace rshift {

void KeepLowest(std::vector<RecordedSample>& samples) {
  std::sort(samples.begin(), samples.end());
  const auto repeats = [](const RecordedSample& a, const RecordedSample& b) {
    return a.sha256 == b.sha256 && a.name == b.name;
  };
  samples.erase(std::unique(samples.begin(), samples.end(), repeats), samples.end());
  if (samples.size() > kMaxRecordedSamples) samples.resize(kMaxRecordedSamples);
}

}  // namespace rshift
