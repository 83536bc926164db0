#include "pipeline/shard.h"

#include "base/error.h"
#include "graph/sha256.h"
#include "pipeline/usage.h"

namespace rshift {
namespace {

// The same for every share of one choice, another for any other data set, --samples or --seed.
std::string SetOf(const Dataset& dataset, const std::vector<int64_t>& chosen) {
  std::string names;
  for (const int64_t index : chosen) names += Cat(index, " ", dataset.name(index), "\n");
  return Sha256Hex({reinterpret_cast<const uint8_t*>(names.data()), names.size()});
}

}  // namespace

Share TakeShare(const Dataset& dataset, const std::vector<int64_t>& chosen,
                const std::string& shard) {
  if (shard.empty()) return {chosen, {}};
  long long index = -1, count = 0;
  int used = 0;
  const bool ok = std::sscanf(shard.c_str(), "%lld/%lld%n", &index, &count, &used) == 2 &&
                  used == static_cast<int>(shard.size()) && count > 0 && index >= 0 &&
                  index < count;
  RequireUsage(ok, "--shard ", shard, ": expected I/N with 0 <= I < N");
  Share share;
  for (size_t i = static_cast<size_t>(index); i < chosen.size(); i += static_cast<size_t>(count)) {
    share.samples.push_back(chosen[i]);
  }
  RSHIFT_REQUIRE(static_cast<size_t>(count) <= chosen.size(), ErrorCode::kInvalidInput, "--shard ",
                 shard, ": ", chosen.size(), " samples are chosen, fewer than shards");
  if (count > 1) {
    share.ids.push_back(
        {SetOf(dataset, chosen), static_cast<uint32_t>(count), static_cast<uint32_t>(index)});
  }
  return share;
}

}  // namespace rshift
