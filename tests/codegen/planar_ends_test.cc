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

TEST(PlanarEnds, SqueezeAndExcite) { ExpectPlanar(ExciteNet()); }

TEST(PlanarEnds, NeighboursThatWantNhwcKeepIt) {
  EXPECT_EQ(Transposes(CompileChecked(ExciteNet(true))), 2);
  // Rows too short for the loops over them, and windows without any.
  EXPECT_EQ(Transposes(CompileChecked(PoolNet({1, 8, 8, 4}, 3, 2, 1))), 2);
  EXPECT_EQ(Transposes(CompileChecked(PoolNet({1, 40, 70, 4}, 4, 2, 1))), 2);
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
