#include "tools/calibrate_summary.h"

#include <cstdio>

#include "base/error.h"
#include "tools/print.h"

namespace rshift {
namespace {

nlohmann::json Summary(const std::string& path, const CalibrationTable& table,
                       const std::vector<ThinRange>& thin) {
  nlohmann::json summary = {{"table", path},
                            {"method", table.method},
                            {"samples", table.samples},
                            {"tensors", table.tensors.size()},
                            {"model_sha256", table.model_sha256}};
  summary["thin_ranges"] = nlohmann::json::array();
  for (const ThinRange& range : thin) summary["thin_ranges"].push_back(range.tensor);
  summary["infinities"] = nlohmann::json::object();
  for (const auto& [name, range] : table.tensors) {
    if (range.infinities > 0) summary["infinities"][name] = range.infinities;
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

void PrintThinRanges(const std::vector<ThinRange>& thin) {
  if (thin.empty()) return;
  std::printf(
      "%s: the range hangs on 1 %% of the samples or on one; more samples, or --method "
      "percentile\n",
      Count(thin.size(), "tensor").c_str());
  for (size_t i = 0; i < thin.size() && i < kMaxListed; ++i) {
    const ThinRange& range = thin[i];
    std::printf("  '%s': threshold %.4g for %llu of %s; the others stay below %.4g\n",
                range.tensor.c_str(), range.threshold,
                static_cast<unsigned long long>(range.samples),
                Count(static_cast<size_t>(range.of), "sample").c_str(), range.others);
  }
  if (thin.size() > kMaxListed) std::printf("  ... and %zu more\n", thin.size() - kMaxListed);
}

}  // namespace

void PrintCalibration(const std::string& path, const CalibrationTable& table,
                      const std::vector<ThinRange>& thin, bool json) {
  if (json) return PrintJson(Summary(path, table, thin));
  std::printf("%s: %s, %s, method %s\n", path.c_str(),
              Count(table.tensors.size(), "tensor").c_str(),
              Count(static_cast<size_t>(table.samples), "sample").c_str(), table.method.c_str());
  PrintInfinities(table);
  PrintThinRanges(thin);
}

}  // namespace rshift
