// Programs as a whole: bindings, aliases, constants, placement, reproducibility.
#include "codegen/compile.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/memory/report.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

// x -> v1 -> v2 -> ... of `size` bytes each, by an operator that does not work in place.
TestGraph Chain(int length, int64_t size) {
  TestGraph test;
  ValueId value = test.Input("v0", F32({size / 4}));
  for (int i = 1; i <= length; ++i) {
    value = test.Node("v" + std::to_string(i), F32({size / 4}), Softmax{.axis = 0}, {value});
  }
  test.Output(value);
  return test;
}

bool Overlap(const TensorRecord& a, const TensorRecord& b) {
  return a.region == b.region && a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes();
}

TEST(Compile, BindsInputsAndOutputsByTheirNames) {
  TestGraph test = Chain(2, 64);
  test.graph.output_names[0] = "result";
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(image.inputs.size(), 1u);
  EXPECT_EQ(image.inputs[0].name, "v0");
  EXPECT_EQ(image.tensors[image.inputs[0].tensor].name, "v0");
  ASSERT_EQ(image.outputs.size(), 1u);
  EXPECT_EQ(image.outputs[0].name, "result");
  EXPECT_EQ(image.tensors[image.outputs[0].tensor].name, "v2");
  EXPECT_EQ(image.command_names, (std::vector<std::string>{"v1_node", "v2_node"}));
}

TEST(Compile, TensorsReuseMemoryOfOthersAndOfInputsThatHaveBeenReadOutputsDoNot) {
  const ProgramImage image = CompileChecked(Chain(10, 640));
  // v10 always, two of the others in turn; 64 bytes of slack.
  EXPECT_EQ(image.arena_size, 3 * 640u + 64u);
  EXPECT_FALSE(Overlap(RecordOf(image, "v0"), RecordOf(image, "v1")));
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(Overlap(RecordOf(image, "v10"), RecordOf(image, "v" + std::to_string(i))));
  EXPECT_EQ(AnalyzeMemory(image).lower_bound, 3 * 640u);
}

TEST(Compile, AnObservedProgramKeepsEveryTensor) {
  const ProgramImage image = CompileChecked(Chain(10, 640), true);
  EXPECT_EQ(image.arena_size, 11 * 640u + 64u);
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(Overlap(image.tensors[i], image.tensors[j]));
  }
}

TEST(Compile, AliasedBuffersLiveAsLongAsTheirLastView) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4, 4}));
  const ValueId a = test.Node("a", F32({4, 4}), Unary{UnaryOp::kExp, 0, 0}, {x});
  const ValueId view = test.Node("view", F32({16}), Reshape{}, {a});
  ValueId other = test.Node("b", F32({4, 4}), Unary{UnaryOp::kExp, 0, 0}, {x});
  other = test.Node("c", F32({4, 4}), Unary{UnaryOp::kExp, 0, 0}, {other});
  other = test.Node("d", F32({16}), Reshape{}, {other});
  test.Output(test.Node("y", F32({16}), Binary{}, {view, other}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(RecordOf(image, "view").offset, RecordOf(image, "a").offset);
  EXPECT_FALSE(Overlap(RecordOf(image, "view"), RecordOf(image, "b")));
  EXPECT_FALSE(Overlap(RecordOf(image, "view"), RecordOf(image, "c")));
}

TEST(Compile, OutputsHaveMemoryOfTheirOwn) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4}));
  const ValueId constant = test.Floats("k", {2}, {1, 2});
  const ValueId y = test.Node("y", F32({4}), Unary{UnaryOp::kExp, 0, 0}, {x});
  const ValueId y_view = test.Node("y_view", F32({2, 2}), Reshape{}, {y});
  const ValueId x_view = test.Node("x_view", F32({2, 2}), Reshape{}, {x});
  const ValueId k_view = test.Node("k_view", F32({2, 1}), Reshape{}, {constant});
  test.Output(y).Output(y, "again").Output(x, "input").Output(constant, "constant");
  test.Output(y_view).Output(x_view).Output(k_view);
  const ProgramImage image = CompileChecked(test);
  std::vector<int32_t> bound = {image.inputs[0].tensor};
  for (const Binding& output : image.outputs) bound.push_back(output.tensor);
  ASSERT_EQ(bound.size(), 8u);
  for (size_t i = 0; i < bound.size(); ++i) {
    EXPECT_EQ(image.tensors[bound[i]].region, Region::kArena);
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(Overlap(image.tensors[bound[i]], image.tensors[bound[j]])) << i << ' ' << j;
    }
  }
  // Every output is written by a command.
  std::set<int32_t> written;
  for (const Command& command : image.commands) written.insert(command.Tensor(Field::kDst));
  for (const Binding& output : image.outputs)
    EXPECT_TRUE(written.contains(output.tensor)) << output.name;
}

TEST(Compile, AScalarOutputOfAConstantIsCopied) {
  TestGraph test;
  test.Input("x", F32({1}));
  test.Output(test.Floats("k", {}, {3}));
  EXPECT_EQ(OpcodesOf(CompileChecked(test)), std::vector{Opcode::kExpand});
}

TEST(Compile, AViewThatIsAnOutputNeedsNoCopy) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4}));
  const ValueId y = test.Node("y", F32({4}), Unary{UnaryOp::kExp, 0, 0}, {x});
  test.Output(test.Node("z", F32({2, 2}), Reshape{}, {y}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(image.commands.size(), 1u);
  EXPECT_EQ(RecordOf(image, "y").offset, RecordOf(image, "z").offset);
}

TEST(Compile, EqualConstantsAreStoredOnce) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({16}));
  const std::vector<float> values(16, 2.5f);
  const ValueId a = test.Node("a", F32({16}), Binary{}, {x, test.Floats("k1", {16}, values)});
  const ValueId b = test.Node("b", F32({16}), Binary{}, {a, test.Floats("k2", {16}, values)});
  test.Output(b);
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(RecordOf(image, "k1").offset, RecordOf(image, "k2").offset);
  EXPECT_EQ(image.constants.size(), 64u + 64u);
}

TEST(Compile, ConstantNamesNeverCollideWithValues) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({2, 3}));
  const ValueId y = test.Node("y", F32({3, 2}), Transpose{{1, 0}}, {x});
  test.Output(test.Node("y_node.perm", F32({2, 3}), Transpose{{1, 0}}, {y}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kList).name, "y_node.perm#2");
}

TEST(Compile, TheSameGraphGivesTheSameBytes) {
  EXPECT_EQ(WriteContainer(CompileChecked(Chain(30, 640))),
            WriteContainer(CompileChecked(Chain(30, 640))));
}

TEST(Compile, CarriesMetadata) {
  const ProgramImage image =
      Compile(Chain(1, 64).graph, {.observable = false, .meta = {{"model", "chain"}}});
  EXPECT_EQ(image.meta.at("model"), "chain");
}

TEST(Compile, UnusedInputsAreThereWhenTheCallerFillsThem) {
  TestGraph test = Chain(3, 640);
  test.Input("unused", F32({1000}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(image.inputs.size(), 2u);
  for (const char* other : {"v0", "v3"}) {  // the other input, and the output of the run before
    EXPECT_FALSE(Overlap(RecordOf(image, "unused"), RecordOf(image, other)));
  }
}

TEST(Compile, ObservedTensorsKeepOrShareTheirMemory) {
  const TestGraph test = Chain(30, 640);
  const ProgramImage kept = Compile(test.graph, {.observable = true, .meta = {}});
  const ProgramImage reused =
      Compile(test.graph, {.observable = true, .reuse_observed = true, .meta = {}});
  EXPECT_GE(kept.arena_size, 31 * 640);
  EXPECT_LT(reused.arena_size, 5 * 640);
  EXPECT_EQ(kept.commands.size(), reused.commands.size());
  EXPECT_EQ(kept.tensors.size(), reused.tensors.size());
}

TEST(Compile, RefusesTensorsWithTooManyDimensions) {
  TestGraph test;
  const Kind kind = F32({1, 1, 1, 1, 1, 1, 1, 1, 1});
  test.Output(test.Node("y", kind, Unary{}, {test.Input("x", kind)}));
  CompileError(test, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace rshift
