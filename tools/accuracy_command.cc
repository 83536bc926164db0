// model_tool accuracy: the counts of the shards of one data set, added up.
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "interop/json_file.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

struct ShardCounts {
  std::string set;
  uint64_t index = 0, count = 0, images = 0;
  std::map<uint64_t, uint64_t> hits;  // by k of top-k
};

uint64_t Number(const nlohmann::ordered_json& object, const char* key, const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  RSHIFT_REQUIRE(object.is_object() && found != object.end() && found->is_number_unsigned(),
                 ErrorCode::kInvalidInput, where, ": no number '", key,
                 "'; expected what model_runner --labels --shard --json prints");
  return found->get<uint64_t>();
}

const nlohmann::ordered_json& Object(const nlohmann::ordered_json& all, const char* key,
                                     const std::string& where) {
  const auto found = all.is_object() ? all.find(key) : all.end();
  RSHIFT_REQUIRE(all.is_object() && found != all.end() && found->is_object() && !found->empty(),
                 ErrorCode::kInvalidInput, where, ": no '", key,
                 "'; expected what model_runner --labels --shard --json prints");
  return *found;
}

ShardCounts ReadShard(const std::string& path) {
  const nlohmann::ordered_json all = ParseJson(ReadSmallText(path), path);
  const nlohmann::ordered_json& shard = Object(all, "shard", path);
  ShardCounts read;
  read.index = Number(shard, "index", path);
  read.count = Number(shard, "count", path);
  read.images = Number(all, "images", path);
  const auto set = shard.find("set");
  RSHIFT_REQUIRE(set != shard.end() && set->is_string() && read.index < read.count,
                 ErrorCode::kInvalidInput, path, ": shard ", read.index, " of ", read.count,
                 " without a set; expected what model_runner --labels --shard --json prints");
  read.set = set->get<std::string>();
  const nlohmann::ordered_json& hits = Object(all, "hits", path);
  for (const auto& [k, count] : hits.items()) {
    const uint64_t found = Number(hits, k.c_str(), path);
    RSHIFT_REQUIRE(k.size() < 10 && k.find_first_not_of("0123456789") == std::string::npos &&
                       found <= read.images,
                   ErrorCode::kInvalidInput, path, ": ", found, " hits of top-", k, " in ",
                   read.images, " images");
    read.hits[std::stoull(k)] = found;
  }
  return read;
}

std::string MissingOf(const std::set<uint64_t>& seen, uint64_t count) {
  constexpr size_t kMaxNamed = 10;
  std::string missing;
  size_t named = 0;
  for (uint64_t index = 0; index < count && named < kMaxNamed; ++index) {
    if (seen.contains(index)) continue;
    missing += Cat(missing.empty() ? "" : ", ", index, "/", count);
    ++named;
  }
  const uint64_t more = count - seen.size() - named;
  return more == 0 ? missing : Cat(missing, " and ", more, " more");
}

}  // namespace

int AccuracyCommand(const std::vector<std::string>& files, bool json) {
  ShardCounts sum;
  std::set<uint64_t> seen;
  for (const std::string& file : files) {
    const ShardCounts one = ReadShard(file);
    if (seen.empty()) {
      sum = one;
      seen.insert(one.index);
      continue;
    }
    RSHIFT_REQUIRE(one.set == sum.set && one.count == sum.count, ErrorCode::kInvalidInput, file,
                   ": a share of other samples, labels or another program than ", files[0]);
    RSHIFT_REQUIRE(seen.insert(one.index).second, ErrorCode::kInvalidInput, file, ": shard ",
                   one.index, "/", one.count, " is there already; leave one of both out");
    sum.images += one.images;
    for (const auto& [k, hits] : one.hits) sum.hits[k] += hits;
    RSHIFT_REQUIRE(one.hits.size() == sum.hits.size(), ErrorCode::kInvalidInput, file,
                   ": counts another --top than ", files[0]);
  }
  RSHIFT_REQUIRE(seen.size() == sum.count, ErrorCode::kInvalidInput, "shard ",
                 MissingOf(seen, sum.count), " of the same samples is missing");
  nlohmann::json result = {{"images", sum.images}, {"shards", sum.count}};
  std::string text = Count(sum.images, "sample");
  for (const auto& [k, hits] : sum.hits) {
    const double percent =
        sum.images == 0 ? 0 : 100.0 * static_cast<double>(hits) / static_cast<double>(sum.images);
    result["hits"][std::to_string(k)] = hits;
    result["top" + std::to_string(k)] = percent;
    char figure[64];
    std::snprintf(figure, sizeof figure, ", top-%llu %.2f %%", static_cast<unsigned long long>(k),
                  percent);
    text += figure;
  }
  if (json)
    PrintJson(result);
  else
    PrintText(text + "\n");
  return 0;
}

}  // namespace rshift
