// model_runner --benchmark: whole-program and per-command times.
#ifndef RSHIFT_TOOLS_BENCHMARK_H_
#define RSHIFT_TOOLS_BENCHMARK_H_

#include <nlohmann/json.hpp>

#include "runtime/runtime.h"

namespace rshift {

struct BenchmarkOptions {
  int iterations = 50, warmup = 5;
  bool per_command = false, json = false;
  Isa isa = BestIsa();    // of the session
  double load_ms = 0;     // Program::Load: map, checksums, verification
  double session_ms = 0;  // the Session's constructor
};

// Times of whole inferences (min, median, p99 in ms; GOPS = 2 x integer and float multiply-
// accumulates / s), load time, the process's peak memory and what the session has of it. With per_command also the median of
// each command with its share of their sum, GOPS, share of the machine's integer peak (PeakGops,
// measured before and after at the same thread count; F32 commands have none), bytes moved (each
// tensor once) and GB/s, beside what runtime/cost.h predicts for one thread. Prints them unless
// options.json; returns them.
nlohmann::json RunBenchmark(const Program& program, Session& session,
                            const BenchmarkOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_BENCHMARK_H_
