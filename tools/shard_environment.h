// --shard auto: which share of the samples a job of an array, or a rank, takes.
#ifndef RSHIFT_TOOLS_SHARD_ENVIRONMENT_H_
#define RSHIFT_TOOLS_SHARD_ENVIRONMENT_H_

#include <functional>
#include <string>

namespace rshift {

// A variable of the environment; nullptr: it is not set.
using Environment = std::function<const char*(const char* name)>;

// "I/N" for "auto" and "auto/N", from what Slurm arrays, Kubernetes' indexed jobs, Open MPI, PMI
// and srun say of themselves; any other text comes back as it is. Kubernetes and GNU parallel say
// no N: that is to be given. The same job gets the same share however often it is tried. Throws
// UsageError when nothing is found, when several schedulers disagree, and for an array with gaps.
std::string ResolveShard(const std::string& shard, const Environment& environment);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_SHARD_ENVIRONMENT_H_
