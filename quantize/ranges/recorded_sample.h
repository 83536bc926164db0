// Samples a table remembers so that they can be read again: a deployed program is checked on them.
#ifndef RSHIFT_QUANTIZE_RANGES_RECORDED_SAMPLE_H_
#define RSHIFT_QUANTIZE_RANGES_RECORDED_SAMPLE_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace rshift {

// Where the values of one model input come from: sample `index` of the data set that `paths` form.
struct SampleSource {
  std::string input;               // the model input's name
  std::vector<std::string> paths;  // of files, as the user gave them; several for a batch of images
  int64_t index = 0;
  auto operator<=>(const SampleSource&) const = default;  // NOLINT: taken for a 0 of a pointer
};

struct RecordedSample {
  std::string sha256;  // of the content after preprocessing
  std::string name;
  std::vector<SampleSource> sources;                        // one per model input
  auto operator<=>(const RecordedSample&) const = default;  // NOLINT: likewise
};

inline constexpr size_t kMaxRecordedSamples = 16;

// Sorts, drops repetitions of one hash and name, and keeps the kMaxRecordedSamples lowest. Of lists
// treated so, the union is the same in any order: threads, shards and merges do not matter.
void KeepLowest(std::vector<RecordedSample>& samples);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_RECORDED_SAMPLE_H_
