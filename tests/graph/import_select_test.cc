// Operators whose result has a size that depends on the data, what may read them, and models put
// behind models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::Attribute;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::OpsOf;
using testing::OutputOf;

// x [2, 3] -> n = NonZero(x) [2, at most 6]
ModelBuilder NonZeroOf() {
  ModelBuilder b(13);
  b.Input("x", {2, 3}).Node("NonZero", {"x"}, {"n"});
  return b;
}

// boxes [1, 8, 4], scores [1, 3, 8] -> s [at most 3 * most, 3]
ModelBuilder Suppression(int64_t most = 2) {
  ModelBuilder b(13);
  b.Input("boxes", {1, 8, 4}).Input("scores", {1, 3, 8});
  b.Ints("most", {1}, {most}).Floats("iou", {1}, {0.5f}).Floats("least", {1}, {0.1f});
  b.Node("NonMaxSuppression", {"boxes", "scores", "most", "iou", "least"}, {"s"});
  return b;
}

TEST(ImportSelect, OutputsBringTheirCountAlong) {
  const Graph g = Suppression().Output("s").Import();
  EXPECT_EQ(OutputOf(g).shape, (Shape{6, 3}));
  EXPECT_EQ(OutputOf(g).dtype, DType::kS64);
  EXPECT_THAT(g.output_names, ElementsAre("s", "s.count"));
  EXPECT_EQ(OutputOf(g, 1).shape, (Shape{1}));
  ASSERT_EQ(g.output_cuts.size(), 1u);
  EXPECT_EQ(g.output_cuts[0].output, 0);
  EXPECT_EQ(g.output_cuts[0].axis, 0);
  EXPECT_EQ(g.output_cuts[0].count, 1);
  const auto& op = std::get<NonMaxSuppression>(g.nodes()[0].op);
  EXPECT_EQ(op.most, 2);
  EXPECT_TRUE(op.has_score_threshold);
  EXPECT_FALSE(op.center_point_box);
}

TEST(ImportSelect, NoMoreBoxesThanThereAre) {
  EXPECT_EQ(OutputOf(Suppression(int64_t{1} << 62).Output("s").Import()).shape, (Shape{24, 3}));
  EXPECT_EQ(OutputOf(Suppression(0).Output("s").Import()).shape, (Shape{0, 3}));
  EXPECT_EQ(OutputOf(Suppression(-1).Output("s").Import()).shape, (Shape{0, 3}));
}

TEST(ImportSelect, AxesFollowWhatMovesThem) {
  auto b = NonZeroOf();  // axis 1 of 2
  b.Node("Transpose", {"n"}, {"t"}, {{"perm", {1, 0}}});
  b.Ints("one", {}, {1}).Node("Gather", {"t", "one"}, {"column"}, {{"axis", 1}});
  b.Node("Cast", {"column"}, {"f"}, {{"to", int{onnx::TensorProto::FLOAT}}});
  b.Floats("table", {3, 5}).Node("Gather", {"table", "column"}, {"rows"}, {{"axis", 0}});
  b.Ints("shape", {3}, {1, -1, 1}).Node("Reshape", {"f", "shape"}, {"r"});
  b.Node("ReduceMax", {"rows"}, {"top"}, {{"axes", {1}}, {"keepdims", 0}});
  b.Node("Concat", {"rows", "rows"}, {"both"}, {{"axis", 1}});
  for (const char* name : {"n", "t", "column", "f", "rows", "r", "top", "both"}) b.Output(name);
  const Graph g = b.Import();
  std::vector<int64_t> axes;
  for (const OutputCut& cut : g.output_cuts) {
    axes.push_back(cut.axis);
    EXPECT_EQ(cut.count, 8);  // one count for all
    EXPECT_EQ(OutputOf(g, cut.output).shape[static_cast<size_t>(cut.axis)], 6);
  }
  EXPECT_THAT(axes, ElementsAre(1, 0, 0, 0, 0, 1, 0, 0));
}

TEST(ImportSelect, WhatNeedsTheSizeIsRefusedByName) {
  const auto error = [](const std::string& op, const std::vector<Attribute>& attributes,
                        const std::string& other = "") {
    auto b = NonZeroOf();
    b.Node("Cast", {"n"}, {"f"}, {{"to", int{onnx::TensorProto::FLOAT}}});
    std::vector<std::string> inputs = {"f"};
    if (!other.empty()) inputs.push_back(other);
    b.Floats("six", {6}).Floats("k", {6, 2}).Ints("flat", {1}, {-1});
    return b.Node(op, inputs, {"y"}, attributes).Output("y").ImportError();
  };
  const std::string depends = "dimension 1 depends on the data";
  EXPECT_THAT(error("ReduceMean", {{"axes", {1}}}), HasSubstr("'y' (ReduceMean)"));
  EXPECT_THAT(error("ReduceMean", {{"axes", {1}}}), HasSubstr(depends));
  EXPECT_THAT(error("ReduceMax", {}), HasSubstr(depends));
  EXPECT_THAT(error("Softmax", {{"axis", 1}}), HasSubstr(depends));
  EXPECT_THAT(error("Shape", {}), HasSubstr("asks for the shape"));
  EXPECT_THAT(error("Size", {}), HasSubstr("asks for the shape"));
  EXPECT_THAT(error("Add", {}, "six"), HasSubstr(depends));
  EXPECT_THAT(error("MatMul", {}, "k"), HasSubstr(depends));
  EXPECT_THAT(error("Reshape", {}, "flat"), HasSubstr(depends));
  EXPECT_THAT(error("NonZero", {}), HasSubstr(depends));
  EXPECT_EQ(error("Softmax", {{"axis", 0}}), "no error");
  EXPECT_EQ(error("Shape", {{"end", 1}}), "no error");
  EXPECT_EQ(error("ReduceMean", {{"axes", {0}}}), "no error");
}

TEST(ImportSelect, DifferentCountsDoNotMeet) {
  auto b = NonZeroOf();
  b.Input("z", {2, 3}).Node("NonZero", {"z"}, {"m"}).Node("Add", {"n", "m"}, {"y"}).Output("y");
  EXPECT_THAT(b.ImportError(), HasSubstr("'y' (Add): reads 'm'"));
}

TEST(ImportSelect, UniqueAndCompress) {
  ModelBuilder b(13);
  b.Input("x", {5, 2}).Input("c", {4}, onnx::TensorProto::BOOL);
  b.Node("Unique", {"x"}, {"u", "first", "inverse", "counts"}, {{"axis", 0}, {"sorted", 0}});
  b.Node("Compress", {"x", "c"}, {"k"}, {{"axis", 0}});
  for (const char* name : {"u", "first", "inverse", "counts", "k"}) b.Output(name);
  const Graph g = b.Import();
  EXPECT_EQ(OutputOf(g, 0).shape, (Shape{5, 2}));
  EXPECT_EQ(OutputOf(g, 4).shape, (Shape{4, 2}));
  std::vector<int> cut;
  for (const OutputCut& c : g.output_cuts) cut.push_back(c.output);
  EXPECT_THAT(cut, ElementsAre(0, 1, 3, 4));  // inverse has an entry for each row
  EXPECT_EQ(g.outputs.size(), 7u);            // two counts
}

class ImportAppended : public ::testing::Test {
 protected:
  // x [1, 3] -> a = Relu(x), b = Abs(x)
  static ModelBuilder Front() {
    ModelBuilder b(13);
    b.Input("x", {1, 3}).Node("Relu", {"x"}, {"a"}).Node("Abs", {"x"}, {"b"});
    return b.Output("a").Output("b");
  }
  ImportOptions Behind(const ModelBuilder& model) {
    const std::string path = ::testing::TempDir() + "rshift_behind.onnx";
    WriteFileAtomic(path, model.Bytes());
    ImportOptions options;
    options.append = path;
    return options;
  }
};

TEST_F(ImportAppended, JoinsByNameAndKeepsWhatItDoesNotRead) {
  ModelBuilder behind(11);  // an opset of its own
  behind.Input("a", {1, -1}).Floats("two", {}, {2}).Node("Mul", {"a", "two"}, {"a2"});
  behind.Node("Clip", {"a2"}, {"x"}).Output("x");  // the name of the other's input
  const Graph g = Front().Import(Behind(behind));
  EXPECT_THAT(g.output_names, ElementsAre("x", "b"));
  EXPECT_THAT(OpsOf(g), HasSubstr("Mul"));
}

TEST_F(ImportAppended, JoinsByMapAndByMetadata) {
  ModelBuilder behind(13);
  behind.Input("in", {1, 3}).Node("Neg", {"in"}, {"y"}).Output("y");
  ImportOptions options = Behind(behind);
  EXPECT_THAT(
      Front().ImportError(options),
      HasSubstr("input 'in' wants the model's output 'in', but the model has 'a', 'b'; give "
                "--append-map in=OUTPUT"));
  options.append_inputs = {{"in", "b"}};
  EXPECT_THAT(Front().Import(options).output_names, ElementsAre("y", "a"));
  auto* entry = behind.model.add_metadata_props();
  entry->set_key("append:in");
  entry->set_value("a");
  EXPECT_THAT(Front().Import(Behind(behind)).output_names, ElementsAre("y", "b"));
}

TEST_F(ImportAppended, WhatDoesNotFitIsRefused) {
  const auto error = [&](const ModelBuilder& behind) {
    return Front().ImportError(Behind(behind));
  };
  ModelBuilder narrow(13);
  narrow.Input("a", {1, 2}).Node("Neg", {"a"}, {"y"}).Output("y");
  EXPECT_THAT(error(narrow),
              HasSubstr("input 'a' has the shape 1x2, but the model's output 'a' is"));
  ModelBuilder integer(13);
  integer.Input("a", {1, 3}, onnx::TensorProto::INT64).Node("Neg", {"a"}, {"y"}).Output("y");
  EXPECT_THAT(error(integer), HasSubstr("but the model's output 'a' is f32"));
  ModelBuilder twice(13);
  twice.Input("a", {1, 3}).Node("Neg", {"a"}, {"b"}).Output("b");
  EXPECT_THAT(error(twice), HasSubstr("both models have an output 'b'"));
  ModelBuilder broken(13);
  broken.Input("a", {1, 3}).Node("FancyOp", {"a"}, {"y"}).Output("y");
  EXPECT_THAT(error(broken), HasSubstr("FancyOp"));
  ImportOptions unknown = Behind(narrow);
  unknown.append_inputs = {{"z", "a"}};
  EXPECT_THAT(Front().ImportError(unknown), HasSubstr("--append-map names the input 'z'"));
  ImportOptions missing;
  missing.append = ::testing::TempDir() + "rshift_no_such_file.onnx";
  EXPECT_THAT(Front().ImportError(missing), HasSubstr("rshift_no_such_file.onnx"));
}

}  // namespace
}  // namespace rshift
