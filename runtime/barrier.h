// Where the threads of a region meet between two commands: an own barrier, because libgomp's waits
// longer for the few microseconds a command takes, and spins for milliseconds when there are fewer
// CPUs than threads.
#ifndef RSHIFT_RUNTIME_BARRIER_H_
#define RSHIFT_RUNTIME_BARRIER_H_

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rshift {

// Reusable, for one team at a time. What a thread wrote before Wait() is seen by all after it.
class Barrier {
 public:
  // Returns when `count` threads, each with the same count, have called it. Spins for about 20 us,
  // then sleeps.
  void Wait(int count) noexcept {
    const uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == count - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int spins = 0; spins < kSpins; ++spins) {
      if (round_.load(std::memory_order_acquire) != round) return;
      Relax();
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  static constexpr int kSpins = 1000;
  static void Relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  // On lines of their own: waiting threads read one while the late ones count on the other.
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_BARRIER_H_
