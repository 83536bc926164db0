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

TEST(ImportPool, CeilModeRoundsUpButNoWindowStartsBehindTheImage) {
  const auto size = [](int64_t in, int kernel, int stride, int pad, int ceil) {
    const Graph g = OneNode(13, {1, 1, in, in}, "MaxPool", {"x"},
                            {{"kernel_shape", {kernel, kernel}},
                             {"strides", {stride, stride}},
                             {"pads", {pad, pad, pad, pad}},
                             {"ceil_mode", ceil}})
                        .Import();
    return OutputOf(g).shape[2];
  };
  EXPECT_EQ(size(6, 3, 2, 0, 0), 2);
  EXPECT_EQ(size(6, 3, 2, 0, 1), 3);
  EXPECT_EQ(size(3, 2, 2, 1, 0), 2);
  // (2 + 2 - 2) / 3 rounded up is 1 window more, but it starts at 3 >= 2 + 1.
  EXPECT_EQ(size(2, 2, 3, 1, 1), 1);
}

TEST(ImportPool, RefusesWindowsWithoutAPixel) {
  const auto error = [](int64_t size, int kernel, int pad, int dilation) {
    return OneNode(13, {1, 1, size, size}, "MaxPool", {"x"},
                   {{"kernel_shape", {kernel, kernel}},
                    {"dilations", {dilation, dilation}},
                    {"pads", {pad, pad, pad, pad}}})
        .ImportError();
  };
  EXPECT_EQ(error(6, 2, 1, 1), "no error");
  EXPECT_NE(error(6, 2, 2, 1)
                .find("the pads of the height are 2 and 2, expected less than the "
                      "window's 2"),
            std::string::npos);
  EXPECT_EQ(error(6, 2, 2, 2), "no error");
  // From -1 in steps of 4: -1 and 3.
  EXPECT_NE(error(3, 2, 1, 4).find("dilation 4 is larger than the height of 3"), std::string::npos);
}

TEST(ImportPool, AveragePoolKeepsCountIncludePad) {
  const Graph g =
      OneNode(13, {1, 2, 5, 5}, "AveragePool", {"x"},
              {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}, {"count_include_pad", 1}})
          .Import();
  EXPECT_TRUE(std::get<AveragePool>(g.nodes()[0].op).count_include_pad);
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 2, 5, 5}));
}

TEST(ImportPool, GlobalPoolingTakesTheWholeImage) {
  const Graph g = OneNode(13, {1, 8, 7, 9}, "GlobalAveragePool", {"x"}).Import();
  const Window w = std::get<AveragePool>(g.nodes()[0].op).window;
  EXPECT_EQ(w.kernel_h, 7);
  EXPECT_EQ(w.kernel_w, 9);
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 8, 1, 1}));
  const Graph volume = OneNode(13, {1, 8, 2, 3, 4}, "GlobalMaxPool", {"x"}).Import();
  EXPECT_EQ(OpsOf(volume), "Reshape MaxPool Reshape");
  EXPECT_EQ(OutputOf(volume).shape, (Shape{1, 8, 1, 1, 1}));
}

TEST(ImportPool, OneDimensional) {
  const Graph g =
      OneNode(13, {1, 8, 10}, "MaxPool", {"x"}, {{"kernel_shape", {2}}, {"strides", {2}}}).Import();
  EXPECT_EQ(OpsOf(g), "Reshape MaxPool Reshape");
  EXPECT_EQ(OutputOf(g).shape, (Shape{1, 8, 5}));
}

TEST(ImportPool, MakesIndicesOnlyWhenSomebodyReadsThem) {
  ModelBuilder unread(13);
  unread.Input("x", {1, 1, 4, 4}).Node("MaxPool", {"x"}, {"y", "i"}, {{"kernel_shape", {2, 2}}});
  unread.Output("y");
  EXPECT_EQ(OpsOf(unread.Import()), "MaxPool");
  unread.Output("i");
  const Graph both = unread.Import();
  const Value& indices = both.value(both.outputs[1]);
  EXPECT_EQ(indices.dtype, DType::kS64);
  EXPECT_EQ(indices.shape, (Shape{1, 1, 3, 3}));
}

}  // namespace
}  // namespace rshift
