#include <utility>

#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/observed_program.h"
#include "graph/sha256.h"

namespace rshift {

namespace {

// Without ranges.
CalibrationTable EmptyTable(const StatisticsFile& statistics) {
  CalibrationTable table;
  table.model_sha256 = statistics.model_sha256;
  table.samples = static_cast<int64_t>(statistics.samples.size());
  std::string hashes;
  for (const auto& [hash, name] : statistics.samples) {
    hashes += hash + "\n";
    table.sample_names.push_back(name);
  }
  table.samples_sha256 =
      Sha256Hex({reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size()});
  table.check_samples = statistics.recorded;
  table.preprocess = statistics.preprocess;
  table.pass_list_version = statistics.pass_list_version;
  table.environment = statistics.environment;
  table.equalization = statistics.equalization;
  table.trial = statistics.trial;
  table.tensors.resize(statistics.tensors.size());
  return table;
}

}  // namespace

std::vector<CalibrationTable> DeriveTables(const StatisticsFile& statistics,
                                           std::span<const MethodOptions> methods,
                                           const TensorFunctions& readers, int threads) {
  std::vector<CalibrationTable> tables(methods.size(), EmptyTable(statistics));
  for (size_t m = 0; m < methods.size(); ++m) tables[m].method = MethodName(methods[m]);
  ForEachIndex(threads, statistics.tensors.size(), [&]() -> IndexWork {
    return [&](size_t i) {
      const TensorStatistics& tensor = statistics.tensors[i];
      std::vector<MethodOptions> of_tensor(methods.begin(), methods.end());
      if (const auto found = readers.find(tensor.name); found != readers.end()) {
        for (MethodOptions& options : of_tensor) options.readers = found->second;
      }
      const std::vector<TensorRange> ranges = DeriveRanges(tensor, of_tensor);
      for (size_t m = 0; m < methods.size(); ++m) {
        tables[m].tensors[i] = {tensor.name, ranges[m]};
        tables[m].tensors[i].second.infinities = tensor.infinities;
      }
    };
  });
  return tables;
}

CalibrationTable DeriveTable(const StatisticsFile& statistics, const MethodOptions& options,
                             const TensorFunctions& readers, int threads) {
  return std::move(DeriveTables(statistics, {&options, 1}, readers, threads)[0]);
}

}  // namespace rshift
