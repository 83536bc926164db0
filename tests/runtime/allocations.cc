#include "tests/runtime/allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

namespace rshift::testing {

int64_t Allocations() { return allocations; }

}  // namespace rshift::testing

#ifndef RSHIFT_SANITIZED
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// In place of the C library's: AlignedBuffer and the aligned operator new end here.
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  void* memory = nullptr;
  return posix_memalign(&memory, std::max(alignment, sizeof memory), size) == 0 ? memory : nullptr;
}
void* operator new(size_t size, std::align_val_t alignment) {
  if (void* memory = aligned_alloc(static_cast<size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
