#include <gtest/gtest.h>

#include "quantize/ops/ops.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

struct Case {
  int64_t kernel, stride, dilation, groups;
};

LittleGraph Build(const Case& c) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 2, 2, 2});
  const ValueId w = little.RandomConstant("w", {2, 2 / c.groups, c.kernel, c.kernel}, -1, 1);
  const int64_t size = c.stride + (c.kernel - 1) * c.dilation + 1;
  const Window window{c.kernel, c.kernel, c.stride, c.stride, c.dilation, c.dilation, 0, 0, 0, 0};
  little.Output(
      little.Add("y", ConvTranspose{window, c.groups, 0, 0, {}}, {x, w}, {1, size, size, 2}));
  return little;
}

OpSupport Support(const Case& c) {
  const LittleGraph little = Build(c);
  const Node& node = little.graph().nodes()[0];
  return SupportConvTranspose(little.graph(), node, std::get<ConvTranspose>(node.op));
}

TEST(ConvTransposeTest, IsEmittedAsOneNodeWithItsWindowAndOutputChannelsFirst) {
  LittleGraph little;
  const ValueId x = little.Input("x", {1, 2, 3, 2});
  const ValueId w = little.Constant("w", {2, 3, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 127});
  const Window window{1, 2, 1, 2, 1, 1, 0, 0, 0, 0};
  little.Output(little.Add("y", ConvTranspose{window, 1, 0, 0, {}}, {x, w}, {1, 2, 6, 3}));
  CalibrationTable table;
  table.tensors.push_back({"x", {-1, 1, 1, -1, 1, "minmax"}});
  table.tensors.push_back({"y", {-1, 1, 1, -1, 1, "minmax"}});
  QuantizeOptions options;
  options.target.per_channel_weights = false;
  const QuantizeResult r = QuantizeGraph(little.graph(), table, options);
  EXPECT_EQ(Only<QConvTranspose>(r.graph).conv.window, window);
  const Value& weights = r.graph.value(r.graph.FindValue("w__q"));
  EXPECT_EQ(weights.shape, (Shape{3, 2, 1, 2}));
  const auto bytes = weights.constant->As<int8_t>();  // [IC, OC, 1, 2] -> [OC, IC, 1, 2]
  EXPECT_EQ(std::vector<int>(bytes.begin(), bytes.end()),
            (std::vector<int>{1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 127}));
}

TEST(ConvTransposeTest, LargeStridesAreIntegersWhereFewConvolutionsDo) {
  EXPECT_EQ(Support({64, 64, 1, 1}).kind, OpKind::kAlways);
  EXPECT_EQ(Support({3, 64, 2, 1}).kind, OpKind::kAlways);
  EXPECT_EQ(Support({2, 33, 2, 1}).kind, OpKind::kAlways);
  EXPECT_EQ(Support({4, 32, 1, 2}).kind, OpKind::kAlways);
}

TEST(ConvTransposeTest, MoreThanAThousandConvolutionsStayFloat) {
  const std::string many = "its strides would need more than 1024 convolutions";
  EXPECT_EQ(Support({4, 33, 1, 2}).reason, many);   // groups: one for each phase
  EXPECT_EQ(Support({40, 33, 2, 1}).reason, many);  // every phase reads elsewhere
  EXPECT_EQ(Support({1, 4097, 1, 1}).reason, "its stride is above 4096");
}

}  // namespace
}  // namespace rshift::test
