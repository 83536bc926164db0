#include "tools/peak.h"

#include <algorithm>
#include <chrono>

#include "runtime/kernels/dispatch.h"

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// Multiply-accumulates per second of all threads together, from the first's start to the last's
// end.
double MacsPerSecond(PeakFn peak, int64_t rounds, int threads) {
  int64_t macs = 0;
  const auto start = Clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : macs)
  macs += peak(rounds);
  return static_cast<double>(macs) / Seconds(Clock::now() - start);
}

}  // namespace

double PeakGops(Isa isa, int threads) {
  constexpr double kWindowSeconds = 0.001;  // shorter than a time slice: some are undisturbed
  constexpr int kWindows = 100;
  const PeakFn peak = KernelsFor(isa).peak;
  if (peak == nullptr) return 0;
  int64_t rounds = 1000;
  for (double seconds = 0; seconds < kWindowSeconds / 2; rounds *= 2) {
    const auto start = Clock::now();
    peak(rounds);
    seconds = Seconds(Clock::now() - start);
  }
  double best = 0;
  for (int i = 0; i < kWindows; ++i) best = std::max(best, MacsPerSecond(peak, rounds, threads));
  return 2e-9 * best;
}

}  // namespace rshift
