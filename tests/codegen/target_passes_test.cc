// The passes from graph to graph: whatever the target, the same bytes, by the interpreter of the
// quantizer's tests, which knows a transposed convolution by its definition.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

#include "codegen/passes/merge_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/repeat_channels.h"
#include "codegen/passes/subpixel_transpose.h"
#include "codegen/passes/unroll_width.h"
#include "graph/dump.h"
#include "tests/quantize/little_graph.h"

namespace rshift {
namespace {

// A graph of one convolution of random kind, and inputs for it.
class RandomConvolution {
 public:
  explicit RandomConvolution(uint32_t seed) : random_(seed) {
    Pick(0, 1) == 0 ? Transposed() : Plain();
    graph.Check();
  }

  Graph graph;
  test::Tensors inputs;

 private:
  int64_t Pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
  }

  Value Bytes(const std::string& name, const Shape& shape) {
    const bool is_signed = Pick(0, 1) == 0;
    const int64_t lo = is_signed ? -128 : 0;
    const QuantParams quant{0.5f, static_cast<int32_t>(Pick(lo, lo + 255))};
    return {name, is_signed ? DType::kS8 : DType::kU8, shape, Layout::kNhwc, quant, nullptr};
  }

  ValueId Input(const std::string& name, Value value) {
    const int64_t lo = value.dtype == DType::kS8 ? -128 : 0;
    test::Tensor tensor{value.shape, {}};
    for (int64_t i = 0; i < NumElements(value.shape); ++i) {
      tensor.data.push_back(static_cast<double>(Pick(lo, lo + 255)));
    }
    inputs[name] = std::move(tensor);
    graph.inputs.push_back(graph.AddValue(std::move(value)));
    return graph.inputs.back();
  }

  void Plain() {
    QConv conv;
    conv.groups = Pick(1, 5);
    const int64_t icg = Pick(1, 3), ocg = Pick(1, 4);
    conv.window = {Pick(1, 3), Pick(1, 3), Pick(1, 2), Pick(1, 2), Pick(1, 2),
                   Pick(1, 2), Pick(0, 1), Pick(0, 2), Pick(0, 2), Pick(0, 1)};
    const Shape x = {1, Pick(5, 7), Pick(5, 24), icg * conv.groups};
    const Shape y = test::ConvShape(x, conv.window, ocg * conv.groups);
    Finish(conv, {y[3], icg, conv.window.kernel_h, conv.window.kernel_w}, x, y, false);
  }

  void Transposed() {
    QConv conv;
    conv.groups = Pick(0, 2) == 0 ? Pick(2, 3) : 1;
    const int64_t icg = Pick(1, 3), ocg = Pick(1, 3);
    conv.window = {Pick(1, 4), Pick(1, 4), Pick(1, 3), Pick(1, 3), Pick(1, 2),
                   Pick(1, 2), Pick(0, 3), Pick(0, 3), 0,          0};
    const Shape x = {Pick(1, 2), Pick(2, 4), Pick(2, 5), icg * conv.groups};
    const auto size = [&](int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                          int64_t pad) {
      return std::max<int64_t>(1,
                               (in - 1) * stride + (kernel - 1) * dilation + 1 - pad + Pick(-2, 2));
    };
    const Window& o = conv.window;
    const Shape y = {x[0], size(x[1], o.kernel_h, o.stride_h, o.dilation_h, o.pad_top),
                     size(x[2], o.kernel_w, o.stride_w, o.dilation_w, o.pad_left),
                     ocg * conv.groups};
    Finish(conv, {y[3], icg, o.kernel_h, o.kernel_w}, x, y, true);
  }

  void Finish(QConv conv, const Shape& w, const Shape& x, const Shape& y, bool transposed) {
    std::vector<int8_t> weights(static_cast<size_t>(NumElements(w)));
    for (int8_t& q : weights) q = static_cast<int8_t>(Pick(-128, 127));
    if (Pick(0, 1) == 0) {
      for (int64_t c = 0; c < w[0]; ++c)
        conv.zero_w.push_back(static_cast<int32_t>(Pick(-128, 127)));
    }
    const Value out = Bytes("y", y);
    conv.clamp = out.dtype == DType::kS8 ? ClampQ{-128, 127} : ClampQ{0, 255};
    const bool sum = Pick(0, 2) == 0;
    for (int64_t c = 0; c < w[0]; ++c) {
      const auto bias = static_cast<int32_t>(Pick(-3000, 3000));
      if (sum) {
        conv.channels.push_back(
            {bias, std::bit_cast<int32_t>(0.001f * static_cast<float>(c + 1)), 0});
      } else {
        conv.channels.push_back({bias, static_cast<int32_t>(Pick(1 << 30, 2147483647)), 39});
      }
    }
    std::vector<ValueId> operands = {Input("x", Bytes("x", x))};
    const std::span<const int8_t> all = weights;
    operands.push_back(graph.AddConstant("w", DType::kS8, w, all));
    if (sum) {
      conv.rounding = Rounding::kFloatZeroEven;
      conv.post_ops.push_back({PostOpKind::kSum, 0, 0, 0.75f});
      Value addend = out;
      addend.name = "a";
      operands.push_back(Input("a", addend));
    }
    graph.outputs = {graph.AddValue(out)};
    graph.output_names = {"y"};
    Op op = transposed ? Op(QConvTranspose{conv}) : Op(conv);
    graph.AddNode({"node", std::move(op), operands, {graph.outputs[0]}});
  }

  std::mt19937 random_;
};

// Every form wherever it can be.
ConvForms Eager() {
  ConvForms forms;
  forms.narrow_end = 100000;
  forms.panel_end = 200000;
  forms.unroll_image = 0;
  return forms;
}

TEST(RunTargetPassesTest, TheSameBytesForEveryTarget) {
  std::map<std::string, int> changed;
  for (uint32_t seed = 1; seed <= 1200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomConvolution net(seed);
    const std::vector<double> expected = test::Execute(net.graph, net.inputs).at("y").data;
    for (const auto& [name, forms] : std::map<std::string, std::optional<ConvForms>>{
             {"plain", std::nullopt}, {"cpu", ConvForms{}}, {"eager", Eager()}}) {
      Target target;
      target.conv = forms;
      const Graph shaped = RunTargetPasses(net.graph, target);
      EXPECT_EQ(test::Count<QConvTranspose>(shaped), 0);
      EXPECT_TRUE(shaped.FindValue("y").valid());
      EXPECT_EQ(test::Execute(shaped, net.inputs).at("y").data, expected) << name;
      changed[name] += DumpGraph(shaped) != DumpGraph(net.graph);
    }
  }
  EXPECT_GT(changed["plain"], 400);
  EXPECT_GT(changed["cpu"], changed["plain"] + 100);
  EXPECT_GT(changed["eager"], changed["plain"] + 100);
}

TEST(RunTargetPassesTest, EachPassFindsNothingMoreTheSecondTime) {
  const ConvForms forms = Eager();
  const std::map<std::string, std::function<Graph(const Graph&)>> passes = {
      {"unroll", [&](const Graph& g) { return UnrollWidth(g, forms); }},
      {"repeat", [&](const Graph& g) { return RepeatChannels(g, forms); }},
      {"merge", [&](const Graph& g) { return MergeGroups(g, forms); }},
      {"subpixel", [&](const Graph& g) { return SubpixelTranspose(g, forms); }}};
  std::map<std::string, int> changed;
  for (uint32_t seed = 1; seed <= 800; ++seed) {
    SCOPED_TRACE(seed);
    const RandomConvolution net(seed);
    for (const auto& [name, pass] : passes) {
      const Graph once = pass(net.graph);
      changed[name] += DumpGraph(once) != DumpGraph(net.graph);
      EXPECT_EQ(DumpGraph(pass(once)), DumpGraph(once)) << name;
    }
  }
  for (const auto& [name, pass] : passes) EXPECT_GT(changed[name], 10) << name;
}

TEST(RunTargetPassesTest, WithoutFormsAConvolutionStaysAsItIs) {
  Target plain;
  plain.conv.reset();
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    const RandomConvolution net(seed);
    if (test::Count<QConv>(net.graph) == 0) continue;
    EXPECT_EQ(DumpGraph(RunTargetPasses(net.graph, plain)), DumpGraph(net.graph)) << seed;
  }
}

// Two convolutions that read the same weights.
TEST(RunTargetPassesTest, WeightsOfTwoConvolutionsAreShapedForEach) {
  Graph graph;
  const QuantParams quant{0.5f, 3};
  const auto image = [&](const char* name, int64_t channels) {
    return graph.AddValue({name, DType::kS8, {1, 4, 4, channels}, Layout::kNhwc, quant, nullptr});
  };
  const ValueId x = image("x", 4);
  graph.inputs = {x};
  const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6, 7, 8};
  const ValueId w =
      graph.AddConstant("w", DType::kS8, {4, 2, 1, 1}, std::span<const int8_t>(weights));
  QConv conv;
  conv.groups = 2;
  conv.channels.assign(4, {0, 1 << 30, 34});
  const ValueId a = image("a", 4), b = image("b", 4);
  graph.AddNode({"a", conv, {x, w}, {a}});
  graph.AddNode({"b", conv, {a, w}, {b}});
  graph.outputs = {b};
  graph.output_names = {"b"};
  const Graph shaped = RunTargetPasses(graph, Target{});
  EXPECT_EQ(test::Only<QConv>(shaped).groups, 1);
  test::Tensors inputs;
  inputs["x"] = {{1, 4, 4, 4}, std::vector<double>(64, 17)};
  EXPECT_EQ(test::Execute(shaped, inputs).at("b").data, test::Execute(graph, inputs).at("b").data);
}

}  // namespace
}  // namespace rshift
