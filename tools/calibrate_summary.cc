#include "tools/calibrate_summary.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "calibrate/memory_use.h"
#include "tools/print.h"

namespace rshift {
namespace {

nlohmann::json Summary(const std::vector<WrittenTable>& tables, const CalibrateResult& result) {
  const CalibrationTable& table = result.table;
  nlohmann::json summary = {{"samples", table.samples},
                            {"tensors", table.tensors.size()},
                            {"model_sha256", table.model_sha256}};
  if (tables.size() == 1) {
    summary["table"] = tables[0].path;
    summary["method"] = table.method;
  } else {
    summary["tables"] = nlohmann::json::array();
    for (const WrittenTable& one : tables)
      summary["tables"].push_back({{"table", one.path}, {"method", one.table->method}});
  }
  summary["thin_ranges"] = nlohmann::json::array();
  for (const ThinRange& range : result.thin_ranges) summary["thin_ranges"].push_back(range.tensor);
  summary["equalized"] = nlohmann::json::array();
  for (const ChannelExponents& entry : table.equalization)
    summary["equalized"].push_back(entry.tensor);
  summary["trial"] = nlohmann::json::array();
  for (const ChannelExponents& entry : table.trial) summary["trial"].push_back(entry.tensor);
  summary["infinities"] = nlohmann::json::object();
  for (const auto& [name, range] : table.tensors) {
    if (range.infinities > 0) summary["infinities"][name] = range.infinities;
  }
  summary["skipped"] = nlohmann::json::array();
  for (const BadSample& bad : result.bad)
    summary["skipped"].push_back({{"sample", bad.name}, {"error", bad.error}});
  if (result.times.elements > 0) {
    summary["time"] = {{"network_seconds", result.times.network},
                       {"statistics_seconds", result.times.statistics},
                       {"elements", result.times.elements}};
    summary["memory"] = {{"expected_bytes", result.expected_memory},
                         {"peak_bytes", PeakResidentBytes()}};
  }
  return summary;
}

constexpr size_t kMaxListed = 5;

void PrintInfinities(const CalibrationTable& table) {
  std::vector<std::string> masked;
  for (const auto& [name, range] : table.tensors) {
    if (range.infinities > 0) masked.push_back(Cat("'", name, "' (", range.infinities, ")"));
  }
  if (masked.empty()) return;
  std::string text;
  for (size_t i = 0; i < masked.size() && i < kMaxListed; ++i)
    text += (i == 0 ? "" : ", ") + masked[i];
  if (masked.size() > kMaxListed) text += ", ...";
  std::printf("values of masks (-inf, or as good as it before a Softmax) left out, in %s: %s\n",
              Count(masked.size(), "tensor").c_str(), text.c_str());
}

void PrintTrial(const CalibrateResult& result) {
  if (result.table.trial.empty()) return;
  std::printf("channels of %s might be scaled, too: model_deploy tries whether the outputs gain\n",
              Count(result.table.trial.size(), "tensor").c_str());
}

void PrintEqualized(const CalibrateResult& result) {
  if (result.table.equalization.empty()) return;
  std::printf("equalized: channels of %s, whose ranges lie far apart, scaled by powers of two%s\n",
              Count(result.table.equalization.size(), "tensor").c_str(),
              result.equalized.empty() ? "" : "; estimated signal to noise of what reads them:");
  for (size_t i = 0; i < std::min(result.equalized.size(), kMaxListed); ++i) {
    const EqualizedTensors& gain = result.equalized[i];
    const std::string others =
        gain.tensors.size() == 1 ? "" : Cat(" and ", Count(gain.tensors.size() - 1, "other"));
    std::printf("  '%s'%s: %.1f dB -> %.1f dB\n", gain.tensors[0].c_str(), others.c_str(),
                gain.before_db, gain.after_db);
  }
  if (result.equalized.size() > kMaxListed)
    std::printf("  ... and %zu more\n", result.equalized.size() - kMaxListed);
}

void PrintThinRanges(const std::vector<ThinRange>& thin, const std::string& method) {
  if (thin.empty()) return;
  std::printf(
      "%s: the range %shangs on 1 %% of the samples or on one; more samples, or --method "
      "percentile\n",
      Count(thin.size(), "tensor").c_str(), method.c_str());
  for (size_t i = 0; i < thin.size() && i < kMaxListed; ++i) {
    const ThinRange& range = thin[i];
    std::printf("  '%s': threshold %.4g for %llu of %s; the others stay below %.4g\n",
                range.tensor.c_str(), range.threshold,
                static_cast<unsigned long long>(range.samples),
                Count(static_cast<size_t>(range.of), "sample").c_str(), range.others);
  }
  if (thin.size() > kMaxListed) std::printf("  ... and %zu more\n", thin.size() - kMaxListed);
}

// All of them, whatever their number: they are files to mend.
void PrintSkipped(const std::vector<BadSample>& bad) {
  if (bad.empty()) return;
  std::printf("%s left out, as if the files were not there:\n",
              Count(bad.size(), "sample").c_str());
  for (const BadSample& one : bad) std::printf("  %s\n", one.error.c_str());
}

}  // namespace

void PrintCalibration(const std::vector<WrittenTable>& tables, const CalibrateResult& result,
                      bool json) {
  if (json) return PrintJson(Summary(tables, result));
  for (const auto& [path, table] : tables) {
    std::printf(
        "%s: %s, %s, method %s\n", path.c_str(), Count(table->tensors.size(), "tensor").c_str(),
        Count(static_cast<size_t>(table->samples), "sample").c_str(), table->method.c_str());
  }
  PrintEqualized(result);
  PrintTrial(result);
  PrintInfinities(result.table);
  PrintThinRanges(result.thin_ranges,
                  tables.size() == 1 ? "" : Cat("of ", result.table.method, " "));
  PrintSkipped(result.bad);
}

}  // namespace rshift
