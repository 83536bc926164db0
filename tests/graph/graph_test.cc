#include "graph/graph.h"

#include <gmock/gmock.h>

#include "tests/base/error_of.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> Indices(const std::vector<NodeId>& ids) {
  std::vector<int> result;
  for (NodeId id : ids) result.push_back(id.index());
  return result;
}

void ExpectCheckFails(const Graph& graph, const std::string& part) {
  EXPECT_THAT(ErrorOf(ErrorCode::kInternal, [&] { graph.Check(); }), HasSubstr(part));
}

TEST(Graph, KnowsWhoMakesAndReadsAValue) {
  Net net;
  const ValueId x = net.Input("x", {4});
  const ValueId a = net.Relu(x);
  const ValueId b = net.Bin(BinaryOp::kAdd, a, a);
  const Graph graph = net.Done({b, a});
  EXPECT_FALSE(graph.Producers()[x.index()].valid());
  EXPECT_EQ(graph.Producers()[b.index()].index(), 1);
  EXPECT_THAT(Indices(graph.Consumers()[a.index()]), ElementsAre(1, 1));
  EXPECT_THAT(Indices(graph.Consumers()[b.index()]), ElementsAre());
  EXPECT_TRUE(graph.IsOutput(a));
  EXPECT_FALSE(graph.IsOutput(x));
}

TEST(Graph, NamesAreMadeUnique) {
  Net net;
  net.Input("x", {4});
  EXPECT_EQ(net.graph.UniqueName("y"), "y");
  EXPECT_EQ(net.graph.UniqueName("x"), "x_1");
  net.Input("x_1", {4});
  EXPECT_EQ(net.graph.UniqueName("x"), "x_2");
  EXPECT_FALSE(net.graph.FindValue("z").valid());
}

TEST(Graph, ReplaceUsesReachesNodesAndOutputs) {
  Net net;
  const ValueId x = net.Input("x", {4});
  const ValueId a = net.Relu(x);
  const ValueId b = net.Bin(BinaryOp::kAdd, a, a);
  Graph graph = net.Done({b, a});
  graph.ReplaceUses(a, x);
  EXPECT_THAT(graph.nodes()[1].inputs, ElementsAre(x, x));
  EXPECT_THAT(graph.outputs, ElementsAre(b, x));
}

TEST(Graph, RemoveUnusedKeepsInputsAndRenumbers) {
  Net net;
  const ValueId unused = net.Input("unused", {4});
  net.Relu(unused);
  const ValueId y = net.Bin(BinaryOp::kAdd, net.Input("x", {4}), net.Random({4}), "y");
  net.Random({9});
  Graph graph = net.Done({y});
  graph.RemoveUnused();
  graph.Check();
  EXPECT_EQ(graph.value_count(), 4);  // unused, x, the addend, y
  EXPECT_EQ(Ops(graph), "Add");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
  EXPECT_EQ(graph.inputs.size(), 2u);
}

TEST(Graph, SortsTopologicallyAndStably) {
  Net net;
  const ValueId x = net.Input("x", {4});
  const ValueId a = net.Relu(x, "a");
  const ValueId b = net.Relu(a, "b");
  const ValueId c = net.Relu(x, "c");
  Graph graph = net.Done({b, c});
  std::swap(graph.nodes()[0], graph.nodes()[1]);  // b, a, c
  graph.SortTopologically();
  graph.Check();
  EXPECT_EQ(graph.nodes()[0].name, "node_a");
  EXPECT_EQ(graph.nodes()[1].name, "node_b");
  EXPECT_EQ(graph.nodes()[2].name, "node_c");
}

TEST(Graph, SortFindsCycles) {
  Net net;
  const ValueId x = net.Input("x", {4});
  const ValueId a = net.Bin(BinaryOp::kAdd, x, x);
  const ValueId b = net.Relu(a);
  Graph graph = net.Done({b});
  graph.nodes()[0].inputs[1] = b;
  EXPECT_THROW(graph.SortTopologically(), Error);
}

TEST(Graph, CheckFindsEveryKindOfDamage) {
  Net net;
  const ValueId x = net.Input("x", {4});
  const ValueId a = net.Relu(x, "a");
  const ValueId b = net.Bin(BinaryOp::kAdd, a, net.Floats({4}, {1, 2, 3, 4}), "b");
  const Graph good = net.Done({b});
  Graph bad = good;
  bad.nodes()[0].inputs[0] = ValueId(99);
  ExpectCheckFails(bad, "input id 99");
  bad = good;
  std::swap(bad.nodes()[0], bad.nodes()[1]);
  ExpectCheckFails(bad, "before it is made");
  bad = good;
  bad.nodes()[1].outputs[0] = a;
  ExpectCheckFails(bad, "something else makes too");
  bad = good;
  bad.value(a).name = "b";
  ExpectCheckFails(bad, "two values are named 'b'");
  bad = good;
  bad.value(bad.nodes()[1].inputs[1]).shape = {5};
  ExpectCheckFails(bad, "expected 20 bytes, found 16");
  bad = good;
  bad.value(a).layout = Layout::kNhwc;
  ExpectCheckFails(bad, "NHWC needs 4 dimensions");
  bad = good;
  bad.outputs[0] = ValueId();
  ExpectCheckFails(bad, "has no producer");
  bad = good;
  bad.output_names.clear();
  ExpectCheckFails(bad, "output names");
  bad = good;
  bad.inputs.push_back(x);
  ExpectCheckFails(bad, "stands twice");
}

TEST(Graph, RefusesIdsOutOfRange) {
  Graph graph;
  EXPECT_THROW(graph.value(ValueId()), Error);
  EXPECT_THROW(graph.value(ValueId(0)), Error);
}

}  // namespace
}  // namespace rshift
