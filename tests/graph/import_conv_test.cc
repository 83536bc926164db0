#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

Window WindowOf(const Graph& graph) { return std::get<Conv>(graph.nodes().at(0).op).window; }

TEST(ImportConv, ReadsPadsInOnnxOrderAndComputesTheShape) {
  auto b =
      OneNode(13, {2, 4, 9, 11}, "Conv", {"x", "w", "b"},
              {{"pads", {1, 2, 3, 4}}, {"strides", {2, 3}}, {"dilations", {2, 1}}, {"group", 2}});
  b.Floats("w", {6, 2, 3, 5}).Floats("b", {6});
  const Graph g = b.Import();
  const Window w = WindowOf(g);
  EXPECT_EQ(w.pad_top, 1);
  EXPECT_EQ(w.pad_left, 2);
  EXPECT_EQ(w.pad_bottom, 3);
  EXPECT_EQ(w.pad_right, 4);
  EXPECT_EQ(w.stride_h, 2);
  EXPECT_EQ(w.dilation_h, 2);
  EXPECT_EQ(std::get<Conv>(g.nodes()[0].op).groups, 2);
  // rows: (9 + 4 - 5) / 2 + 1, columns: (11 + 6 - 5) / 3 + 1
  EXPECT_EQ(OutputOf(g).shape, (Shape{2, 6, 5, 5}));
  EXPECT_EQ(g.nodes()[0].inputs.size(), 3u);
}

TEST(ImportConv, AutoPadPutsTheOddPadWhereItBelongs) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    auto b =
        OneNode(13, {1, 1, 6, 6}, "Conv", {"x", "w"}, {{"auto_pad", mode}, {"strides", {2, 2}}});
    b.Floats("w", {1, 1, 3, 3});
    const Graph g = b.Import();
    // out 3, needs (3 - 1) * 2 + 3 - 6 = 1 pad
    EXPECT_EQ(OutputOf(g).shape, (Shape{1, 1, 3, 3}));
    EXPECT_EQ(WindowOf(g).pad_top, mode == std::string("SAME_LOWER") ? 1 : 0);
    EXPECT_EQ(WindowOf(g).pad_bottom, mode == std::string("SAME_LOWER") ? 0 : 1);
  }
  auto b = OneNode(13, {1, 1, 6, 6}, "Conv", {"x", "w"}, {{"auto_pad", "VALID"}});
  b.Floats("w", {1, 1, 3, 3});
  EXPECT_EQ(OutputOf(b.Import()).shape, (Shape{1, 1, 4, 4}));
}

TEST(ImportConv, OneDimensionalGetsHeightOne) {
  auto b = OneNode(13, {1, 3, 10}, "Conv", {"x", "w"}, {{"pads", {2, 0}}, {"strides", {2}}});
  b.Floats("w", {4, 3, 3});
  const Graph g = b.Import();
  EXPECT_EQ(OpsOf(g), "Reshape Conv Reshape");
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 4, 5}));
  const Window w = std::get<Conv>(g.nodes()[1].op).window;
  EXPECT_EQ(w.kernel_h, 1);
  EXPECT_EQ(w.kernel_w, 3);
  EXPECT_EQ(w.pad_left, 2);
  EXPECT_EQ(w.stride_w, 2);
  EXPECT_EQ(g.value(g.nodes()[1].inputs[1]).shape, (Shape{4, 3, 1, 3}));
}

TEST(ImportConv, SaysWhatIsWrongWithTheWeights) {
  auto rank = OneNode(13, {1, 3, 8, 8}, "Conv", {"x", "w"});
  rank.Floats("w", {4, 3, 3});
  EXPECT_THAT(
      rank.ImportError(),
      HasSubstr("y (Conv): weight 'w' has 3 dimensions, expected 4 [OC, IC/group, KH, KW]"));
  auto channels = OneNode(13, {1, 3, 8, 8}, "Conv", {"x", "w"});
  channels.Floats("w", {4, 2, 3, 3});
  EXPECT_THAT(channels.ImportError(),
              HasSubstr("input has 3 channels, which does not fit the weight 4x2x3x3"));
  auto bias = OneNode(13, {1, 3, 8, 8}, "Conv", {"x", "w", "b"});
  bias.Floats("w", {4, 3, 3, 3}).Floats("b", {3});
  EXPECT_THAT(bias.ImportError(), HasSubstr("bias 'b' has the shape 3, expected 4"));
  auto kernel = OneNode(13, {1, 3, 2, 8}, "Conv", {"x", "w"});
  kernel.Floats("w", {4, 3, 3, 3});
  EXPECT_THAT(kernel.ImportError(),
              HasSubstr("the window of 3 is larger than the padded input of 2"));
  auto hyper = OneNode(13, {1, 3, 8, 8, 8, 8}, "Conv", {"x", "w"});
  hyper.Floats("w", {4, 3, 3, 3, 3, 3});
  EXPECT_THAT(hyper.ImportError(), HasSubstr("only 1-D and 2-D windows are supported"));
}

TEST(ImportConvTranspose, ComputesShapeAndPads) {
  auto plain = OneNode(13, {1, 4, 5, 5}, "ConvTranspose", {"x", "w"},
                       {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}, {"output_padding", {1, 0}}});
  plain.Floats("w", {4, 3, 3, 3});
  EXPECT_EQ(OutputOf(plain.Import()).shape, (Shape{1, 3, 10, 9}));  // 2*4 + 1 + 3 - 2, 2*4 + 3 - 2

  auto wanted = OneNode(13, {1, 4, 5, 5}, "ConvTranspose", {"x", "w"},
                        {{"strides", {2, 2}}, {"output_shape", {10, 8}}});
  wanted.Floats("w", {4, 3, 3, 3});
  const Graph g = wanted.Import();
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 3, 10, 8}));
  const Window w = std::get<ConvTranspose>(g.nodes()[0].op).window;
  EXPECT_EQ(w.pad_top, 1);  // 11 - 10: the odd one goes before unless SAME_UPPER
  EXPECT_EQ(w.pad_bottom, 0);
  EXPECT_EQ(w.pad_left, 2);
  EXPECT_EQ(w.pad_right, 1);
}

// The output that a convolution with this stride would take back to the input, or less.
TEST(ImportConvTranspose, OutputShapeThatTheInputCannotMakeIsRefused) {
  const auto import = [](std::vector<testing::Attribute> attributes) {
    attributes.push_back({"strides", {2, 2}});
    auto b = OneNode(13, {1, 4, 5, 5}, "ConvTranspose", {"x", "w"}, attributes);
    b.Floats("w", {4, 3, 3, 3});
    return b;
  };
  EXPECT_EQ(OutputOf(import({{"output_shape", {12, 12}}}).Import()).shape, (Shape{1, 3, 12, 12}));
  EXPECT_THAT(import({{"output_shape", {13, 12}}}).ImportError(),
              HasSubstr("output_shape 13 along the rows cannot be made of 5 input elements: "
                        "expected at most 12"));
  EXPECT_THAT(import({{"output_shape", {12, 0}}}).ImportError(),
              HasSubstr("'output_shape' holds 0, expected 1 or more"));
  EXPECT_EQ(OutputOf(import({{"output_shape", {1, 3, 12, 12}}}).Import()).shape,
            (Shape{1, 3, 12, 12}));
  EXPECT_THAT(import({{"output_shape", {1, 4, 12, 12}}}).ImportError(),
              HasSubstr("the output has batch 1 and 3 channels"));
  EXPECT_THAT(import({{"output_padding", {2, 0}}}).ImportError(),
              HasSubstr("output_padding 2 along the rows, expected less than the stride 2"));
  const Graph dilated = import({{"output_padding", {2, 0}}, {"dilations", {3, 3}}}).Import();
  EXPECT_EQ(OutputOf(dilated).shape, (Shape{1, 3, 17, 15}));
}

TEST(ImportConvTranspose, SamePadsOfAKernelSmallerThanTheStrideAreRefused) {
  auto b = OneNode(13, {1, 4, 5, 5}, "ConvTranspose", {"x", "w"},
                   {{"strides", {4, 4}}, {"auto_pad", "SAME_UPPER"}});
  b.Floats("w", {4, 3, 2, 2});
  EXPECT_THAT(b.ImportError(), HasSubstr("the kernel is smaller than the stride"));
}

}  // namespace
}  // namespace rshift
