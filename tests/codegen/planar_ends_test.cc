// Float operators between two Transposes lose them, compute the same without, and keep them where
// a neighbour wants NHWC.
#include "codegen/passes/planar_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "codegen/container/container.h"
#include "runtime/runtime.h"
#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

const std::vector<int64_t> kToNhwc = {0, 2, 3, 1}, kToPlain = {0, 3, 1, 2};

Kind PlainOf(const Shape& nhwc) { return F32({nhwc[0], nhwc[3], nhwc[1], nhwc[2]}); }

// x in ONNX order, put into NHWC as xt.
struct Net : TestGraph {
  ValueId NhwcInput(const std::string& name, const Shape& nhwc) {
    return Node(name + "t", Nhwc(nhwc), Transpose{kToNhwc}, {Input(name, PlainOf(nhwc))});
  }
  Net& Result(const std::string& name, ValueId nhwc) {
    const Shape shape = graph.value(nhwc).shape;
    Output(Node(name, PlainOf(shape), Transpose{kToPlain}, {nhwc}));
    return *this;
  }
};

AveragePool GlobalMean(const Shape& nhwc) {
  AveragePool pool;
  pool.window.kernel_h = nhwc[1];
  pool.window.kernel_w = nhwc[2];
  pool.global = true;
  return pool;
}

MaxPool Highest(int64_t kernel, int64_t stride, int64_t pad) {
  MaxPool pool;
  pool.window = {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad};
  return pool;
}

Resize Nearest(float height, float width) {
  Resize resize;
  resize.mode = ResizeMode::kNearest;
  resize.coordinate = CoordinateMode::kAsymmetric;
  resize.nearest = NearestMode::kFloor;
  resize.scales = {1, height, width, 1};
  return resize;
}

Net ResizeNet(float height, float width) {
  Net net;
  const Shape x = {2, 5, 7, 3};
  const Shape y = {2, static_cast<int64_t>(5 * height), static_cast<int64_t>(7 * width), 3};
  const ValueId resized = net.Node("y", Nhwc(y), Nearest(height, width), {net.NhwcInput("x", x)});
  net.Result("out", resized);
  return net;
}

Net PoolNet(const Shape& x, int64_t kernel, int64_t stride, int64_t pad) {
  Net net;
  const auto out = [&](int64_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  const ValueId pooled = net.Node("y", Nhwc({x[0], out(x[1]), out(x[2]), x[3]}),
                                  Highest(kernel, stride, pad), {net.NhwcInput("x", x)});
  net.Result("out", pooled);
  return net;
}

ValueId Numbers(Net* net, const std::string& name, const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-2, 2);
  std::vector<float> numbers(static_cast<size_t>(NumElements(shape)));
  for (float& number : numbers) number = values(random);
  return net->Floats(name, shape, numbers);
}

// groups: 1 or the channels.
Net ConvNet(const Shape& x, int64_t channels, int64_t groups, int64_t kernel, int64_t stride,
            bool bias = true, int64_t more_pad = 0) {
  Net net;
  const int64_t pad = kernel / 2 + more_pad;
  const auto out = [&](int64_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  Conv conv;
  conv.window = {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad};
  conv.groups = groups;
  conv.clamp = {-4, 6};
  std::vector<ValueId> inputs = {net.NhwcInput("x", x),
                                 Numbers(&net, "w", {channels, x[3] / groups, kernel, kernel}, 1)};
  if (bias) inputs.push_back(Numbers(&net, "b", {channels}, 2));
  const ValueId y = net.Node("y", Nhwc({x[0], out(x[1]), out(x[2]), channels}), conv, inputs);
  net.Result("out", y);
  return net;
}

// x scale + offset, of channels.
Net ScaleNet(const Shape& x, bool read_elsewhere = false) {
  Net net;
  const Shape channels = {x[1], 1, 1};
  const ValueId product = net.Node("product", F32(x), Binary{BinaryOp::kMul, {}},
                                   {net.Input("x", F32(x)), Numbers(&net, "scale", channels, 1)});
  const ValueId sum = net.Node("y", F32(x), Binary{BinaryOp::kAdd, {0, 5}},
                               {product, Numbers(&net, "offset", channels, 2)});
  net.Output(sum);
  if (read_elsewhere) net.Output(net.Node("z", F32(x), Unary(UnaryOp::kTanh), {product}));
  return net;
}

// Of squeeze and excite: channels weighted by a function of their means.
Net ExciteNet(bool read_elsewhere = false) {
  Net net;
  const Shape x = {2, 6, 5, 19}, one = {2, 1, 1, 19};
  const ValueId xt = net.NhwcInput("x", x);
  const ValueId mean = net.Node("mean", Nhwc(one), GlobalMean(x), {xt});
  const ValueId weight = net.Node("weight", Nhwc(one), Unary(UnaryOp::kSigmoid), {mean});
  const ValueId product = net.Node("y", Nhwc(x), Binary{BinaryOp::kMul, {}}, {xt, weight});
  net.Result("out", product);
  if (read_elsewhere) net.Output(net.Node("z", Nhwc(x), Unary(UnaryOp::kTanh), {xt}));
  return net;
}

int64_t Transposes(const ProgramImage& image) {
  const std::vector<Opcode> opcodes = OpcodesOf(image);
  return std::count(opcodes.begin(), opcodes.end(), Opcode::kTranspose);
}

std::vector<float> OutputOf(const ProgramImage& image, int threads, Isa isa) {
  const Program program = Program::FromBytes(WriteContainer(image));
  Session session(program, {.threads = threads, .isa = isa, .least_share_ns = 0, .portable = true});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-3, 3);
  const std::span<std::byte> input = session.Input(0);
  for (size_t at = 0; at < input.size(); at += sizeof(float)) {
    const float value = values(random);
    std::memcpy(input.data() + at, &value, sizeof value);
  }
  session.Run();
  const std::span<const std::byte> output = session.Output(0);
  std::vector<float> result(output.size() / sizeof(float));
  std::memcpy(result.data(), output.data(), output.size());
  return result;
}

void ExpectPlanar(const Net& net) {
  const ProgramImage planar = CompileChecked(net);
  EXPECT_EQ(Transposes(planar), 0) << Disassemble(planar);
  const ProgramImage plain = Compile(net.graph, {.observable = false, .fuse = false, .meta = {}});
  EXPECT_GT(Transposes(plain), 1);
  const std::vector<float> expected = OutputOf(plain, 1, Isa::kScalar);
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni}) {
    if (!CpuSupports(isa)) continue;
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(OutputOf(planar, threads, isa), expected)
          << Name(isa) << ", " << threads << " threads";
    }
  }
}

TEST(PlanarEnds, NearestResize) {
  for (const float height : {1.0f, 2.0f, 3.0f, 1.6f})
    for (const float width : {1.0f, 2.0f, 5.0f, 1.5f})
      if (height != 1 || width != 1) ExpectPlanar(ResizeNet(height, width));
}

TEST(PlanarEnds, HighestOfAWindow) {
  for (const int64_t kernel : {2, 3})
    for (const int64_t stride : {1, 2})
      for (const int64_t pad : {0, 1})
        for (const int64_t width : {68, 71, 79, 600}) {
          SCOPED_TRACE(kernel * 10 + stride);
          ExpectPlanar(PoolNet({2, 6, width, 3}, kernel, stride, pad));
        }
}

TEST(PlanarEnds, OneFilterForEachChannel) {
  for (const int64_t kernel : {3, 5, 7})
    for (const int64_t stride : {1, 2})
      for (const int64_t width : {28, 33, 70, 150}) {
        if (kernel == 7 && stride == 2) continue;
        SCOPED_TRACE(kernel * 10 + stride);
        ExpectPlanar(ConvNet({2, 11, width, 5}, 5, 5, kernel, stride, stride != 2));
      }
}

TEST(PlanarEnds, WindowsOfOnePixel) {
  ExpectPlanar(ConvNet({2, 10, 11, 16}, 21, 1, 1, 1));
  ExpectPlanar(ConvNet({1, 20, 31, 7}, 3, 1, 1, 1, false));
}

TEST(PlanarEnds, SqueezeAndExcite) { ExpectPlanar(ExciteNet()); }

TEST(PlanarEnds, NeighboursThatWantNhwcKeepIt) {
  EXPECT_EQ(Transposes(CompileChecked(ExciteNet(true))), 2);
  // Rows too short for the loops over them, and windows without any.
  EXPECT_EQ(Transposes(CompileChecked(PoolNet({1, 8, 8, 4}, 3, 2, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(PoolNet({1, 40, 70, 4}, 4, 2, 1))), 2);
  // Convolutions over many channels, of other windows, of few groups, of narrow images.
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 30, 64}, 8, 1, 1, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 30, 4}, 4, 1, 3, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 30, 6}, 6, 2, 3, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 30, 4}, 4, 4, 4, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 30, 4}, 4, 4, 3, 3))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 30, 14, 4}, 4, 4, 3, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 7, 7, 4}, 4, 1, 1, 1))), 2);
  // Single pixels with strides, whose pads make as many outputs as inputs.
  EXPECT_EQ(Transposes(CompileChecked(ConvNet({1, 28, 28, 8}, 16, 1, 1, 2, true, 14))), 2);
  Net twice = ResizeNet(2, 2);
  const ValueId y = twice.graph.FindValue("y");
  twice.Output(twice.Node("z", Nhwc({2, 10, 14, 3}), Unary(UnaryOp::kTanh), {y}));
  EXPECT_EQ(Transposes(CompileChecked(twice)), 2);
}

TEST(PlanarEnds, ObservedValuesStay) {
  EXPECT_EQ(Transposes(CompileChecked(ResizeNet(2, 2), true)), 2);
}

TEST(PlanarEnds, ASecondTimeChangesNothing) {
  const Graph once = PlanarEnds(ExciteNet().graph);
  EXPECT_EQ(PlanarEnds(once).nodes().size(), once.nodes().size());
}

TEST(ScalePlanes, ProductAndSumAreOneCommand) {
  for (const Shape& x : {Shape{2, 5, 7, 9}, Shape{1, 19, 14, 14}, Shape{3, 2, 40, 33}}) {
    const Net net = ScaleNet(x);
    const ProgramImage one = CompileChecked(net);
    EXPECT_EQ(OpcodesOf(one), std::vector{Opcode::kConvPlanarF32});
    const ProgramImage two = Compile(net.graph, {.observable = false, .fuse = false, .meta = {}});
    EXPECT_EQ(OpcodesOf(two), (std::vector{Opcode::kBinaryF32, Opcode::kBinaryF32}));
    const std::vector<float> expected = OutputOf(two, 1, Isa::kScalar);
    for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512Vnni}) {
      if (!CpuSupports(isa)) continue;
      EXPECT_EQ(OutputOf(one, 2, isa), expected) << Name(isa);
    }
  }
}

TEST(ScalePlanes, AProductThatOthersReadStays) {
  const std::vector<Opcode> opcodes = OpcodesOf(CompileChecked(ScaleNet({2, 5, 7, 9}, true)));
  EXPECT_EQ(std::count(opcodes.begin(), opcodes.end(), Opcode::kBinaryF32), 2);
  EXPECT_EQ(OpcodesOf(CompileChecked(ScaleNet({2, 5, 7, 9}), true)),
            (std::vector{Opcode::kBinaryF32, Opcode::kBinaryF32}));
}

// What a function alone reads is written where the function's result will be.
TEST(ReuseInPlace, AChainOfFunctionsTouchesTwoBuffers) {
  TestGraph net;
  const Kind kind = F32({4, 1000});
  const ValueId x = net.Input("x", kind);
  const ValueId a = net.Node("a", kind, Binary{BinaryOp::kAdd, {}}, {x, x});
  const ValueId b = net.Node("b", kind, Unary(UnaryOp::kTanh), {a});
  const ValueId c = net.Node("c", kind, Binary{BinaryOp::kMul, {}}, {b, x});
  net.Output(c);
  const ProgramImage image = CompileChecked(net);
  EXPECT_EQ(RecordOf(image, "a").offset, RecordOf(image, "c").offset);
  EXPECT_EQ(RecordOf(image, "b").offset, RecordOf(image, "c").offset);
  const ProgramImage plain = Compile(net.graph, {.observable = false, .fuse = false, .meta = {}});
  EXPECT_LT(image.arena_size, plain.arena_size);
  EXPECT_EQ(OutputOf(image, 2, BestIsa()), OutputOf(plain, 1, Isa::kScalar));
}

TEST(ReuseInPlace, WhatOthersReadStays) {
  TestGraph net;
  const Kind kind = F32({4, 1000});
  const ValueId x = net.Input("x", kind);
  const ValueId a = net.Node("a", kind, Unary(UnaryOp::kTanh), {x});
  const ValueId b = net.Node("b", kind, Unary(UnaryOp::kAbs), {a});
  net.Output(b).Output(net.Node("c", kind, Binary{BinaryOp::kMul, {}}, {a, b}));
  const ProgramImage image = CompileChecked(net);
  EXPECT_NE(RecordOf(image, "a").offset, RecordOf(image, "b").offset);
  EXPECT_NE(RecordOf(image, "b").offset, RecordOf(image, "c").offset);
}

}  // namespace
}  // namespace rshift
