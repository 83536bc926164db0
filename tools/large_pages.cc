// Large blocks of memory of the tools in large pages. A model's weights are read, parsed, copied to
// a graph and written to a program: in pages of 4 KB, half the time of that goes into page faults.
// Replaces the global operator new; what the default operator delete does, free(), fits it.
// Sanitizers have their own pair of the two: they are built without this file.
#ifdef __linux__

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kLargePage = size_t{2} << 20;

void* Allocate(size_t size) {
  if (size < kLargePage) return std::malloc(size > 0 ? size : 1);
  if (size > SIZE_MAX - kLargePage) return nullptr;
  void* memory = std::aligned_alloc(kLargePage, (size + kLargePage - 1) / kLargePage * kLargePage);
  // Whole pages only, as AlignedBuffer. Where the system has none, nothing is lost.
  if (memory != nullptr) madvise(memory, size / kLargePage * kLargePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

void* operator new(size_t size) {
  for (;;) {
    if (void* memory = Allocate(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

#endif
