// How many threads may be asked for, and how many it is where nobody asks.
#ifndef RSHIFT_RUNTIME_THREADS_H_
#define RSHIFT_RUNTIME_THREADS_H_

namespace rshift {

constexpr int kMaxThreads = 1024;

// As many as other programs of OpenMP use: OMP_NUM_THREADS, or omp_set_num_threads of the program
// around us, else the CPUs that the process may run on. 1..kMaxThreads.
int DefaultThreads();

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_THREADS_H_
