#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/observed_program.h"
#include "graph/sha256.h"

namespace rshift {

CalibrationTable DeriveTable(const StatisticsFile& statistics, const MethodOptions& options,
                             const TensorFunctions& readers, int threads) {
  CalibrationTable table;
  table.model_sha256 = statistics.model_sha256;
  table.method = MethodName(options);
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
  table.tensors.resize(statistics.tensors.size());
  ForEachIndex(threads, statistics.tensors.size(), [&]() -> IndexWork {
    return [&](size_t i) {
      const TensorStatistics& tensor = statistics.tensors[i];
      MethodOptions of_tensor = options;
      if (const auto found = readers.find(tensor.name); found != readers.end())
        of_tensor.readers = found->second;
      table.tensors[i] = {tensor.name, DeriveRange(tensor, of_tensor)};
      table.tensors[i].second.infinities = tensor.infinities;
    };
  });
  return table;
}

}  // namespace rshift
