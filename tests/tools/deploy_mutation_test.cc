// What model_deploy writes, the loader takes: altered models go through import, passes,
// quantization with made-up ranges and the compiler; each step may refuse with one clear error, but
// a program that comes out at the end is verified, loaded and gets a session.
#include <gtest/gtest.h>

#include <cstdlib>
#include <span>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "quantize/proof.h"
#include "quantize/quantize.h"
#include "quantize/ranges/ranges.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tests/tools/model_mutator.h"

namespace rshift {
namespace {

constexpr int64_t kLargestTensor = 1 << 22;  // elements: larger mutants are not worth the time

// Ranges as calibration might have found them, and some that it should not have.
CalibrationTable MadeUpTable(const Graph& graph, std::mt19937& random) {
  constexpr float kLargest[] = {1.0f, 6.0f, 0.01f, 100.0f, 0.0f, 1e-30f, 1e30f, 3e-3f};
  CalibrationTable table;
  for (ValueId id : CalibratedValues(graph)) {
    const float size = kLargest[random() % 4 == 0 ? random() % 8 : random() % 3];
    TensorRange range;
    range.max = size;
    range.min = random() % 2 == 0 ? 0.0f : -size;
    range.threshold = size;
    range.low = range.min;
    range.high = range.max;
    range.method = "made up";
    table.tensors.emplace_back(graph.value(id).name, range);
  }
  return table;
}

bool IsSmall(const Graph& graph) {
  for (int i = 0; i < graph.value_count(); ++i) {
    if (NumElements(graph.value(ValueId(i)).shape) > kLargestTensor) return false;
  }
  return true;
}

// Refusals must be clear: a bug in Rshift is none.
void CheckRefusal(const Error& error) {
  EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
  EXPECT_NE(error.code(), ErrorCode::kCorrupt) << error.what();
}

// Whether the graph became a program; a program must load.
bool Deploys(const Graph& graph) {
  std::vector<uint8_t> bytes;
  try {
    bytes = WriteContainer(Compile(graph));
  } catch (const Error& error) {
    CheckRefusal(error);
    return false;
  }
  try {
    const Program program = Program::FromBytes(bytes);
    const Session session(program, {.threads = 1});
  } catch (const Error& error) {
    ADD_FAILURE() << "written, but refused when loaded: " << error.what();
  }
  return true;
}

int DeployAllWays(const std::string& bytes, std::mt19937& random) {
  Graph graph;
  try {
    graph =
        ImportOnnxBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "mutant");
    if (!IsSmall(graph)) return 0;
    graph = RunPasses(std::move(graph));
  } catch (const Error& error) {
    CheckRefusal(error);
    return 0;
  }
  int deployed = Deploys(graph);
  const CalibrationTable table = MadeUpTable(graph, random);
  QuantizeOptions options;
  options.mode = random() % 2 == 0 ? QuantMode::kSymmetric : QuantMode::kAsymmetric;
  if (random() % 3 == 0) options.profile.id = static_cast<ProfileId>(random() % kProfileCount);
  SCOPED_TRACE(Name(options.profile.id));
  try {
    graph = QuantizeGraph(graph, table, options).graph;
    if (random() % 4 == 0) options.target.conv.reset();
    graph = RunTargetPasses(graph, options.target);
    ProveIntegers(graph);
  } catch (const Error& error) {
    CheckRefusal(error);
    return deployed;
  }
  return deployed + Deploys(graph);
}

void RunMutants(const testing::NamedModel& original, uint32_t seeds) {
  RegisterFloatLibrary();
  int deployed = 0;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    onnx::ModelProto mutant = original.model;
    const std::string what = testing::MutateModel(mutant, random);
    SCOPED_TRACE(Cat(original.name, ", seed ", seed, ": ", what));
    deployed += DeployAllWays(mutant.SerializeAsString(), random);
  }
  // Both fates must occur, or the test shows nothing.
  EXPECT_GT(deployed, static_cast<int>(seeds) / 4);
  EXPECT_LT(deployed, 2 * static_cast<int>(seeds));
}

class DeployMutation : public ::testing::TestWithParam<size_t> {};

TEST_P(DeployMutation, TheModelItselfDeploysInF32AndInIntegers) {
  std::mt19937 random(1);
  RegisterFloatLibrary();
  const auto original = testing::ModelsToMutate()[GetParam()];
  EXPECT_EQ(DeployAllWays(original.model.SerializeAsString(), random), 2);
}

TEST_P(DeployMutation, WhatIsWrittenLoads) {
  const char* more = std::getenv("RSHIFT_MUTANTS");
  const auto original = testing::ModelsToMutate()[GetParam()];
  // About one in eight of these has 50 tensors alive at once, for which the arena's hill climb
  // takes its full number of steps: 0.2 s a program, a hundred times the rest.
  const uint32_t seeds = original.name == "branches" ? 150 : 600;
  RunMutants(original, more == nullptr ? seeds : std::stoul(more));
}

INSTANTIATE_TEST_SUITE_P(Models, DeployMutation, ::testing::Range<size_t>(0, 5));

}  // namespace
}  // namespace rshift
