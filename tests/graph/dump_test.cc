#include "graph/dump.h"

#include <gmock/gmock.h>

#include "tests/graph/net.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

TEST(DumpGraph, OneLinePerValueAndNode) {
  Net net;
  net.graph.name = "tiny";
  const ValueId x = net.Input("x", {1, 2, 5, 7});
  const Window window{.kernel_h = 3, .kernel_w = 2, .stride_h = 2, .pad_left = 1};
  const ValueId w = net.Floats({4, 1, 3, 2}, std::vector<float>(24, 0.5f));
  const ValueId y = net.Add(Conv{window, 2, {0.0f, 6.0f}}, {x, w}, {1, 4, 2, 7}, "y");
  const ValueId z = net.Bin(BinaryOp::kMul, y, net.Scalar(0.1f), "z");
  EXPECT_EQ(DumpGraph(net.Done({z})),
            "graph tiny\n"
            "input x: f32[1x2x5x7]\n"
            "const c1: f32[4x1x3x2] #7b6f5b309a3e6ee5\n"
            "const c2: f32[scalar] = 0.1\n"
            "node y: f32[1x4x2x7] = Conv(x, c1) kernel=3x2 stride=2x1 pads=[0,1,0,0] groups=2 "
            "clamp=[0,6]\n"
            "node z: f32[1x4x2x7] = Mul(y, c2)\n"
            "output z = z\n");
}

TEST(DumpGraph, ShowsLayoutQuantizationAndOmittedInputs) {
  Net net;
  const ValueId x = net.Input("x", {1, 5, 7, 2});
  net.graph.value(x).layout = Layout::kNhwc;
  net.graph.value(x).dtype = DType::kS8;
  net.graph.value(x).quant = QuantParams{0.0078125f, -3};
  const ValueId y = net.Like(QTable{}, {x, ValueId()}, "y");
  const std::string dump = DumpGraph(net.Done({y}));
  EXPECT_THAT(dump, HasSubstr("input x: s8[1x5x7x2] nhwc scale=0.0078125 zero=-3\n"));
  EXPECT_THAT(dump, HasSubstr("(x, -) table=[0,0,"));
}

TEST(DumpGraph, DiffersWhenAWeightDiffers) {
  const auto dump = [](float last) {
    Net net;
    return DumpGraph(
        net.Done({net.Bin(BinaryOp::kAdd, net.Input("x", {2}), net.Floats({2}, {1, last}))}));
  };
  EXPECT_EQ(dump(2.0f), dump(2.0f));
  EXPECT_NE(dump(2.0f), dump(2.0000002f));
}

TEST(DumpGraph, NumbersReadBack) {
  for (const float number : {0.1f, 1.0f / 3, 16777217.0f, 1e-30f, -0.0f}) {
    Net net;
    const std::string dump =
        DumpGraph(net.Done({net.Bin(BinaryOp::kAdd, net.Input("x", {2}), net.Scalar(number))}));
    const size_t at = dump.find(" = ") + 3;
    EXPECT_EQ(std::stof(dump.substr(at)), number);
  }
}

}  // namespace
}  // namespace rshift
