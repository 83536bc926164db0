// Statistics that several ranks have measured, as if one had.
#ifndef RSHIFT_TOOLS_GATHER_STATISTICS_H_
#define RSHIFT_TOOLS_GATHER_STATISTICS_H_

#include <functional>
#include <optional>

#include "calibrate/statistics.h"
#include "tools/mpi_group.h"

namespace rshift {

// Every rank calls it with its own measuring. Half of the ranks send theirs to the other half,
// until rank 0 has all: nobody holds more than two. Only rank 0 gets something. Where a rank
// failed, rank 0 throws what the lowest of those said, and the others get nothing.
std::optional<StatisticsFile> GatherStatistics(MpiGroup& group,
                                               const std::function<StatisticsFile()>& measure);

// What rank 0 does with them; the others wait for it. The exit code: `work`'s on rank 0, whose
// errors go on; on the others the same, or 1 when that failed.
int FinishInGroup(MpiGroup& group, const std::function<int()>& work);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_GATHER_STATISTICS_H_
