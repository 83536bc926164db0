// RecognizePatterns: each decomposition as exporters write it, with factors and constants on both
// sides.
#include <cmath>
#include <limits>

#include "graph/dump.h"
#include "graph/passes/passes.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

constexpr float kSqrtTwoOverPi = 0.7978845608f;

void ExpectBecomes(const Graph& before, const std::string& ops) {
  const Graph after = RecognizePatterns(before);
  EXPECT_EQ(Ops(after), ops) << DumpGraph(after);
  ExpectSameResults(before, after, /*observed=*/true);
}

TEST(Patterns, Silu) {
  for (bool swap : {false, true}) {
    Net net;
    const ValueId x = net.Input("x", {2, 3, 4});
    const ValueId s = net.Like(Unary{UnaryOp::kSigmoid}, {x});
    ExpectBecomes(
        net.Done({swap ? net.Bin(BinaryOp::kMul, s, x, "y") : net.Bin(BinaryOp::kMul, x, s, "y")}),
        "Silu");
  }
}

TEST(Patterns, SigmoidOfSomethingElseIsNoSilu) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 4});
  const ValueId gate = net.Like(Unary{UnaryOp::kSigmoid}, {net.Relu(x)});
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kMul, x, gate, "y")}), "Clip Sigmoid Mul");
}

TEST(Patterns, GateThatLeavesTheGraphStays) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 4});
  const ValueId gate = net.Like(Unary{UnaryOp::kSigmoid}, {x}, "gate");
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kMul, x, gate, "y"), gate}), "Sigmoid Mul");
}

TEST(Patterns, Mish) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 4});
  const ValueId gate = net.Like(Unary{UnaryOp::kTanh}, {net.Like(Unary{UnaryOp::kSoftplus}, {x})});
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kMul, x, gate, "y")}), "Mish");
}

ValueId Relu6OfXPlus3(Net& net, ValueId x, bool swap) {
  const ValueId three = net.Scalar(3.0f);
  const ValueId sum = swap ? net.Bin(BinaryOp::kAdd, three, x) : net.Bin(BinaryOp::kAdd, x, three);
  return net.Like(Clip{{0.0f, 6.0f}}, {sum});
}

TEST(Patterns, HardSwishInEveryOrder) {
  for (bool swap : {false, true}) {
    Net net;
    const ValueId x = net.Input("x", {2, 3, 4});
    const ValueId six = net.Floats({1}, {6.0f});
    const ValueId a =
        net.Bin(BinaryOp::kDiv, net.Bin(BinaryOp::kMul, x, Relu6OfXPlus3(net, x, swap)), six);
    const ValueId b =
        net.Bin(BinaryOp::kMul, net.Bin(BinaryOp::kDiv, Relu6OfXPlus3(net, x, swap), six), x);
    const ValueId c = net.Bin(BinaryOp::kMul, net.Scalar(1.0f / 6),
                              net.Bin(BinaryOp::kMul, Relu6OfXPlus3(net, x, swap), x));
    const ValueId d =
        net.Bin(BinaryOp::kMul, x, net.Like(Unary{UnaryOp::kHardSigmoid, 1.0f / 6, 0.5f}, {x}));
    const ValueId half =
        net.Bin(BinaryOp::kMul, x, net.Like(Unary{UnaryOp::kHardSigmoid, 0.2f, 0.5f}, {x}));
    ExpectBecomes(net.Done({a, b, c, d, half}),
                  "HardSwish HardSwish HardSwish HardSwish HardSigmoid Mul");
  }
}

TEST(Patterns, HardSigmoidGatesAnotherTensor) {
  Net net;
  const ValueId x = net.Input("x", {2, 3, 1, 1});
  const ValueId gate = net.Bin(BinaryOp::kDiv, Relu6OfXPlus3(net, x, false), net.Scalar(6.0f));
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kMul, net.Input("z", {2, 3, 4, 5}), gate, "y")}),
                "HardSigmoid Mul");
}

ValueId OnePlusErf(Net& net, ValueId x, bool by_product) {
  const ValueId scaled = by_product ? net.Bin(BinaryOp::kMul, net.Scalar(std::sqrt(0.5f)), x)
                                    : net.Bin(BinaryOp::kDiv, x, net.Scalar(std::sqrt(2.0f)));
  const ValueId erf = net.Like(Unary{UnaryOp::kErf}, {scaled});
  return by_product ? net.Bin(BinaryOp::kAdd, net.Scalar(1.0f), erf)
                    : net.Bin(BinaryOp::kAdd, erf, net.Scalar(1.0f));
}

TEST(Patterns, GeluByErfInEveryOrder) {
  for (bool by_product : {false, true}) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {2, 3, 4}));
    const ValueId half = net.Scalar(0.5f);
    const auto mul = [&](ValueId a, ValueId b) { return net.Bin(BinaryOp::kMul, a, b); };
    const ValueId a = mul(mul(x, OnePlusErf(net, x, by_product)), half);
    const ValueId b = mul(mul(half, x), OnePlusErf(net, x, by_product));
    const ValueId c = mul(x, mul(OnePlusErf(net, x, by_product), half));
    const ValueId d =
        net.Bin(BinaryOp::kDiv, mul(OnePlusErf(net, x, by_product), x), net.Scalar(2.0f));
    ExpectBecomes(net.Done({a, b, c, d}), "Clip Gelu Gelu Gelu Gelu");
  }
}

TEST(Patterns, GeluByTanh) {
  for (int form = 0; form < 3; ++form) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {2, 3, 4}));
    const auto mul = [&](ValueId a, ValueId b) { return net.Bin(BinaryOp::kMul, a, b); };
    const ValueId k = net.Scalar(0.044715f);
    ValueId inner;
    if (form == 0)
      inner = net.Bin(BinaryOp::kAdd, x, mul(k, net.Bin(BinaryOp::kPow, x, net.Scalar(3.0f))));
    if (form == 1) inner = net.Bin(BinaryOp::kAdd, mul(mul(mul(x, x), x), k), x);
    if (form == 2) inner = mul(x, net.Bin(BinaryOp::kAdd, net.Scalar(1.0f), mul(mul(k, x), x)));
    const ValueId tanh = net.Like(Unary{UnaryOp::kTanh}, {mul(inner, net.Scalar(kSqrtTwoOverPi))});
    const ValueId gate = net.Bin(BinaryOp::kAdd, net.Scalar(1.0f), tanh);
    ExpectBecomes(net.Done({mul(mul(net.Scalar(0.5f), x), gate)}), "Clip GeluTanh");
  }
}

struct NormForm {
  bool pow = true, twice = false, reciprocal = false, gamma = true, beta = true, swap = false;
  bool rsqrt = false;
};

ValueId WriteLayerNorm(Net& net, ValueId x, const NormForm& form) {
  Shape kept = net.ShapeOf(x);
  const int64_t size = kept.back();
  const int64_t last = static_cast<int64_t>(kept.size()) - 1;
  kept.back() = 1;
  const auto mean = [&](ValueId v) { return net.Add(Reduce{ReduceOp::kMean, {last}}, {v}, kept); };
  const auto center = [&] { return net.Bin(BinaryOp::kSub, x, mean(x)); };
  const ValueId d = center();
  const ValueId e = form.twice ? center() : d;
  const ValueId square =
      form.pow ? net.Bin(BinaryOp::kPow, e, net.Scalar(2.0f)) : net.Bin(BinaryOp::kMul, e, e);
  const ValueId sum = net.Bin(BinaryOp::kAdd, mean(square), net.Scalar(1e-3f));
  const ValueId root = net.Like(Unary{UnaryOp::kSqrt}, {sum});
  ValueId y = form.reciprocal
                  ? net.Bin(BinaryOp::kMul, d, net.Like(Unary{UnaryOp::kReciprocal}, {root}))
              : form.rsqrt ? net.Bin(BinaryOp::kMul, d, net.Like(Unary{UnaryOp::kRsqrt}, {sum}))
                           : net.Bin(BinaryOp::kDiv, d, root);
  const auto apply = [&](BinaryOp op) {
    const ValueId c = net.Random({size}, 0.5f, 2.0f);
    y = form.swap ? net.Bin(op, c, y) : net.Bin(op, y, c);
  };
  if (form.gamma) apply(BinaryOp::kMul);
  if (form.beta) apply(BinaryOp::kAdd);
  return y;
}

TEST(Patterns, LayerNormInItsForms) {
  for (const NormForm& form :
       {NormForm{}, NormForm{.pow = false}, NormForm{.twice = true}, NormForm{.reciprocal = true},
        NormForm{.rsqrt = true}, NormForm{.beta = false}, NormForm{.gamma = false},
        NormForm{.gamma = false, .beta = false}, NormForm{.swap = true}}) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {2, 3, 8}));
    ExpectBecomes(net.Done({WriteLayerNorm(net, x, form)}), "Clip LayerNorm");
  }
}

// x * scale + (beta - mean * scale). TensorFlow has gamma in the scale, and beta; litert-torch
// numbers rows by one dimension and has neither.
ValueId WriteMultipliedOut(Net& net, ValueId x, bool tensorflow, bool of_another_scale = false) {
  const Shape whole = net.ShapeOf(x);
  const Shape kept = {1, whole[1], 1}, rows = tensorflow ? kept : Shape{whole[1]};
  const auto mean = [&](ValueId v) { return net.Add(Reduce{ReduceOp::kMean, {0, 2}}, {v}, rows); };
  const auto spread = [&](ValueId v) { return tensorflow ? v : net.ReshapeTo(v, kept); };
  const ValueId m = mean(x);
  const ValueId variance = mean(net.Bin(BinaryOp::kSquaredDifference, x, spread(m)));
  const auto scale_of = [&](float epsilon) {
    const ValueId sum = net.Bin(BinaryOp::kAdd, variance, net.Scalar(epsilon));
    const ValueId r = net.Like(Unary{UnaryOp::kRsqrt}, {sum});
    return tensorflow ? net.Bin(BinaryOp::kMul, r, net.Random({whole[2]}, 0.5f, 2.0f)) : r;
  };
  const ValueId scale = scale_of(1e-3f), other = of_another_scale ? scale_of(2e-3f) : scale;
  const ValueId beta = tensorflow ? net.Random({whole[2]}) : net.Scalar(0);
  const ValueId shift = net.Bin(BinaryOp::kSub, beta, net.Bin(BinaryOp::kMul, m, other));
  return net.Bin(BinaryOp::kAdd, spread(shift), net.Bin(BinaryOp::kMul, x, spread(scale)));
}

TEST(Patterns, LayerNormMultipliedOut) {
  for (const bool tensorflow : {false, true}) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {1, 5, 8}));
    const ValueId y = WriteMultipliedOut(net, x, tensorflow);
    ExpectBecomes(net.Done({y}), "Clip LayerNorm");
    const ValueId scaled = net.Bin(BinaryOp::kMul, y, net.Random({8}));
    const ValueId z = net.Bin(BinaryOp::kAdd, scaled, net.Random({8}));
    net.graph.outputs.clear();
    net.graph.output_names.clear();
    ExpectBecomes(net.Done({z}), "Clip LayerNorm");
  }
}

TEST(Patterns, AMeanTimesAnotherScaleStays) {
  for (const bool tensorflow : {false, true}) {
    Net net;
    const ValueId x = net.Input("x", {1, 5, 8});
    const Graph after = RecognizePatterns(net.Done({WriteMultipliedOut(net, x, tensorflow, true)}));
    EXPECT_EQ(Ops(after).find("LayerNorm"), std::string::npos);
  }
}

struct SoftmaxForm {
  bool maximum = true, expand = false, infinity = false;
};

ValueId WriteSoftmax(Net& net, ValueId x, int64_t axis, const SoftmaxForm& form) {
  const Shape whole = net.ShapeOf(x);
  Shape kept = whole, dropped = whole;
  kept[static_cast<size_t>(axis)] = 1;
  dropped.erase(dropped.begin() + axis);
  const auto reduced = [&](ReduceOp op, ValueId v) {
    if (!form.expand) return net.Add(Reduce{op, {axis}}, {v}, kept);
    ValueId r = net.Add(Reduce{op, {axis}}, {v}, dropped);
    if (op == ReduceOp::kMax && form.infinity) {
      r = net.Bin(BinaryOp::kMax, net.Scalar(-std::numeric_limits<float>::infinity()), r);
    }
    return net.Add(Expand{}, {net.Add(Reshape{}, {r}, kept)}, whole);
  };
  if (form.maximum) x = net.Bin(BinaryOp::kSub, x, reduced(ReduceOp::kMax, x));
  const ValueId powers = net.Like(Unary{UnaryOp::kExp}, {x});
  return net.Bin(BinaryOp::kDiv, powers, reduced(ReduceOp::kSum, powers));
}

TEST(Patterns, SoftmaxInItsForms) {
  for (const SoftmaxForm& form :
       {SoftmaxForm{}, SoftmaxForm{.maximum = false}, SoftmaxForm{.expand = true},
        SoftmaxForm{.expand = true, .infinity = true}}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      Net net;
      const ValueId x = net.Relu(net.Input("x", {2, 3, 8}));
      ExpectBecomes(net.Done({WriteSoftmax(net, x, axis, form)}), "Clip Softmax");
    }
  }
}

TEST(Patterns, TheLogarithmOfASoftmax) {
  Net net;
  const ValueId shares = net.Like(Softmax{.axis = 1}, {net.Relu(net.Input("x", {2, 3, 4}))});
  ExpectBecomes(net.Done({net.Like(Unary{UnaryOp::kLog}, {shares})}), "Clip LogSoftmax");
}

TEST(Patterns, ASoftmaxThatSomethingElseReadsStaysBesideItsLogarithm) {
  Net net;
  const ValueId shares = net.Like(Softmax{.axis = 1}, {net.Relu(net.Input("x", {2, 3, 4}))});
  ExpectBecomes(net.Done({net.Like(Unary{UnaryOp::kLog}, {shares}), shares}),
                "Clip Softmax LogSoftmax");
}

// PyTorch's attention with a mask: Where(IsNaN(y), 0, y) of a Softmax y. Results are compared with
// ONNX Runtime's by tests/e2e/test_attention_masks.py.
ValueId WriteGuard(Net& net, ValueId shares) {
  const Shape shape = net.ShapeOf(shares);
  const ValueId same =
      net.Add(Binary{BinaryOp::kEqual, {}}, {shares, shares}, shape, "", DType::kBool);
  const ValueId empty = net.Add(Unary{UnaryOp::kNot}, {same}, shape, "", DType::kBool);
  return net.Add(Where{}, {empty, net.Scalar(0.0f), shares}, shape);
}

TEST(Patterns, GuardsOfSoftmaxWithoutEmptyRowsGo) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const std::vector<float> causal{0, kNever, kNever, 0, 0, kNever, 0, 0, 0};
  const std::vector<float> empty{0, kNever, kNever, kNever, kNever, kNever, 0, 0, 0};
  for (const auto& [mask, axis, ops] : {std::tuple{causal, 2, "MatMul Add Softmax"},
                                        {causal, 1, "MatMul Add Softmax"},
                                        {empty, 2, "MatMul Add Softmax Equal Not Where"},
                                        {empty, 1, "MatMul Add Softmax"},
                                        {std::vector<float>(9, 0.0f), 2, "MatMul Softmax"}}) {
    Net net;
    const ValueId scores =
        net.Add(MatMul{}, {net.Input("x", {2, 3, 4}), net.Random({4, 3})}, {2, 3, 3});
    const ValueId masked = net.Bin(BinaryOp::kAdd, net.Floats({3, 3}, mask), scores);
    const Graph after =
        RecognizePatterns(net.Done({WriteGuard(net, net.Like(Softmax{.axis = axis}, {masked}))}));
    EXPECT_EQ(Ops(after), ops) << DumpGraph(after);
    EXPECT_EQ(DumpGraph(RecognizePatterns(after)), DumpGraph(after));
  }
}

TEST(Patterns, TheGuardOfASoftmaxOfAnInputStays) {
  Net net;
  const ValueId shares = net.Like(Softmax{.axis = 2}, {net.Input("x", {2, 3, 4})});
  EXPECT_EQ(Ops(RecognizePatterns(net.Done({WriteGuard(net, shares)}))), "Softmax Equal Not Where");
}

// Sums over another dimension than the maximum: the difference stays, the quotient is a Softmax.
TEST(Patterns, AMaximumOverAnotherDimensionStays) {
  Net net;
  const ValueId x = net.Relu(net.Input("x", {2, 4, 4}));
  const ValueId most = net.Add(Reduce{ReduceOp::kMax, {1}}, {x}, {2, 1, 4});
  const ValueId powers = net.Like(Unary{UnaryOp::kExp}, {net.Bin(BinaryOp::kSub, x, most)});
  const ValueId sum = net.Add(Reduce{ReduceOp::kSum, {2}}, {powers}, {2, 4, 1});
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kDiv, powers, sum)}), "Clip ReduceMax Sub Softmax");
}

// Without the dimension the sums would meet other rows.
TEST(Patterns, SumsThatMeetOtherRowsStay) {
  Net net;
  const ValueId x = net.Input("x", {4, 4});
  const ValueId powers = net.Like(Unary{UnaryOp::kExp}, {x});
  const ValueId sum = net.Add(Reduce{ReduceOp::kSum, {1}}, {powers}, {4});
  const Graph before = net.Done({net.Bin(BinaryOp::kDiv, powers, sum)});
  EXPECT_EQ(RecognizePatterns(before).nodes().size(), before.nodes().size());
}

TEST(Patterns, SumsOverTheFirstDimensionMayLackIt) {
  Net net;
  const ValueId x = net.Input("x", {5, 4});
  const ValueId powers = net.Like(Unary{UnaryOp::kExp}, {x});
  const ValueId sum = net.Add(Reduce{ReduceOp::kSum, {0}}, {powers}, {4});
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kDiv, powers, sum)}), "Softmax");
}

TEST(Patterns, NormOverAnotherAxisIsOneBetweenTranspositions) {
  Net net;
  const ValueId x = net.Relu(net.Input("x", {2, 6, 5}));
  const auto mean = [&](ValueId v) {
    return net.Add(Reduce{ReduceOp::kMean, {1}}, {v}, {2, 1, 5});
  };
  const ValueId d = net.Bin(BinaryOp::kSub, x, mean(x));
  const ValueId variance = mean(net.Bin(BinaryOp::kMul, d, d));
  const ValueId root =
      net.Like(Unary{UnaryOp::kSqrt}, {net.Bin(BinaryOp::kAdd, variance, net.Scalar(1e-3f))});
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kDiv, d, root)}), "Clip Transpose LayerNorm Transpose");
}

Shape GammaShape(const Shape& whole, int64_t axis) {
  Shape shape(whole.size(), 1);
  shape[axis] = whole[axis];
  return shape;
}

struct FlaxForm {
  int64_t axis = 2;
  bool maximum = true, gamma = true, sum = true;
};

// The variance as mean(x^2) - mean(x)^2 in rows without the dimension, and gamma times the
// reciprocal root.
ValueId WriteFlaxNorm(Net& net, ValueId x, const FlaxForm& form) {
  const Shape whole = net.ShapeOf(x);
  Shape kept = whole, rows = whole;
  kept[form.axis] = 1;
  rows.erase(rows.begin() + form.axis);
  const auto mean = [&](ValueId v) {
    if (!form.sum) return net.Add(Reduce{ReduceOp::kMean, {form.axis}}, {v}, rows);
    return net.Bin(BinaryOp::kMul, net.Add(Reduce{ReduceOp::kSum, {form.axis}}, {v}, rows),
                   net.Scalar(1.0f / static_cast<float>(whole[form.axis])));
  };
  const auto spread = [&](ValueId v) {
    return net.Add(Expand{}, {net.Add(Reshape{}, {v}, kept)}, kept);
  };
  const auto square = [&](ValueId v) { return net.Bin(BinaryOp::kMul, v, v); };
  const ValueId mu = mean(x);
  ValueId variance = net.Bin(BinaryOp::kSub, mean(square(x)), square(mu));
  if (form.maximum) variance = net.Bin(BinaryOp::kMax, net.Scalar(0.0f), variance);
  const ValueId sum = net.Bin(BinaryOp::kAdd, spread(variance), net.Scalar(1e-3f));
  ValueId factor = net.Like(Unary{UnaryOp::kReciprocal}, {net.Like(Unary{UnaryOp::kSqrt}, {sum})});
  if (form.gamma)
    factor = net.Bin(BinaryOp::kMul, factor, net.Random(GammaShape(whole, form.axis), 0.5f, 2.0f));
  return net.Bin(BinaryOp::kMul, net.Bin(BinaryOp::kSub, x, spread(mu)), factor);
}

TEST(Patterns, LayerNormAsFlaxWritesIt) {
  for (const FlaxForm& form :
       {FlaxForm{}, FlaxForm{.maximum = false}, FlaxForm{.gamma = false}, FlaxForm{.sum = false}}) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {2, 3, 8}));
    ExpectBecomes(net.Done({WriteFlaxNorm(net, x, form)}), "Clip LayerNorm");
  }
  Net net;
  const ValueId x = net.Relu(net.Input("x", {2, 3, 8}));
  ExpectBecomes(net.Done({WriteFlaxNorm(net, x, {.axis = 1})}),
                "Clip Transpose LayerNorm Transpose");
}

struct RootForm {
  bool reciprocal = false, power = false, swap = false;
  bool one_over = false;  // the reciprocal as a quotient, which torch's scripts write
};

// As LLaMA's exporters: gamma * (x * (mean(x^2) + epsilon)^-1/2).
ValueId WriteRmsNorm(Net& net, ValueId x, const RootForm& form) {
  const Shape whole = net.ShapeOf(x);
  Shape kept = whole;
  kept.back() = 1;
  const auto last = static_cast<int64_t>(whole.size()) - 1;
  const ValueId square = net.Bin(BinaryOp::kPow, x, net.Scalar(2.0f));
  const ValueId sum = net.Bin(
      BinaryOp::kAdd, net.Add(Reduce{ReduceOp::kMean, {last}}, {square}, kept), net.Scalar(1e-3f));
  ValueId y;
  if (form.power) {
    y = net.Bin(BinaryOp::kMul, x, net.Bin(BinaryOp::kPow, sum, net.Scalar(-0.5f)));
  } else {
    const ValueId root = net.Like(Unary{UnaryOp::kSqrt}, {sum});
    const ValueId factor = form.one_over ? net.Bin(BinaryOp::kDiv, net.Scalar(1.0f), root)
                                         : net.Like(Unary{UnaryOp::kReciprocal}, {root});
    y = form.reciprocal ? net.Bin(BinaryOp::kMul, x, factor) : net.Bin(BinaryOp::kDiv, x, root);
  }
  const ValueId gamma = net.Random({whole.back()}, 0.5f, 2.0f);
  return form.swap ? net.Bin(BinaryOp::kMul, gamma, y) : net.Bin(BinaryOp::kMul, y, gamma);
}

TEST(Patterns, RmsNormInItsForms) {
  for (const RootForm& form : {RootForm{}, RootForm{.reciprocal = true}, RootForm{.power = true},
                               RootForm{.reciprocal = true, .swap = true},
                               RootForm{.reciprocal = true, .one_over = true}}) {
    Net net;
    const ValueId x = net.Relu(net.Input("x", {2, 3, 8}));
    ExpectBecomes(net.Done({WriteRmsNorm(net, x, form)}), "Clip RMSNorm");
  }
}

// torch.nn.functional.normalize, over the last dimension and over channels.
TEST(Patterns, VectorsOfLengthOne) {
  for (const int64_t axis : {1, 2}) {
    for (const bool written_out : {false, true}) {
      Net net;
      const ValueId x = net.Relu(net.Input("x", {2, 6, 5}));
      Shape kept{2, 6, 5};
      kept[axis] = 1;
      ValueId norm = written_out ? net.Like(Unary{UnaryOp::kSqrt},
                                            {net.Add(Reduce{ReduceOp::kSum, {axis}},
                                                     {net.Bin(BinaryOp::kMul, x, x)}, kept)})
                                 : net.Add(Reduce{ReduceOp::kL2, {axis}}, {x}, kept);
      norm = net.Bin(BinaryOp::kMax, norm, net.Scalar(1e-6f));
      const ValueId spread = net.Add(Expand{}, {norm}, {2, 6, 5});
      ExpectBecomes(net.Done({net.Bin(BinaryOp::kDiv, x, spread)}),
                    axis == 2 ? "Clip RMSNorm" : "Clip Transpose RMSNorm Transpose");
    }
  }
}

// Divided by a length that rows may well have, a vector is no normalized one: below it, it keeps
// its direction and its share of the length.
TEST(Patterns, AVectorWithALeastLengthStays) {
  Net net;
  const ValueId x = net.Relu(net.Input("x", {2, 6}));
  const ValueId norm =
      net.Bin(BinaryOp::kMax, net.Add(Reduce{ReduceOp::kL2, {1}}, {x}, {2, 1}), net.Scalar(0.5f));
  ExpectBecomes(net.Done({net.Bin(BinaryOp::kDiv, x, net.Add(Expand{}, {norm}, {2, 6}))}),
                "Clip ReduceL2 Max Expand Div");
}

// The variance of other rows, and a variance of something else, are no normalization.
TEST(Patterns, AVarianceOfSomethingElseStays) {
  for (const bool other_rows : {false, true}) {
    Net net;
    const ValueId x = net.Input("x", {4, 4});
    const ValueId y = net.Input("y", {4, 4});
    const auto mean = [&](ValueId v, int64_t axis) {
      return net.Add(Reduce{ReduceOp::kMean, {axis}}, {v}, axis == 0 ? Shape{1, 4} : Shape{4, 1});
    };
    const auto square = [&](ValueId v) { return net.Bin(BinaryOp::kMul, v, v); };
    const ValueId of = other_rows ? x : y;
    const int64_t axis = other_rows ? 0 : 1;
    const ValueId variance =
        net.Bin(BinaryOp::kSub, mean(square(of), axis), square(mean(of, axis)));
    const ValueId sum = net.Bin(BinaryOp::kAdd, variance, net.Scalar(1e-3f));
    const ValueId root = net.Like(Unary{UnaryOp::kSqrt}, {sum});
    const ValueId centered = net.Bin(BinaryOp::kSub, x, mean(x, 1));
    const Graph before = net.Done({net.Bin(BinaryOp::kDiv, centered, root)});
    EXPECT_EQ(Ops(RecognizePatterns(before)).find("LayerNorm"), std::string::npos);
  }
}

}  // namespace
}  // namespace rshift
