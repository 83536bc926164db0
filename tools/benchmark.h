// model_runner --benchmark: whole-program and per-command times.
#ifndef RSHIFT_TOOLS_BENCHMARK_H_
#define RSHIFT_TOOLS_BENCHMARK_H_

#include <nlohmann/json.hpp>

#include "runtime/runtime.h"

namespace rshift {

struct BenchmarkOptions {
  int iterations = 50, warmup = 5;
  bool per_command = false, json = false;
};

// min/median/p99 ms and GOPS (2 x MAC / s); with per_command a row per command: median ms, GOPS,
// bytes moved. Prints them unless options.json; returns them.
nlohmann::json RunBenchmark(const Program& program, Session& session,
                            const BenchmarkOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_BENCHMARK_H_
