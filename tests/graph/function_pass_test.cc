// RecognizeFunctions: functions of one value as PyTorch, JAX and TensorFlow write them.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "graph/dump.h"
#include "graph/passes/functions.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

void ExpectBecomes(const Graph& before, const std::string& ops) {
  const Graph after = RecognizeFunctions(before);
  EXPECT_EQ(Ops(after), ops) << DumpGraph(after);
  ExpectSameResults(before, after, /*observed=*/true);
}

// What the tests write functions with.
struct Writer : Net {
  ValueId x = Input("x", {2, 3, 40});

  ValueId Of(UnaryOp op, ValueId v) { return Like(Unary{op}, {v}); }
  ValueId With(BinaryOp op, ValueId v, float number) { return Bin(op, v, Scalar(number)); }
  ValueId Above(ValueId v, float number) {
    return Add(Binary{BinaryOp::kGreater, {}}, {v, Scalar(number)}, ShapeOf(v), "", DType::kBool);
  }
  ValueId Choose(ValueId condition, ValueId a, ValueId b) {
    return Add(Where{}, {condition, a, b}, ShapeOf(condition));
  }
  // exp(v) - 1.
  ValueId Expm1(ValueId v) { return With(BinaryOp::kSub, Of(UnaryOp::kExp, v), 1); }
};

TEST(Functions, EluByWhere) {
  Writer net;
  const ValueId y =
      net.Choose(net.Above(net.x, 0), net.x, net.With(BinaryOp::kMul, net.Expm1(net.x), 0.7F));
  const Graph before = net.Done({y});
  ExpectBecomes(before, "Elu");
  EXPECT_FLOAT_EQ(std::get<Unary>(RecognizeFunctions(before).nodes()[0].op).alpha, 0.7F);
}

TEST(Functions, EluWithAWhereThatKeepsExpInRange) {
  Writer net;
  const ValueId above = net.Above(net.x, 0);
  const ValueId safe = net.Choose(above, net.Floats({2, 3, 40}, std::vector<float>(240)), net.x);
  ExpectBecomes(net.Done({net.Choose(above, net.x, net.Expm1(safe))}), "Elu");
}

TEST(Functions, SeluAndCelu) {
  Writer net;
  const auto selu = [&](float gamma, float alpha) {
    return net.Choose(net.Above(net.x, 0), net.With(BinaryOp::kMul, net.x, gamma),
                      net.With(BinaryOp::kMul, net.Expm1(net.x), gamma * alpha));
  };
  const ValueId quotient = net.With(BinaryOp::kMul, net.x, 1 / 0.6F);
  const ValueId celu =
      net.Choose(net.Above(net.x, 0), net.x, net.With(BinaryOp::kMul, net.Expm1(quotient), 0.6F));
  ExpectBecomes(net.Done({selu(1.0507F, 1.67326F), celu}), "Celu Selu");
}

TEST(Functions, LeakyReluAsAMaximumAndByWhere) {
  Writer net;
  const ValueId a = net.Bin(BinaryOp::kMax, net.With(BinaryOp::kMul, net.x, 0.1F), net.x);
  const ValueId b = net.Choose(net.Above(net.x, 0), net.x, net.With(BinaryOp::kMul, net.x, 0.2F));
  ExpectBecomes(net.Done({a, b}), "LeakyRelu LeakyRelu");
}

TEST(Functions, Clips) {
  Writer net;
  const ValueId a = net.With(BinaryOp::kMax, net.With(BinaryOp::kMin, net.x, 6), 0);
  const ValueId zeros = net.Floats({2, 3, 40}, std::vector<float>(240));
  const ValueId b = net.With(BinaryOp::kMin, net.Choose(net.Above(net.x, 0), net.x, zeros), 9);
  ExpectBecomes(net.Done({a, b}), "Clip Clip");
}

// As integers with a zero point are held to their ends.
TEST(Functions, AClipBetweenSumsStays) {
  Writer net;
  const ValueId held = net.Like(Clip{{-32768, 32767}}, {net.With(BinaryOp::kAdd, net.x, 300)});
  const Graph graph = net.Done({net.With(BinaryOp::kSub, held, 300)});
  EXPECT_EQ(Ops(RecognizeFunctions(graph)), "Add Clip Sub");
}

TEST(Functions, BoundsFarOut) {
  Writer net;
  const auto within = [&](ValueId v, float lo, float hi) {
    return net.With(BinaryOp::kMax, net.With(BinaryOp::kMin, v, hi), lo);
  };
  const ValueId leaky = net.Bin(BinaryOp::kMax, net.With(BinaryOp::kMul, net.x, 0.1F), net.x);
  const Graph before = net.Done({within(net.x, -100, 65504), within(leaky, -1e6F, 1e6F)});
  const Graph after = RecognizeFunctions(before);
  EXPECT_EQ(Ops(after), "LeakyRelu Clip Clip");
  EXPECT_EQ(std::get<Clip>(after.nodes()[1].op).clamp, (Clamp{-100, 65504}));
  EXPECT_EQ(std::get<Clip>(after.nodes()[2].op).clamp, (Clamp{-1e6F, 1e6F}));
}

TEST(Functions, RoundingStays) {
  for (const float scale : {1e-1F, 1e-3F, 1e-5F}) {
    Writer net;
    const ValueId levels = net.Of(UnaryOp::kRound, net.With(BinaryOp::kMul, net.x, 1 / scale));
    const ValueId clipped = net.With(BinaryOp::kMax, net.With(BinaryOp::kMin, levels, 127), -128);
    const Graph before = net.Done({net.With(BinaryOp::kMul, clipped, scale)});
    EXPECT_EQ(Ops(RecognizeFunctions(before)), "Mul Round Clip Mul");
  }
}

TEST(Functions, SigmoidTanhSoftplusAbs) {
  Writer net;
  const ValueId power = net.Of(UnaryOp::kExp, net.Of(UnaryOp::kNeg, net.x));
  const ValueId sigmoid =
      net.Bin(BinaryOp::kDiv, net.Scalar(1), net.With(BinaryOp::kAdd, power, 1));
  const ValueId half = net.Of(UnaryOp::kSigmoid, net.With(BinaryOp::kMul, net.x, 2));
  const ValueId tanh = net.With(BinaryOp::kSub, net.With(BinaryOp::kMul, half, 2), 1);
  const ValueId low = net.Of(UnaryOp::kExp, net.Of(UnaryOp::kNeg, net.Of(UnaryOp::kAbs, net.x)));
  const ValueId softplus = net.Bin(BinaryOp::kAdd, net.With(BinaryOp::kMax, net.x, 0),
                                   net.Of(UnaryOp::kLog, net.With(BinaryOp::kAdd, low, 1)));
  const ValueId abs = net.Bin(BinaryOp::kMax, net.Of(UnaryOp::kNeg, net.x), net.x);
  ExpectBecomes(net.Done({sigmoid, tanh, softplus, abs}), "Sigmoid Tanh Softplus Abs");
}

// The chain up to the function keeps its own operators, and so does what follows.
TEST(Functions, OfWhatAnotherOperatorMakes) {
  Writer net;
  const ValueId v = net.With(BinaryOp::kMul, net.x, 3);
  const ValueId elu = net.Choose(net.Above(v, 0), v, net.Expm1(v));
  ExpectBecomes(net.Done({net.With(BinaryOp::kAdd, elu, 5)}), "Mul Elu Add");
}

TEST(Functions, WhatOthersReadStays) {
  Writer net;
  const ValueId power = net.Expm1(net.x);
  const ValueId y = net.Choose(net.Above(net.x, 0), net.x, power);
  ExpectBecomes(net.Done({y, power}), "Exp Sub Greater Where");
}

TEST(Functions, WhatIsNearlyOneStays) {
  Writer net;
  const ValueId late = net.Choose(net.Above(net.x, 0.01F), net.x, net.Expm1(net.x));
  const ValueId silu = net.Bin(BinaryOp::kMul, net.x,
                               net.Of(UnaryOp::kSigmoid, net.With(BinaryOp::kMul, net.x, 1.001F)));
  const ValueId other = net.Input("other", {2, 3, 40});
  const ValueId two = net.Bin(BinaryOp::kMul, other, net.Of(UnaryOp::kSigmoid, net.x));
  const ValueId channels =
      net.Bin(BinaryOp::kMax, net.Bin(BinaryOp::kMul, net.x, net.Random({40})), net.x);
  const Graph graph = net.Done({late, silu, two, channels});
  EXPECT_EQ(RecognizeFunctions(graph).nodes().size(), graph.nodes().size());
}

// Numbers of every size, which the expressions below hold, too.
void ExpectSameForAllSizes(const Graph& before, const Graph& after, std::mt19937& random) {
  auto inputs = RandomInputs(before, 7);
  for (auto& [name, tensor] : inputs) {
    for (double& x : tensor.data) x *= std::pow(10.0, static_cast<double>(random() % 9) - 4);
  }
  const auto want = reference::Run(before, inputs), got = reference::Run(after, inputs);
  for (const auto& [name, tensor] : want) {
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      const double a = tensor.data[i], b = got.at(name).data[i];
      ASSERT_NEAR(a, b, 2e-5 * std::abs(a) + 4e-7) << " of " << inputs["x"].data[i];
    }
  }
}

// Random expressions: whatever is recognized computes the same.
TEST(Functions, RandomExpressionsKeepTheirValues) {
  constexpr BinaryOp kBinary[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kMin,
                                  BinaryOp::kMax};
  constexpr UnaryOp kUnary[] = {UnaryOp::kNeg, UnaryOp::kAbs, UnaryOp::kSigmoid, UnaryOp::kTanh,
                                UnaryOp::kSign};
  size_t recognized = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    std::mt19937 random(seed);
    const auto pick = [&](size_t n) { return random() % n; };
    Writer net;
    std::vector<ValueId> values = {net.x};
    for (size_t i = 0; i < 2 + pick(5); ++i) {
      const ValueId v = values[pick(values.size())], w = values[pick(values.size())];
      const float number =
          (static_cast<float>(pick(5)) - 2) * std::pow(10.0F, static_cast<float>(pick(7)) - 3);
      switch (pick(4)) {
        case 0:
          values.push_back(net.Of(kUnary[pick(5)], v));
          break;
        case 1:
          values.push_back(net.Bin(kBinary[pick(5)], v, w));
          break;
        case 2:
          values.push_back(net.With(kBinary[pick(5)], v, number));
          break;
        default:
          values.push_back(net.Choose(net.Above(v, number), w, values[pick(values.size())]));
      }
    }
    const Graph before = net.Done({values.back()});
    const Graph after = RecognizeFunctions(before);
    recognized += after.nodes().size() < before.nodes().size();
    ExpectSameForAllSizes(before, after, random);
    ASSERT_FALSE(HasFailure()) << DumpGraph(before) << DumpGraph(after);
  }
  EXPECT_GT(recognized, 100U);
}

}  // namespace
}  // namespace rshift
