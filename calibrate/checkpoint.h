// Partial statistics of an interrupted run. Not for use outside calibrate/ and its tests.
#ifndef RSHIFT_CALIBRATE_CHECKPOINT_H_
#define RSHIFT_CALIBRATE_CHECKPOINT_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/statistics.h"

namespace rshift {

// Loads `path` into `total`, which is empty but names model, preprocessing and tensors. False when
// there is no such file. Throws kInvalidInput when it is of another model, preprocessing or choice
// of samples.
bool LoadCheckpoint(const std::string& path, const Dataset& dataset,
                    const std::vector<int64_t>& samples, StatisticsFile& total);
void SaveCheckpoint(const std::string& path, const StatisticsFile& total);

// Samples that a checkpoint already counts.
class DoneSamples {
 public:
  explicit DoneSamples(const std::vector<std::pair<std::string, std::string>>& samples);
  // True: counted already, do not count it again (each entry answers once). Throws kInvalidInput
  // when the checkpoint has a sample of this name with other content. Not thread-safe.
  bool Take(const std::string& sha256, const std::string& name);

 private:
  std::multiset<std::pair<std::string, std::string>> left_;  // (hash, name)
  std::set<std::string> names_;
  std::set<std::pair<std::string, std::string>> known_;
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_CHECKPOINT_H_
