#include "calibrate/checkpoint.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/statistics_stream.h"

namespace rshift {

bool LoadCheckpoint(const std::string& path, const Dataset& dataset,
                    const std::vector<int64_t>& samples, StatisticsFile& total) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return false;
  const StatisticsFile saved = ReadStatistics(ReadFile(path), path);
  std::multiset<std::string> names;
  for (const int64_t index : samples) names.insert(dataset.name(index));
  for (const auto& [hash, name] : saved.samples) {
    const auto at = names.find(name);
    RSHIFT_REQUIRE(at != names.end(), ErrorCode::kInvalidInput, path, ": counts sample '", name,
                   "', which this run does not use; give the same data set, --samples, --seed and "
                   "--shard, or delete the file");
    names.erase(at);
  }
  try {
    Merge(total, saved);
  } catch (const Error& error) {
    Fail(ErrorCode::kInvalidInput, path, ": does not belong to this run (", error.what(),
         "); delete the file");
  }
  return true;
}

void SaveCheckpoint(const std::string& path, const StatisticsFile& total) {
  if (!path.empty()) SaveStatistics(path, total);
}

DoneSamples::DoneSamples(const std::vector<std::pair<std::string, std::string>>& samples)
    : left_(samples.begin(), samples.end()), known_(samples.begin(), samples.end()) {
  for (const auto& sample : samples) names_.insert(sample.second);
}

bool DoneSamples::Take(const std::string& sha256, const std::string& name) {
  const std::pair<std::string, std::string> key{sha256, name};
  const auto at = left_.find(key);
  if (at != left_.end()) {
    left_.erase(at);
    return true;
  }
  // Two samples may share a name (folders of equal file names); then content alone tells them
  // apart.
  RSHIFT_REQUIRE(
      known_.contains(key) || !names_.contains(name), ErrorCode::kInvalidInput, "sample '", name,
      "' has changed since the interrupted run; delete the checkpoint and measure again");
  return false;
}

}  // namespace rshift
