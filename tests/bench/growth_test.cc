// Deploying takes time in proportion to the number of nodes: four times the nodes take less than
// nine times the CPU time (quadratic steps take sixteen).
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "tests/bench/chains.h"
#include "tests/bench/growth_steps.h"

namespace rshift {
namespace {

using testing::ChainKind;

double CpuSeconds(ChainKind kind, int nodes, size_t (*deploy)(const std::string&)) {
  const std::string model = testing::ChainModel(kind, nodes);
  double best = 1e9;
  for (int run = 0; run < 2; ++run) {
    const std::clock_t start = std::clock();
    EXPECT_GT(deploy(model), 0u);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

class Growth : public ::testing::TestWithParam<int> {};

TEST_P(Growth, IsLinearInTheNumberOfNodes) {
  const auto kind = static_cast<ChainKind>(GetParam());
  for (auto deploy : {testing::DeployF32, testing::DeployIntegers}) {
    const double small = CpuSeconds(kind, 2500, deploy), large = CpuSeconds(kind, 10000, deploy);
    EXPECT_LT(large, 9 * small + 0.05) << testing::kChainNames[GetParam()] << ": " << small
                                       << " s for 2,500 nodes, " << large << " s for 10,000";
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, Growth, ::testing::Range(0, 5));

}  // namespace
}  // namespace rshift
