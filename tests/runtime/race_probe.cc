// What the thread sanitizer can see here: two threads of a region copy the same bytes, with our
// barrier between ("barrier": nothing to report) or without ("none": a race). Accesses go through
// memcpy, as much of the runtime's do; sanitizer options that leave interceptors out hide them.
#include <omp.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/barrier.h"

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode != "barrier" && mode != "none") {
    std::fputs("error: expected one argument, barrier or none\n", stderr);
    return 1;
  }
  const bool wait = mode == "barrier";
  std::vector<std::byte> shared(1000), own(shared.size());
  rshift::Barrier barrier;
  int threads = 0;
#pragma omp parallel num_threads(2)
  {
    const bool first = omp_get_thread_num() == 0;
    if (first) {
      threads = omp_get_num_threads();
      std::memcpy(shared.data(), own.data(), own.size());
    }
    if (wait) barrier.Wait(omp_get_num_threads());
    if (!first) std::memcpy(own.data(), shared.data(), own.size());
  }
  if (threads != 2) std::fputs("error: the system gave one thread\n", stderr);
  return threads == 2 ? 0 : 1;
}
