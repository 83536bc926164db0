// What calibration remembers of a tensor: exact min/max, count, and a log-linear histogram. The bin
// of a value is the top bits of the float itself (sign, exponent, 10 mantissa bits); pages of one
// octave are allocated when first touched; counts have 64 bits. No range is needed beforehand, an
// outlier costs nothing, and merging is integer addition: exact, associative, commutative. Memory
// does not grow with the number of samples.
#ifndef RSHIFT_CALIBRATE_STATISTICS_H_
#define RSHIFT_CALIBRATE_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/histogram_page.h"
#include "quantize/ranges/equalization.h"
#include "quantize/ranges/recorded_sample.h"

namespace rshift {

struct Histogram {
  static constexpr int kMantissaBits = 10;
  static constexpr int kPageBins = 1 << kMantissaBits;
  static_assert(kPageBins == HistogramPage::kBins);
  // Where they stand in the bits of a float.
  static constexpr int kPageShift = 23;
  static constexpr int kBinShift = kPageShift - kMantissaBits;
  // Page = sign and exponent of the float (its top 9 bits); bin = the next 10 bits. Zeros (both
  // signs) are counted apart.
  std::map<uint32_t, HistogramPage> pages;
  uint64_t zeros = 0;
};

struct TensorStatistics {
  std::string name;
  float min = 0, max = 0;   // meaningless while count == 0; a zero has no sign
  uint64_t count = 0;       // finite values
  uint64_t infinities = 0;  // and finite masks, left out: see InfinityRule
  // How many samples have their largest |x| in which bin (PeakBin): does the range hang on one
  // sample? Empty in files of version 1.
  std::map<uint32_t, uint64_t> peaks;
  Histogram histogram;
  // The samples that min and max were seen in, of several the lowest. Without a hash: nobody knows,
  // as in files before version 4.
  RecordedSample min_sample = {}, max_sample = {};
};
// A quarter of an octave: exponent and two mantissa bits of a magnitude.
uint32_t PeakBin(float magnitude);
float PeakBinLow(uint32_t bin);  // the least magnitude in it

// Which infinities of a tensor are left out of its statistics and counted: a mask's (a Softmax
// makes 0 of them, a Where drops them). Others are an error.
struct InfinityRule {
  bool negative = false, positive = false;
  // Finite values at or below it are a mask too; minus infinity: none.
  float mask_limit = -std::numeric_limits<float>::infinity();
};

// A run of equal-signed bins as an interval of real values; what the threshold methods work on.
// Ascending, disjoint.
struct WeightedBin {
  double low = 0, high = 0;  // [low, high); a zero bin has low == high == 0
  uint64_t count = 0;
};

// All values of one sample. Throws kInvalidInput naming tensor and `sample` at the first NaN, or
// infinity that `rule` does not let pass; `statistics` is then as before. For many samples
// TensorCounter is faster.
void Add(TensorStatistics& statistics, std::span<const float> values, const std::string& sample,
         const InfinityRule& rule = {});
// What one more sample, or several, reach: the only place where min, max and their samples change.
// Comes before their values are counted.
void TakeExtremes(TensorStatistics& into, float min, const RecordedSample& min_sample, float max,
                  const RecordedSample& max_sample);
// As if every sample of `other` had been added as well; the name stays.
void Merge(TensorStatistics& into, const TensorStatistics& other);
// Without the peaks: `other` is a part of the tensor, not other samples of it.
void MergePart(TensorStatistics& into, const TensorStatistics& other);
std::vector<WeightedBin> Bins(const TensorStatistics& statistics);

// One share of a data set that is measured in `count` runs (--shard I/N). `set`: which samples were
// chosen from which data set, the same for every share.
struct ShardId {
  std::string set;
  uint32_t count = 0, index = 0;
  auto operator<=>(const ShardId&) const = default;  // NOLINT: taken for a 0 of a pointer
};

// The statistics of one calibration, as it is written to a .stats file (checksummed, mergeable).
struct StatisticsFile {
  std::string model_sha256;
  int pass_list_version = 0;
  std::string preprocess;
  std::map<std::string, std::string> environment;
  // Content hash and name of every sample, ascending by (hash, name): merging refuses a sample that
  // is in both.
  std::vector<std::pair<std::string, std::string>> samples;
  std::vector<TensorStatistics> tensors;      // graph order
  std::vector<RecordedSample> recorded = {};  // as KeepLowest leaves them
  // Shares that are in here, ascending, of sets that are not complete yet: a merge drops those of a
  // set once it has all of them, so that shards and one run give the same bytes.
  std::vector<ShardId> shards = {};
  Equalization equalization = {};  // of the graph that was measured
  // It was scaled by this, too: whether a program is, is decided where it is deployed.
  Equalization trial = {};
};
std::vector<uint8_t> WriteStatistics(const StatisticsFile& file);
StatisticsFile ReadStatistics(std::span<const uint8_t> bytes, const std::string& where);
// Throws kInvalidInput when they are of different models, pass lists or preprocessing, or share
// samples.
void Merge(StatisticsFile& into, const StatisticsFile& other);
// "1/4, 3/4" of every set that is not complete; "" when nothing is missing.
std::string MissingShards(const StatisticsFile& file);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_STATISTICS_H_
