// model_runner --benchmark: whole-program and per-command times.
#ifndef RSHIFT_TOOLS_BENCHMARK_H_
#define RSHIFT_TOOLS_BENCHMARK_H_

#include <nlohmann/json.hpp>
#include <span>

#include "runtime/runtime.h"

namespace rshift {

struct BenchmarkOptions {
  int iterations = 50, warmup = 5;
  bool per_command = false, json = false;
  Isa isa = BestIsa();    // of the session
  double load_ms = 0;     // Program::Load: map, checksums, verification
  double session_ms = 0;  // the constructors of all sessions
};

// Times of whole inferences (min, median, p99 in ms), of all sessions at once, each on its own host
// thread: `iterations` per session. Inferences per second is all of them over the time from the
// first start to the last end; GOPS = 2 x integer and float multiply-accumulates x that. Load time,
// the process's peak memory and what the sessions have of it.
// With per_command (one session) also the median of each command with its share of their sum, GOPS,
// share of the machine's integer peak (PeakGops, measured before and after at the same thread
// count; F32 commands have none), bytes moved (each tensor once) and GB/s, beside what
// runtime/cost.h predicts. Prints them unless options.json; returns them.
nlohmann::json RunBenchmark(const Program& program, std::span<Session> sessions,
                            const BenchmarkOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_BENCHMARK_H_
