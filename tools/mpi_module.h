// What rshift_mpi.so gives: C names, 0 for success.
#ifndef RSHIFT_TOOLS_MPI_MODULE_H_
#define RSHIFT_TOOLS_MPI_MODULE_H_

#include <cstdint>

extern "C" {
int RshiftMpiStart(int* rank, int* size);  // once in a process
int RshiftMpiSend(int to, const void* bytes, uint64_t size);
// Of what RshiftMpiReceive then takes.
int RshiftMpiReceiveSize(int from, uint64_t* size);
int RshiftMpiReceive(int from, void* bytes, uint64_t size);
void RshiftMpiFinish();
}

#endif  // RSHIFT_TOOLS_MPI_MODULE_H_
