// --shard I/N: one share of the samples that a calibration has chosen.
#ifndef RSHIFT_PIPELINE_SHARD_H_
#define RSHIFT_PIPELINE_SHARD_H_

#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/statistics.h"

namespace rshift {

struct Share {
  std::vector<int64_t> samples;
  std::vector<ShardId> ids;  // what the statistics remember of it; none of a run in one piece
};

// `chosen`: of all shards. Every N-th from I. Throws UsageError for a malformed text ("" is 0/1),
// kInvalidInput when nothing is left.
Share TakeShare(const Dataset& dataset, const std::vector<int64_t>& chosen,
                const std::string& shard);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SHARD_H_
