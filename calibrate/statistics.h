// What calibration remembers of a tensor: exact min/max, count, and a log-linear histogram. The bin
// of a value is the top bits of the float itself (sign, exponent, 10 mantissa bits); pages of one
// octave are allocated when first touched; counts are 64-bit. No range is needed beforehand, an
// outlier costs nothing, and merging is integer addition: exact, associative, commutative. Memory
// does not grow with the number of samples.
#ifndef RSHIFT_CALIBRATE_STATISTICS_H_
#define RSHIFT_CALIBRATE_STATISTICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "calibrate/ranges/recorded_sample.h"

namespace rshift {

struct Histogram {
  static constexpr int kMantissaBits = 10;
  static constexpr int kPageBins = 1 << kMantissaBits;
  // Page = sign and exponent of the float (its top 9 bits); bin = the next 10 bits. Zeros (both
  // signs) are counted apart.
  std::map<uint32_t, std::array<uint64_t, kPageBins>> pages;
  uint64_t zeros = 0;
};

struct TensorStatistics {
  std::string name;
  float min = 0, max = 0;  // meaningless while count == 0
  uint64_t count = 0;
  Histogram histogram;
};

// A run of equal-signed bins as an interval of real values; what the threshold methods work on.
// Ascending, disjoint.
struct WeightedBin {
  double low = 0, high = 0;  // [low, high); a zero bin has low == high == 0
  uint64_t count = 0;
};

// Throws kInvalidInput naming tensor and `sample` at the first NaN or Inf.
void Add(TensorStatistics& statistics, std::span<const float> values, const std::string& sample);
void Merge(TensorStatistics& into, const TensorStatistics& other);
std::vector<WeightedBin> Bins(const TensorStatistics& statistics);

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
};
std::vector<uint8_t> WriteStatistics(const StatisticsFile& file);
StatisticsFile ReadStatistics(std::span<const uint8_t> bytes, const std::string& where);
// Throws kInvalidInput when they are of different models, pass lists or preprocessing, or share
// samples.
void Merge(StatisticsFile& into, const StatisticsFile& other);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_STATISTICS_H_
