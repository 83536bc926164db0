// model_tool compare and stats.
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "calibrate/statistics.h"
#include "tools/compare.h"
#include "tools/tensor_view.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

std::vector<float> Floats(const NumpyArray& array) {
  const TensorRecord record{
      array.name, array.dtype, Layout::kPlain, Region::kArena, false, 0, 0, array.shape, 0};
  return OnnxFloats(record, std::as_bytes(std::span(array.bytes)));
}

}  // namespace

int CompareCommand(const std::string& a, const std::string& b, const std::string& tolerance_text,
                   bool json) {
  const Tolerance tolerance = ParseTolerance(tolerance_text);
  std::map<std::string, NumpyArray> reference;
  for (NumpyArray& array : ReadNpz(b)) reference[array.name] = std::move(array);
  size_t failed = 0, compared = 0;
  nlohmann::json rows = nlohmann::json::array();
  for (const NumpyArray& array : ReadNpz(a)) {
    const auto match = reference.find(array.name);
    RSHIFT_REQUIRE(match != reference.end(), ErrorCode::kInvalidInput, b, ": has no array '",
                   array.name, "' of ", a);
    RSHIFT_REQUIRE(match->second.shape == array.shape, ErrorCode::kInvalidInput, "array '",
                   array.name, "' is ", ToString(array.shape), " in ", a, " and ",
                   ToString(match->second.shape), " in ", b);
    const Similarity s = Compare(Floats(array), Floats(match->second));
    const bool ok = tolerance.Accepts(s);
    ++compared;
    failed += !ok;
    if (json) {
      rows.push_back({{"name", array.name}, {"equal", s.equal}, {"nan", s.has_nan}, {"ok", ok}});
      if (!s.has_nan) {
        rows.back().update({{"cosine", s.cosine},
                            {"euclid", s.euclid},
                            {"sqnr_db", s.sqnr_db},
                            {"max_abs", s.max_abs}});
      }
    } else {
      std::printf("%-6s %-40s cosine %.6f euclid %.6f SQNR %.2f dB max |a-b| %.6g\n",
                  ok ? "ok" : "FAILED", array.name.c_str(), s.cosine, s.euclid, s.sqnr_db,
                  s.max_abs);
    }
    reference.erase(match);
  }
  RSHIFT_REQUIRE(compared > 0, ErrorCode::kInvalidInput, a, ": holds no arrays");
  RSHIFT_REQUIRE(reference.empty(), ErrorCode::kInvalidInput, a, ": has no array '",
                 reference.empty() ? "" : reference.begin()->first, "' of ", b);
  if (json)
    std::printf("%s\n", nlohmann::json{{"compared", compared}, {"failed", failed}, {"arrays", rows}}
                            .dump()
                            .c_str());
  if (failed == 0) return 0;
  std::fprintf(stderr, "error: %zu of %zu arrays are below %s (cosine,euclid)\n", failed, compared,
               tolerance_text.c_str());
  return 1;
}

int StatsCommand(const std::string& path) {
  const StatisticsFile file = ReadStatistics(ReadFile(path), path);
  std::printf("model_sha256 %s\nsamples %zu\n", file.model_sha256.c_str(), file.samples.size());
  for (const TensorStatistics& t : file.tensors) {
    std::printf("%-40s count %llu zeros %llu min %.9g max %.9g octaves %zu\n", t.name.c_str(),
                static_cast<unsigned long long>(t.count),
                static_cast<unsigned long long>(t.histogram.zeros), static_cast<double>(t.min),
                static_cast<double>(t.max), t.histogram.pages.size());
  }
  return 0;
}

}  // namespace rshift
