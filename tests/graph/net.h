// Test helper: writes small graphs by hand, with output shapes worked out for the common operators,
// and compares two graphs by running both on random inputs.
#ifndef RSHIFT_TESTS_GRAPH_NET_H_
#define RSHIFT_TESTS_GRAPH_NET_H_

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tests/graph/reference.h"

namespace rshift {

class Net {
 public:
  explicit Net(uint32_t seed = 1) : random_(seed) {}

  ValueId Input(const std::string& name, Shape shape) {
    const ValueId id =
        graph.AddValue({name, DType::kF32, std::move(shape), Layout::kPlain, {}, nullptr});
    graph.inputs.push_back(id);
    return id;
  }
  ValueId Floats(Shape shape, std::vector<float> numbers) {
    return graph.AddConstant<float>(Next("c"), DType::kF32, std::move(shape), numbers);
  }
  ValueId Scalar(float number) { return Floats({}, {number}); }
  ValueId Random(Shape shape, float lo = -1.0f, float hi = 1.0f) {
    std::uniform_real_distribution<float> uniform(lo, hi);
    std::vector<float> numbers(static_cast<size_t>(NumElements(shape)));
    for (float& x : numbers) x = uniform(random_);
    return Floats(std::move(shape), std::move(numbers));
  }
  ValueId Integers(Shape shape, std::vector<int64_t> numbers) {
    return graph.AddConstant<int64_t>(Next("c"), DType::kS64, std::move(shape), numbers);
  }
  const Shape& ShapeOf(ValueId id) const { return graph.value(id).shape; }

  // Any operator; the value is named v1, v2, ... unless `name` is given.
  ValueId Add(Op op, std::vector<ValueId> inputs, Shape shape, const std::string& name = "",
              DType dtype = DType::kF32) {
    const std::string own = name.empty() ? Next("v") : name;
    const ValueId out = graph.AddValue({own, dtype, std::move(shape), Layout::kPlain, {}, nullptr});
    graph.AddNode({Cat("node_", own), std::move(op), std::move(inputs), {out}});
    return out;
  }
  // Same shape as the first input.
  ValueId Like(Op op, std::vector<ValueId> inputs, const std::string& name = "") {
    const Shape shape = ShapeOf(inputs[0]);
    return Add(std::move(op), std::move(inputs), shape, name);
  }
  ValueId Bin(BinaryOp op, ValueId a, ValueId b, const std::string& name = "") {
    return Add(Binary{op, {}}, {a, b}, Broadcast(ShapeOf(a), ShapeOf(b), "test"), name);
  }
  ValueId Relu(ValueId x, const std::string& name = "") {
    return Like(Clip{{0.0f, std::numeric_limits<float>::infinity()}}, {x}, name);
  }

  static Shape Pooled(const Shape& in, const Window& w, int64_t channels) {
    const auto size = [](int64_t n, int64_t pads, int64_t kernel, int64_t dilation,
                         int64_t stride) {
      return (n + pads - (kernel - 1) * dilation - 1) / stride + 1;
    };
    return {in[0], channels,
            size(in[2], w.pad_top + w.pad_bottom, w.kernel_h, w.dilation_h, w.stride_h),
            size(in[3], w.pad_left + w.pad_right, w.kernel_w, w.dilation_w, w.stride_w)};
  }
  ValueId ConvOf(ValueId x, int64_t channels, Window window = {}, int64_t groups = 1,
                 bool bias = true, const std::string& name = "") {
    const Shape in = ShapeOf(x);
    std::vector<ValueId> inputs = {
        x, Random({channels, in[1] / groups, window.kernel_h, window.kernel_w})};
    if (bias) inputs.push_back(Random({channels}));
    return Add(Conv{window, groups, {}}, std::move(inputs), Pooled(in, window, channels), name);
  }
  ValueId PoolOf(ValueId x, Op op, const Window& window, const std::string& name = "") {
    return Add(std::move(op), {x}, Pooled(ShapeOf(x), window, ShapeOf(x)[1]), name);
  }
  ValueId ReshapeTo(ValueId x, Shape shape, const std::string& name = "") {
    return Add(Reshape{}, {x}, std::move(shape), name);
  }
  ValueId TransposeOf(ValueId x, std::vector<int64_t> perm, const std::string& name = "") {
    Shape shape;
    for (int64_t p : perm) shape.push_back(ShapeOf(x)[p]);
    return Add(Transpose{std::move(perm)}, {x}, std::move(shape), name);
  }
  ValueId Dense(ValueId x, int64_t outputs, const std::string& name = "") {
    Shape shape = ShapeOf(x);
    const ValueId w = Random({shape.back(), outputs});
    shape.back() = outputs;
    return Add(MatMul{}, {x, w, Random({outputs})}, std::move(shape), name);
  }
  ValueId BatchNormOf(ValueId x, const std::string& name = "") {
    const Shape c = {ShapeOf(x)[1]};
    return Like(BatchNorm{1e-3f},
                {x, Random(c, 0.5f, 1.5f), Random(c), Random(c), Random(c, 0.5f, 2.0f)}, name);
  }
  // A channel shuffle as exporters write it.
  ValueId Shuffle(ValueId x, int64_t groups, const std::string& name = "") {
    const Shape s = ShapeOf(x);
    const ValueId split = ReshapeTo(x, {s[0], groups, s[1] / groups, s[2], s[3]});
    return ReshapeTo(TransposeOf(split, {0, 2, 1, 3, 4}), s, name);
  }

  Graph Done(const std::vector<ValueId>& outputs) {
    graph.outputs = outputs;
    for (ValueId id : outputs) graph.output_names.push_back(graph.value(id).name);
    graph.Check();
    return graph;
  }

  Graph graph;

 private:
  std::string Next(const std::string& prefix) { return Cat(prefix, ++count_); }
  std::mt19937 random_;
  int count_ = 0;
};

inline int Count(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += OpName(node.op) == op ? 1 : 0;
  return count;
}

// "Conv Transpose Softmax"
inline std::string Ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) text += Cat(text.empty() ? "" : " ", OpName(node.op));
  return text;
}

inline std::set<std::string> Names(const Graph& graph) {
  std::set<std::string> names;
  for (int i = 0; i < graph.value_count(); ++i) names.insert(graph.value(ValueId(i)).name);
  return names;
}

inline std::map<std::string, reference::Tensor> RandomInputs(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  std::map<std::string, reference::Tensor> inputs;
  for (ValueId id : graph.inputs) {
    reference::Tensor t = reference::Zeros(graph.value(id).shape);
    for (double& x : t.data) x = uniform(random);
    inputs[graph.value(id).name] = std::move(t);
  }
  return inputs;
}

inline void ExpectNear(const reference::Tensor& a, const reference::Tensor& b,
                       const std::string& what) {
  ASSERT_EQ(a.shape, b.shape) << what;
  for (size_t i = 0; i < a.data.size(); ++i) {
    ASSERT_NEAR(a.data[i], b.data[i], 1e-4 * (1.0 + std::abs(a.data[i]))) << what << " at " << i;
  }
}

// Same outputs in the same order; and every value that keeps its name and means the same (which a
// pass says by `observed`) has the same content under it.
inline void ExpectSameResults(const Graph& before, const Graph& after, bool observed = false) {
  after.Check();
  ASSERT_EQ(before.output_names, after.output_names);
  const auto inputs = RandomInputs(before, 7);
  const auto want = reference::Run(before, inputs);
  const auto got = reference::Run(after, inputs);
  for (const auto& [name, tensor] : want) ExpectNear(tensor, got.at(name), Cat("output ", name));
  if (!observed) return;
  const auto all_want = reference::RunAll(before, inputs);
  for (const auto& [name, tensor] : reference::RunAll(after, inputs)) {
    if (all_want.contains(name)) ExpectNear(all_want.at(name), tensor, Cat("value ", name));
  }
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_GRAPH_NET_H_
