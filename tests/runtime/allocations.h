// Counts what C++ code takes from the heap. A program that uses this gets an operator new and an
// aligned_alloc of its own; not for sanitizers, which bring theirs.
#ifndef RSHIFT_TESTS_RUNTIME_ALLOCATIONS_H_
#define RSHIFT_TESTS_RUNTIME_ALLOCATIONS_H_

#include <cstdint>

namespace rshift::testing {

// Calls of operator new and aligned_alloc on any thread since the program began; 0 under
// sanitizers. OpenMP may make some of them when a team starts for the first time.
int64_t Allocations();

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_ALLOCATIONS_H_
