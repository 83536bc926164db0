// How long import, passes, quantization, lowering, memory planning and verification take on chains
// of 1,000 to 10,000 nodes, with the fitted order of growth:
//   bench_growth --benchmark_filter=residual
#include <benchmark/benchmark.h>

#include "tests/bench/chains.h"
#include "tests/bench/growth_steps.h"

namespace rshift {
namespace {

using testing::ChainKind;

void Deploy(benchmark::State& state, ChainKind kind, size_t (*deploy)(const std::string&)) {
  const std::string model = testing::ChainModel(kind, static_cast<int>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(deploy(model));
  state.SetComplexityN(state.range(0));
}

void Register() {
  for (int k = 0; k <= static_cast<int>(ChainKind::kAffine); ++k) {
    const auto kind = static_cast<ChainKind>(k);
    const auto add = [&](const char* mode, size_t (*deploy)(const std::string&)) {
      const std::string name = std::string(testing::kChainNames[k]) + "/" + mode;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) { Deploy(state, kind, deploy); })
          ->Arg(1000)
          ->Arg(2000)
          ->Arg(4000)
          ->Arg(10000)
          ->Unit(benchmark::kMillisecond)
          ->Complexity();
    };
    add("f32", testing::DeployF32);
    add("integer", testing::DeployIntegers);
  }
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  rshift::Register();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
