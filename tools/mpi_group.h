// The ranks that mpirun has started, as far as model_calibrate needs them.
#ifndef RSHIFT_TOOLS_MPI_GROUP_H_
#define RSHIFT_TOOLS_MPI_GROUP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tools/shard_environment.h"

namespace rshift {

class MpiGroup {
 public:
  virtual ~MpiGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // What one sends to another is received in that order. Throw kIo.
  virtual void Send(int to, std::span<const uint8_t> bytes) = 0;
  virtual std::vector<uint8_t> Receive(int from) = 0;
};

// How many ranks mpirun says there are; 1 outside of it.
int MpiRanks(const Environment& environment);

// Loads rshift_mpi.so from the program's folder, or ../lib/rshift beside it. Throws kUnsupported
// where it is missing: what to do without. The last owner leaves the group; a process joins once.
std::unique_ptr<MpiGroup> JoinMpiGroup();

}  // namespace rshift

#endif  // RSHIFT_TOOLS_MPI_GROUP_H_
