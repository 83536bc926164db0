#include "runtime/threads.h"

#include <omp.h>

#include <algorithm>

namespace rshift {

int DefaultThreads() { return std::clamp(omp_get_max_threads(), 1, kMaxThreads); }

}  // namespace rshift
