#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

// The second input is the list of integers.
ModelBuilder WithList(int opset, const Shape& x, const std::string& op, std::vector<int64_t> list,
                      const std::vector<testing::Attribute>& attributes = {}) {
  auto b = OneNode(opset, x, op, {"x", "list"}, attributes);
  b.Ints("list", {static_cast<int64_t>(list.size())}, list);
  return b;
}

TEST(ImportShape, ReshapeCopiesZerosAndInfersMinusOne) {
  EXPECT_EQ(OutputOf(WithList(13, {2, 3, 4}, "Reshape", {0, -1}).Import()).shape, (Shape{2, 12}));
  EXPECT_THAT(WithList(13, {2, 3, 4}, "Reshape", {5, -1}).ImportError(),
              HasSubstr("cannot reshape 2x3x4 with 24 elements to rows of 5"));
  EXPECT_THAT(WithList(13, {2, 3}, "Reshape", {7}).ImportError(), HasSubstr("cannot reshape 2x3"));
  EXPECT_THAT(WithList(13, {2, 3}, "Reshape", {-1, -1}).ImportError(),
              HasSubstr("two dimensions of -1"));
  EXPECT_THAT(WithList(14, {2, 3}, "Reshape", {0, 6}, {{"allowzero", 1}}).ImportError(),
              HasSubstr("cannot reshape"));
  auto computed = OneNode(13, {6}, "Reshape", {"x", "s"});
  computed.Input("s", {2}, onnx::TensorProto::INT64);
  EXPECT_THAT(computed.ImportError(), HasSubstr("shape 's' are computed from the model's input"));
}

TEST(ImportShape, FlattenSqueezeUnsqueezeInBothForms) {
  EXPECT_EQ(OutputOf(OneNode(13, {2, 3, 4}, "Flatten", {"x"}, {{"axis", 2}}).Import()).shape,
            (Shape{6, 4}));
  EXPECT_EQ(OutputOf(OneNode(13, {2, 3, 4}, "Flatten", {"x"}, {{"axis", -1}}).Import()).shape,
            (Shape{6, 4}));
  EXPECT_EQ(OutputOf(OneNode(13, {2, 3, 4}, "Flatten", {"x"}, {{"axis", 0}}).Import()).shape,
            (Shape{1, 24}));
  EXPECT_EQ(OutputOf(OneNode(11, {1, 3, 1}, "Squeeze", {"x"}, {{"axes", {-1}}}).Import()).shape,
            (Shape{1, 3}));
  EXPECT_EQ(OutputOf(WithList(13, {1, 3, 1}, "Squeeze", {0}).Import()).shape, (Shape{3, 1}));
  EXPECT_EQ(OutputOf(OneNode(13, {1, 3, 1}, "Squeeze", {"x"}).Import()).shape, (Shape{3}));
  EXPECT_THAT(WithList(13, {1, 3}, "Squeeze", {1}).ImportError(),
              HasSubstr("dimension 1 of 1x3 is not 1"));
  EXPECT_EQ(OutputOf(OneNode(11, {3}, "Unsqueeze", {"x"}, {{"axes", {0, 2}}}).Import()).shape,
            (Shape{1, 3, 1}));
  EXPECT_EQ(OutputOf(WithList(13, {3}, "Unsqueeze", {-1, 0}).Import()).shape, (Shape{1, 3, 1}));
}

TEST(ImportShape, SliceClampsAsNumpyDoes) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const auto slice = [](int64_t size, int64_t start, int64_t end, int64_t step) {
    auto b = OneNode(13, {size}, "Slice", {"x", "s", "e", "", "t"});
    b.Ints("s", {1}, {start}).Ints("e", {1}, {end}).Ints("t", {1}, {step});
    const Graph g = b.Import();
    return std::pair(OutputOf(g).shape[0], OpsOf(g));
  };
  EXPECT_EQ(slice(10, 2, kEnd, 3), std::pair(int64_t{3}, std::string("Slice")));
  EXPECT_EQ(slice(10, -3, 100, 1).first, 3);
  EXPECT_EQ(slice(10, 100, -100, -1).first, 10);
  EXPECT_EQ(slice(10, -1, std::numeric_limits<int64_t>::min(), -4).first, 3);
  EXPECT_EQ(slice(10, 5, 5, 1).first, 0);
  EXPECT_EQ(slice(10, 3, 2, -1).first, 1);
  EXPECT_EQ(slice(10, 0, kEnd, 1).second, "Identity");
  const Graph old =
      OneNode(9, {4, 6}, "Slice", {"x"}, {{"starts", {1}}, {"ends", {-1}}, {"axes", {1}}}).Import();
  EXPECT_EQ(OutputOf(old).shape, (Shape{4, 4}));
  EXPECT_THAT(std::get<Slice>(old.nodes()[0].op).starts, ElementsAre(0, 1));
}

TEST(ImportShape, SplitBecomesSlices) {
  ModelBuilder b(13);
  b.Input("x", {2, 7}).Ints("sizes", {3}, {1, 2, 4});
  b.Node("Split", {"x", "sizes"}, {"p", "q", "r"}, {{"axis", -1}}).Output("q").Output("r");
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Slice Slice");
  EXPECT_EQ(OutputOf(g, 1).shape, (Shape{2, 4}));
  EXPECT_THAT(std::get<Slice>(g.nodes()[1].op).starts, ElementsAre(0, 3));
  ModelBuilder uneven(18);
  uneven.Input("x", {7}).Node("Split", {"x"}, {"p", "q", "r"}, {{"num_outputs", 3}});
  uneven.Output("p").Output("r");
  const Graph u = uneven.Import();
  EXPECT_EQ(OutputOf(u, 0).shape, (Shape{3}));
  EXPECT_EQ(OutputOf(u, 1).shape, (Shape{1}));
  ModelBuilder old(11);
  old.Input("x", {7}).Node("Split", {"x"}, {"p", "q"}).Output("p");
  EXPECT_THAT(old.ImportError(), HasSubstr("cannot split 7 elements into 2 equal parts"));
}

TEST(ImportShape, PadInBothForms) {
  const Graph old =
      OneNode(9, {1, 2, 3, 4}, "Pad", {"x"}, {{"pads", {0, 0, 1, 2, 0, 0, 3, -1}}, {"value", 2.5f}})
          .Import();
  EXPECT_EQ(OutputOf(old).shape, (Shape{1, 2, 7, 5}));
  const Pad& pad = std::get<Pad>(old.nodes()[0].op);
  EXPECT_THAT(pad.before, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(pad.after, ElementsAre(0, 0, 3, -1));
  EXPECT_EQ(pad.value, 2.5f);
  auto axes = OneNode(18, {1, 2, 3, 4}, "Pad", {"x", "p", "v", "a"}, {{"mode", "edge"}});
  axes.Ints("p", {2}, {1, 2}).Floats("v", {}, {0.0f}).Ints("a", {1}, {-1});
  EXPECT_EQ(OutputOf(axes.Import()).shape, (Shape{1, 2, 3, 7}));
  EXPECT_THAT(WithList(13, {3}, "Pad", {3, 0}, {{"mode", "reflect"}}).ImportError(),
              HasSubstr("reflects 3 and 0 elements of a dimension of 3"));
  EXPECT_THAT(WithList(13, {3}, "Pad", {-2, -2}).ImportError(),
              HasSubstr("pads dimension 3 by -2 and -2"));
}

TEST(ImportShape, MovementOperators) {
  EXPECT_EQ(OutputOf(OneNode(13, {2, 3, 4}, "Transpose", {"x"}).Import()).shape, (Shape{4, 3, 2}));
  EXPECT_EQ(
      OutputOf(OneNode(13, {2, 3, 4}, "Transpose", {"x"}, {{"perm", {1, 2, 0}}}).Import()).shape,
      (Shape{3, 4, 2}));
  EXPECT_EQ(OutputOf(WithList(13, {3, 1}, "Expand", {2, 1, 4}).Import()).shape, (Shape{2, 3, 4}));
  EXPECT_EQ(OutputOf(WithList(13, {3, 1}, "Tile", {2, 5}).Import()).shape, (Shape{6, 5}));
  EXPECT_EQ(OutputOf(WithList(13, {5, 7}, "Gather", {0, -1, 2}, {{"axis", 1}}).Import()).shape,
            (Shape{5, 3}));
  EXPECT_THAT(WithList(13, {5, 7}, "Gather", {7}, {{"axis", 1}}).ImportError(),
              HasSubstr("index 7 is outside [-7, 7)"));
  const Graph crd =
      OneNode(13, {1, 12, 2, 3}, "DepthToSpace", {"x"}, {{"blocksize", 2}, {"mode", "CRD"}})
          .Import();
  EXPECT_EQ(OutputOf(crd).shape, (Shape{1, 3, 4, 6}));
  EXPECT_TRUE(std::get<DepthToSpace>(crd.nodes()[0].op).crd);
  EXPECT_EQ(
      OutputOf(OneNode(13, {1, 3, 4, 6}, "SpaceToDepth", {"x"}, {{"blocksize", 2}}).Import()).shape,
      (Shape{1, 12, 2, 3}));
  auto concat = OneNode(13, {2, 3}, "Concat", {"x", "c", "x"}, {{"axis", -1}});
  concat.Floats("c", {2, 4});
  EXPECT_EQ(OutputOf(concat.Import()).shape, (Shape{2, 10}));
  auto wrong = OneNode(13, {2, 3}, "Concat", {"x", "c"}, {{"axis", 1}});
  wrong.Floats("c", {3, 4});
  EXPECT_THAT(wrong.ImportError(),
              HasSubstr("input 'c' has the shape 3x4, which differs from 2x3"));
}

TEST(ImportShape, ShapeChainsDisappear) {
  // Reshape(x, Concat(Shape(x)[0], [-1])), as PyTorch writes x.view(x.size(0), -1).
  ModelBuilder b(11);
  b.Input("x", {2, 3, 4}).Ints("zero", {}, {0}).Ints("rest", {1}, {-1});
  b.Node("Shape", {"x"}, {"shape"}).Node("Gather", {"shape", "zero"}, {"n"});
  b.Node("Unsqueeze", {"n"}, {"n1"}, {{"axes", {0}}});
  b.Node("Concat", {"n1", "rest"}, {"target"}, {{"axis", 0}});
  b.Node("Reshape", {"x", "target"}, {"y"}).Output("y");
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Reshape");
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 12}));
}

TEST(ImportShape, ConstantsInEveryForm) {
  ModelBuilder b(13);
  b.Node("Constant", {}, {"f"}, {{"value_float", 1.5f}});
  b.Node("Constant", {}, {"i"}, {{"value_ints", {4, 5}}});
  b.Node("Constant", {}, {"t"}, {{"value", testing::FloatTensor("", {1}, {2.0f})}});
  b.Node("Constant", {}, {"fs"}, {{"value_floats", std::vector<float>{1, 2}}});
  b.Node("ConstantOfShape", {"i"}, {"filled"}, {{"value", testing::IntTensor("", {1}, {7})}});
  b.Ints("start", {}, {10}).Ints("limit", {}, {3}).Ints("delta", {}, {-3});
  b.Node("Range", {"start", "limit", "delta"}, {"range"});
  b.Node("Size", {"filled"}, {"size"});
  for (const char* name : {"f", "i", "t", "fs", "filled", "range", "size"}) b.Output(name);
  const Graph g = b.Import();
  EXPECT_TRUE(g.nodes().empty());
  EXPECT_THAT(Elements<float>(OutputOf(g, 0)), ElementsAre(1.5f));
  EXPECT_THAT(Elements<int64_t>(OutputOf(g, 1)), ElementsAre(4, 5));
  EXPECT_THAT(Elements<float>(OutputOf(g, 2)), ElementsAre(2.0f));
  EXPECT_THAT(Elements<float>(OutputOf(g, 3)), ElementsAre(1, 2));
  EXPECT_EQ(OutputOf(g, 4).shape, (Shape{4, 5}));
  EXPECT_EQ(Elements<int64_t>(OutputOf(g, 4)), std::vector<int64_t>(20, 7));
  EXPECT_THAT(Elements<int64_t>(OutputOf(g, 5)), ElementsAre(10, 7, 4));
  EXPECT_THAT(Elements<int64_t>(OutputOf(g, 6)), ElementsAre(20));
}

TEST(ImportShape, DropoutIsIdentityInInference) {
  ModelBuilder b(13);
  b.Input("x", {2}).Node("Dropout", {"x"}, {"y", "mask"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "Identity");
}

}  // namespace
}  // namespace rshift
