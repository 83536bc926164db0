// The only file that knows MPI: bytes between ranks, behind names of C. Built as a module of its
// own where CMake finds MPI, and loaded by model_calibrate when it is a rank (tools/mpi_group.cc),
// so that the program itself needs no MPI.
#include "tools/mpi_module.h"

#include <mpi.h>

#include <algorithm>

namespace {

// One message holds an int's worth of bytes.
constexpr uint64_t kChunk = uint64_t{1} << 30;

template <typename Transfer>
int InChunks(uint64_t size, const Transfer& transfer) {
  for (uint64_t done = 0; done < size; done += kChunk) {
    const int status = transfer(done, static_cast<int>(std::min(kChunk, size - done)));
    if (status != MPI_SUCCESS) return status;
  }
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int RshiftMpiStart(int* rank, int* size) {
  int provided = 0;
  int status = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (status == MPI_SUCCESS) status = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (status == MPI_SUCCESS) status = MPI_Comm_size(MPI_COMM_WORLD, size);
  return status;
}

int RshiftMpiSend(int to, const void* bytes, uint64_t size) {
  int status = MPI_Send(&size, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
  if (status != MPI_SUCCESS) return status;
  return InChunks(size, [&](uint64_t at, int count) {
    return MPI_Send(static_cast<const char*>(bytes) + at, count, MPI_BYTE, to, 1, MPI_COMM_WORLD);
  });
}

int RshiftMpiReceiveSize(int from, uint64_t* size) {
  return MPI_Recv(size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int RshiftMpiReceive(int from, void* bytes, uint64_t size) {
  return InChunks(size, [&](uint64_t at, int count) {
    return MPI_Recv(static_cast<char*>(bytes) + at, count, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE);
  });
}

void RshiftMpiFinish() { MPI_Finalize(); }

}  // extern "C"
