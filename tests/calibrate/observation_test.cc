#include "calibrate/observation.h"

#include <gtest/gtest.h>

#include "codegen/compile.h"

namespace rshift {
namespace {

// y0 = Sigmoid(x), y1 = Concat(y0, y0), y2 = Concat(y1, y1), ...
Graph Doubled(int times) {
  Graph graph;
  const auto value = [&](const std::string& name, int64_t size) {
    return graph.AddValue({name, DType::kF32, {1, size}, Layout::kPlain, std::nullopt, nullptr});
  };
  graph.inputs = {value("x", 2)};
  ValueId y = value("y0", 2);
  graph.AddNode({"sigmoid", Unary{UnaryOp::kSigmoid}, {graph.inputs[0]}, {y}});
  for (int i = 1; i <= times; ++i) {
    const ValueId next = value("y" + std::to_string(i), int64_t{2} << i);
    graph.AddNode({"concat" + std::to_string(i), Concat{1}, {y, y}, {next}});
    y = next;
  }
  graph.outputs = {y};
  graph.output_names = {graph.value(y).name};
  graph.Check();
  return graph;
}

TEST(ObservationTest, ATensorMadeOfMoreThan64OthersIsObservedItself) {
  const Graph graph = Doubled(15);
  CompileOptions options;
  options.observable = true;
  const ObservationPlan plan = PlanObservation(graph, Compile(graph, options));
  std::map<std::string, size_t> sources;
  for (const DerivedStatistic& derived : plan.derived)
    sources[plan.names[static_cast<size_t>(derived.statistic)]] = derived.sources.size();
  std::vector<std::string> observed;
  for (const std::vector<Observation>& after : plan.after) {
    for (const Observation& observation : after)
      observed.push_back(plan.names[static_cast<size_t>(observation.statistic)]);
  }
  EXPECT_EQ(sources["y1"], 2u);
  EXPECT_EQ(sources["y6"], 64u);
  EXPECT_EQ(sources["y8"], 2u);  // twice y7
  EXPECT_FALSE(sources.contains("y14"));
  EXPECT_EQ(observed, (std::vector<std::string>{"y0", "y7", "y14"}));
}

}  // namespace
}  // namespace rshift
