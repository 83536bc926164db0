// Concats whose parts are written in place, and those that stay copies.
#include "codegen/passes/place_concat.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/container/strided_bytes.h"
#include "isa/attributes.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

constexpr QuantParams kQuant{0.5f, 3};

Kind Image(int64_t channels, int64_t height = 4) {
  return QuantizedNhwc({1, height, 5, channels}, kQuant);
}

// A command that makes `kind` of x by a table.
ValueId Table(TestGraph* test, const std::string& name, const Kind& kind, ValueId x) {
  return test->Node(name, kind, QTable{}, {x});
}

int64_t Copies(const ProgramImage& image) {
  const std::vector<Opcode> opcodes = OpcodesOf(image);
  return std::count(opcodes.begin(), opcodes.end(), Opcode::kCopyInto);
}

// `part` begins `bytes` after `whole` and has its rows.
void ExpectPart(const ProgramImage& image, const std::string& part, const std::string& whole,
                uint64_t bytes) {
  EXPECT_EQ(RecordOf(image, part).offset, RecordOf(image, whole).offset + bytes) << part;
  EXPECT_EQ(RecordOf(image, part).row_pitch(), RecordOf(image, whole).row_pitch()) << part;
}

// x -> squeeze -> a, b -> Concat -> y, as in SqueezeNet.
TestGraph Fire() {
  TestGraph test;
  const ValueId squeeze = Table(&test, "squeeze", Image(8), test.Input("x", Image(8)));
  const ValueId a = Table(&test, "a", Image(8), squeeze), b = Table(&test, "b", Image(8), squeeze);
  const ValueId cat = test.Node("cat", Image(16), Concat{3}, {a, b});
  test.Output(Table(&test, "y", Image(16), cat));
  return test;
}

TEST(PlaceConcats, ProducersWriteTheirParts) {
  const ProgramImage image = CompileChecked(Fire());
  EXPECT_EQ(Copies(image), 0);
  ExpectPart(image, "a", "cat", 0);
  ExpectPart(image, "b", "cat", 8);
  EXPECT_EQ(RecordOf(image, "a").pitch, 16u);
  EXPECT_EQ(RecordOf(image, "cat").pitch, 0u);
  EXPECT_EQ(image.command_names.size(), image.commands.size());
}

TEST(PlaceConcats, NotWhenTheProgramIsToBeObservedOrPlain) {
  EXPECT_EQ(Copies(CompileChecked(Fire(), true)), 2);
  const ProgramImage plain =
      Compile(Fire().graph, {.observable = false, .fuse = false, .meta = {}});
  EXPECT_EQ(Copies(plain), 2);
  for (const TensorRecord& tensor : plain.tensors) EXPECT_TRUE(tensor.whole()) << tensor.name;
}

TEST(PlaceConcats, AConcatMayBeAnOutputItsPartsMayNot) {
  TestGraph test = Fire();
  test.Output(ValueId(test.graph.nodes()[3].outputs[0]));  // cat
  EXPECT_EQ(Copies(CompileChecked(test)), 0);
  test.Output(ValueId(test.graph.nodes()[1].outputs[0]));  // a
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 1);
  EXPECT_TRUE(RecordOf(image, "a").whole());
}

TEST(PlaceConcats, InputsAndConstantsAreCopied) {
  TestGraph test;
  const ValueId x = test.Input("x", Image(2));
  const ValueId k = test.S8("k", {1, 4, 5, 2}, std::vector<int8_t>(40, 1));
  const ValueId a = Table(&test, "a", Image(2), x);
  test.Output(test.Node("cat", Image(6), Concat{3}, {x, k, a}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 2);
  ExpectPart(image, "a", "cat", 4);
}

TEST(PlaceConcats, AValueThatIsTwoPartsIsCopiedOnce) {
  TestGraph test;
  const ValueId a = Table(&test, "a", Image(2), test.Input("x", Image(2)));
  test.Output(test.Node("cat", Image(4), Concat{3}, {a, a}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 1);
  ExpectPart(image, "a", "cat", 0);
}

// Each layer sees all before it, DenseNet: with a Concat of two values, or of all values, the way
// torchvision writes it.
TestGraph DenseBlock(bool nested) {
  TestGraph test;
  std::vector<ValueId> values = {Table(&test, "v0", Image(8), test.Input("x", Image(8)))};
  ValueId all = values[0];
  for (int64_t i = 1; i < 5; ++i) {
    const std::string n = std::to_string(i);
    const ValueId eight = test.Node("s" + n, Image(8), Slice{{0, 0, 0, 0}, {1, 1, 1, 1}}, {all});
    values.push_back(Table(&test, "v" + n, Image(8), eight));
    const std::vector<ValueId> parts = nested ? std::vector{all, values.back()} : values;
    all = test.Node("all" + n, Image(8 * (i + 1)), Concat{3}, parts);
  }
  test.Output(all);
  return test;
}

TEST(PlaceConcats, ADenseBlockIsOneBuffer) {
  for (const bool nested : {true, false}) {
    const ProgramImage image = CompileChecked(DenseBlock(nested));
    EXPECT_EQ(Copies(image), 0) << nested;
    for (int i = 0; i < 5; ++i) ExpectPart(image, "v" + std::to_string(i), "all4", 8 * i);
    for (int i = 1; i < 5; ++i) ExpectPart(image, "all" + std::to_string(i), "all4", 0);
  }
}

TEST(PlaceConcats, AnotherOrderOfTheSameValuesIsCopied) {
  TestGraph test;
  const ValueId x = test.Input("x", Image(8));
  const ValueId a = Table(&test, "a", Image(8), x), b = Table(&test, "b", Image(8), x);
  const ValueId first = test.Node("first", Image(16), Concat{3}, {a, b});
  const ValueId second = test.Node("second", Image(16), Concat{3}, {b, a});
  test.Output(Table(&test, "y", Image(16), first)).Output(Table(&test, "z", Image(16), second));
  EXPECT_EQ(Copies(CompileChecked(test)), 2);
}

TEST(PlaceConcats, ReadersThatTakeNoViewsKeepTheCopy) {
  TestGraph test;
  const ValueId x = test.Input("x", Image(8));
  const ValueId a = Table(&test, "a", Image(8), x), b = Table(&test, "b", Image(8), x);
  const ValueId cat = test.Node("cat", Image(16), Concat{3}, {a, b});
  QSoftmax softmax;
  test.Output(cat).Output(test.Node("s", Image(8), softmax, {a}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 1);
  EXPECT_TRUE(RecordOf(image, "a").whole());
  ExpectPart(image, "b", "cat", 8);
}

TEST(PlaceConcats, ViewsOfAPartNeedItsRows) {
  for (const bool rows : {true, false}) {
    TestGraph test;
    const ValueId x = test.Input("x", Image(8));
    const ValueId a = Table(&test, "a", Image(8), x), b = Table(&test, "b", Image(8), x);
    const ValueId cat = test.Node("cat", Image(16), Concat{3}, {a, b});
    const Kind view = QuantizedPlain(rows ? Shape{20, 8} : Shape{10, 16}, kQuant);
    const ValueId v = test.Node("v", view, Reshape{}, {a});
    test.Output(cat).Output(Table(&test, "y", view, v));
    EXPECT_EQ(Copies(CompileChecked(test)), rows ? 0 : 1) << rows;
  }
}

TEST(PlaceConcats, PartsOnAnOuterAxisAreDenseAtAnyOffset) {
  TestGraph test;
  const ValueId a = Table(&test, "a", Image(3, 2), test.Input("x", Image(3, 2)));
  const ValueId b = Table(&test, "b", Image(3, 4), test.Input("z", Image(3, 4)));
  test.Output(test.Node("cat", Image(3, 6), Concat{1}, {a, b}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 0);
  EXPECT_EQ(RecordOf(image, "b").offset, RecordOf(image, "cat").offset + 30);
  EXPECT_EQ(RecordOf(image, "b").pitch, 0u);
}

TEST(PlaceConcats, PartsOnAnOuterAxisOfABatchAreCopied) {
  TestGraph test;
  const Kind half = QuantizedPlain({2, 3, 4}, kQuant);
  const ValueId a = Table(&test, "a", half, test.Input("x", half));
  test.Output(test.Node("cat", QuantizedPlain({2, 6, 4}, kQuant), Concat{1}, {a, a}));
  EXPECT_EQ(Copies(CompileChecked(test)), 2);
}

TEST(PlaceConcats, APartOfAPartOnAnotherAxis) {
  TestGraph test;
  const ValueId a = Table(&test, "a", Image(4), test.Input("x", Image(4)));
  const ValueId b = Table(&test, "b", Image(4), test.Input("z", Image(4)));
  const ValueId c = Table(&test, "c", Image(8), test.Input("w", Image(8)));
  const ValueId wide = test.Node("wide", Image(8), Concat{3}, {a, b});
  const ValueId tall = test.Node("tall", Image(8, 8), Concat{1}, {c, wide});
  test.Output(Table(&test, "y", Image(8, 8), tall));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 0);
  ExpectPart(image, "wide", "tall", 4 * 5 * 8);
  ExpectPart(image, "b", "tall", 4 * 5 * 8 + 4);
}

// A pooling kernel may read past the channels of its source, where another thread would write.
TEST(PlaceConcats, KernelsThatLoadWholeRegistersReadNoNeighboursOfWhatTheyWrite) {
  for (const int64_t channels : {8, 64}) {
    TestGraph test;
    const ValueId a = Table(&test, "a", Image(channels), test.Input("x", Image(channels)));
    const ValueId pool = test.Node("pool", Image(channels), MaxPool{}, {a});
    test.Output(test.Node("cat", Image(2 * channels), Concat{3}, {a, pool}));
    EXPECT_EQ(Copies(CompileChecked(test)), channels == 64 ? 0 : 1) << channels;
  }
}

TEST(PlaceConcats, F32CommandsWriteNoViews) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4, 6}));
  const ValueId a = test.Node("a", F32({4, 6}), Unary{UnaryOp::kExp, 0, 0}, {x});
  const ValueId b = test.Node("b", F32({4, 6}), Slice{{3, 0}, {-1, 1}}, {x});
  test.Output(test.Node("cat", F32({4, 12}), Concat{1}, {a, b}));
  const ProgramImage image = CompileChecked(test);
  EXPECT_EQ(Copies(image), 1);
  ExpectPart(image, "b", "cat", 24);
}

}  // namespace
}  // namespace rshift
