// Add and Mul of every profile: all 65,536 pairs of bytes, against formulas written another way.
#include <gtest/gtest.h>

#include <functional>

#include "tests/quantize/integer_ops.h"
#include "tests/quantize/profile_tools.h"

namespace rshift::test {
namespace {

struct Case {
  IntType a, b, y;
};

const Case kCases[] = {
    {S8(0.05f, 3), S8(0.031f, -17), S8(0.06f, 5)},
    {S8(0.05f, 0), S8(0.05f, 0), S8(0.1f, 0)},        // every odd sum is a tie
    {S8(0.25f, -128), S8(0.125f, 127), S8(0.5f, 1)},  // ties at quarters
    {U8(0.0235f, 0), U8(0.0471f, 128), U8(0.0353f, 90)},
    {U8(0.02f, 255), U8(0.9f, 4), U8(0.7f, 0)},
    {S8(0.001f, 7), S8(0.9f, -3), S8(0.02f, -100)},  // b saturates
};

ByteType Plain(const IntType& type) {
  return {type.quant.scale, type.quant.zero_point, type.dtype == DType::kS8};
}

int32_t Result(const Op& op, int32_t a, int32_t b, const Case& c) {
  const auto visit = Overloaded{
      [&](const isa::Add& o) { return PairResult(o, a, b, Plain(c.a), Plain(c.b), Plain(c.y)); },
      [&](const isa::AddFloat& o) {
        return PairResult(o, a, b, Plain(c.a), Plain(c.b), Plain(c.y));
      },
      [&](const isa::AddShifted& o) {
        return PairResult(o, a, b, Plain(c.a), Plain(c.b), Plain(c.y));
      },
      [&](const isa::AddFma& o) { return PairResult(o, a, b, Plain(c.a), Plain(c.b), Plain(c.y)); },
      [&](const isa::Mul& o) { return PairResult(o, a, b, Plain(c.a), Plain(c.b), Plain(c.y)); },
      [&](const QBinaryTable& o) {
        const auto row = static_cast<size_t>(static_cast<uint8_t>(a));
        const uint8_t byte = o.entries[256 * row + static_cast<uint8_t>(b)];
        return c.y.dtype == DType::kS8 ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
      },
      [&](const auto&) {
        ADD_FAILURE() << "not an operator of two operands";
        return 0;
      }};
  return std::visit(visit, op);
}

using Formula = std::function<int64_t(int64_t a, int64_t b, const Case& c)>;  // without saturation

// 6 cases x 65,536 pairs.
void Compare(ProfileId id, BinaryOp kind, const Formula& formula) {
  for (const Case& c : kCases) {
    BinaryLayer layer;
    layer.op = kind;
    layer.a = c.a;
    layer.b = c.b;
    layer.y = c.y;
    const Op op = Rules(id).MakeBinary(layer);
    int64_t wrong = 0;
    for (int32_t a = c.a.qmin(); a <= c.a.qmax(); ++a) {
      for (int32_t b = c.b.qmin(); b <= c.b.qmax(); ++b) {
        wrong += Result(op, a, b, c) != Saturate(formula(a, b, c), c.y) ? 1 : 0;
      }
    }
    EXPECT_EQ(wrong, 0) << Name(id) << ": scales " << c.a.quant.scale << ", " << c.b.quant.scale;
  }
}

int64_t TfLiteSum(int64_t a, int64_t b, const Case& c) {
  const double sa = c.a.quant.scale, sb = c.b.quant.scale, sy = c.y.quant.scale;
  const double twice = 2 * std::max(sa, sb);
  const int64_t u = TwoSteps((a - c.a.quant.zero_point) * 1048576, PairOf(sa / twice));
  const int64_t v = TwoSteps((b - c.b.quant.zero_point) * 1048576, PairOf(sb / twice));
  return TwoSteps(u + v, PairOf(twice / (1048576.0 * sy))) + c.y.quant.zero_point;
}

TEST(AddTest, TfLiteShiftsLeftByTwentyAndRoundsSixTimes) {
  for (ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    Compare(id, BinaryOp::kAdd, TfLiteSum);
  }
}

// Two more orders of the same products: 6 cases x 65,536 pairs.
TEST(AddTest, LiteRtsOptimisedVectorsShiftInAnotherOrder) {
  for (const Case& c : kCases) {
    BinaryLayer layer;
    layer.a = c.a;
    layer.b = c.b;
    layer.y = c.y;
    const auto op = std::get<isa::AddShifted>(Rules(ProfileId::kTfLiteRuy).MakeBinary(layer));
    const bool is_signed = c.y.dtype == DType::kS8;
    EXPECT_EQ(op.blocks, is_signed ? AddBlocks::kSixteen : AddBlocks::kEight);
    const double sa = c.a.quant.scale, sb = c.b.quant.scale, sy = c.y.quant.scale;
    const double twice = 2 * std::max(sa, sb);
    const Pair ma = PairOf(sa / twice), mb = PairOf(sb / twice);
    const Pair my = PairOf(twice / (1048576.0 * sy));
    const auto term = [&](int64_t v, const Pair& m) {
      if (is_signed) return QuotientUp((v * 1048576 >> -m.shift) * m.q, 31);
      return QuotientUp(v * 1048576 * m.q, 31) >> -m.shift;
    };
    for (int32_t a = c.a.qmin(); a <= c.a.qmax(); ++a) {
      for (int32_t b = c.b.qmin(); b <= c.b.qmax(); ++b) {
        const int64_t u = term(a - c.a.quant.zero_point, ma);
        const int64_t v = term(b - c.b.quant.zero_point, mb);
        const int64_t wanted = TwoSteps(u + v, my) + c.y.quant.zero_point;
        ASSERT_EQ(PairResult(op, a, b, Plain(c.a), Plain(c.b), Plain(c.y), true),
                  Saturate(wanted, c.y));
      }
    }
  }
}

TEST(AddTest, XnnpackRoundsOnceHalfUp) {
  Compare(ProfileId::kTfLiteXnnpack, BinaryOp::kAdd, [](int64_t a, int64_t b, const Case& c) {
    const float ra = c.a.quant.scale / c.y.quant.scale, rb = c.b.quant.scale / c.y.quant.scale;
    const int shift = 20 - std::ilogb(std::max(ra, rb));
    const int64_t ma = std::lrint(std::ldexp(ra, shift)), mb = std::lrint(std::ldexp(rb, shift));
    const int64_t sum = (a - c.a.quant.zero_point) * ma + (b - c.b.quant.zero_point) * mb;
    return QuotientUp(sum, shift) + c.y.quant.zero_point;
  });
}

TEST(AddTest, XnnpackLeavesFarScalesToTheOptimisedKernels) {
  BinaryLayer layer;
  layer.a = S8(1.0f, 0);
  layer.b = S8(0.0009f, 0);
  layer.y = S8(1.0f, 0);
  EXPECT_TRUE(
      std::holds_alternative<isa::AddShifted>(Rules(ProfileId::kTfLiteXnnpack).MakeBinary(layer)));
  layer.b = S8(0.001f, 0);
  EXPECT_TRUE(std::holds_alternative<isa::Add>(Rules(ProfileId::kTfLiteXnnpack).MakeBinary(layer)));
}

TEST(AddTest, OnnxRuntimeFusesOnUnsignedBytes) {
  Compare(ProfileId::kOnnxRuntime, BinaryOp::kAdd, [](int64_t a, int64_t b, const Case& c) {
    const auto lift = [](const IntType& t) { return t.dtype == DType::kS8 ? 128 : 0; };
    const auto zero = [&](const IntType& t) {
      return static_cast<float>(t.quant.zero_point + lift(t));
    };
    const float ra = c.a.quant.scale / c.y.quant.scale, rb = c.b.quant.scale / c.y.quant.scale;
    const float fixed = zero(c.y) - std::fmaf(ra, zero(c.a), rb * zero(c.b));
    const float inner = std::fmaf(static_cast<float>(b + lift(c.b)), rb, fixed);
    return std::lrint(std::fmaf(static_cast<float>(a + lift(c.a)), ra, inner)) - lift(c.y);
  });
}

TEST(AddTest, OnnxRuntimeAddsAScalarByAProductAndASum) {
  for (const Case& c : kCases) {
    BinaryLayer layer;
    layer.a = c.a;
    layer.b = c.b;
    layer.y = c.y;
    const auto lift = [](const IntType& t) { return t.dtype == DType::kS8 ? 128 : 0; };
    const auto zero = [&](const IntType& t) {
      return static_cast<float>(t.quant.zero_point + lift(t));
    };
    const float ra = c.a.quant.scale / c.y.quant.scale, rb = c.b.quant.scale / c.y.quant.scale;
    for (int32_t b = c.b.qmin(); b <= c.b.qmax(); b += 15) {
      const QTable table = *Rules(ProfileId::kOnnxRuntime).MakeScalar(layer, b, false);
      float fixed = zero(c.y) - std::fmaf(ra, zero(c.a), rb * zero(c.b));
      const float product = static_cast<float>(b + lift(c.b)) * rb;
      fixed = fixed + product;
      for (int32_t a = c.a.qmin(); a <= c.a.qmax(); ++a) {
        const float v = std::fmaf(static_cast<float>(a + lift(c.a)), ra, fixed);
        ASSERT_EQ(Entry(table, c.y, a), Saturate(std::lrint(v) - lift(c.y), c.y));
      }
    }
  }
}

TEST(MulTest, TfLiteRoundsTwice) {
  for (ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    Compare(id, BinaryOp::kMul, [](int64_t a, int64_t b, const Case& c) {
      const float product = c.a.quant.scale * c.b.quant.scale;
      const float scale = product / c.y.quant.scale;
      const int64_t v = (a - c.a.quant.zero_point) * (b - c.b.quant.zero_point);
      return TwoSteps(v, PairOf(scale)) + c.y.quant.zero_point;
    });
  }
}

float FloatProduct(int64_t a, int64_t b, const Case& c) {
  const float product = c.a.quant.scale * c.b.quant.scale;
  const float scale = product / c.y.quant.scale;
  return static_cast<float>((a - c.a.quant.zero_point) * (b - c.b.quant.zero_point)) * scale;
}

TEST(MulTest, XnnpackAddsTheZeroPointAfterTheRounding) {
  Compare(ProfileId::kTfLiteXnnpack, BinaryOp::kMul, [](int64_t a, int64_t b, const Case& c) {
    return std::lrint(FloatProduct(a, b, c)) + c.y.quant.zero_point;
  });
}

TEST(MulTest, OnnxRuntimeAddsTheUnsignedZeroPointBeforeTheRounding) {
  Compare(ProfileId::kOnnxRuntime, BinaryOp::kMul, [](int64_t a, int64_t b, const Case& c) {
    const int32_t lift = c.y.dtype == DType::kS8 ? 128 : 0;
    const auto zero = static_cast<float>(c.y.quant.zero_point + lift);
    return std::lrint(FloatProduct(a, b, c) + zero) - lift;
  });
}

TEST(MulTest, TpuRoundsOnceHalfUp) {
  Compare(ProfileId::kTpu, BinaryOp::kMul, [](int64_t a, int64_t b, const Case& c) {
    const double scale = static_cast<double>(c.a.quant.scale) *
                         static_cast<double>(c.b.quant.scale) /
                         static_cast<double>(c.y.quant.scale);
    const int64_t v = (a - c.a.quant.zero_point) * (b - c.b.quant.zero_point);
    return OneStep(v, PairOf(scale)) + c.y.quant.zero_point;
  });
}

// Of two numbers that are nearly all of them on no grid of y: in float, as without integers.
TEST(FloatPairsTest, OnnxRuntimeComputesBetweenDequantizeAndQuantize) {
  const auto compare = [](BinaryOp op, float (*function)(float, float)) {
    Compare(ProfileId::kOnnxRuntime, op,
            [function](int64_t a, int64_t b, const Case& c) -> int64_t {
              const auto real = [](int64_t q, const IntType& t) {
                return static_cast<float>(q - t.quant.zero_point) * t.quant.scale;
              };
              const float v = function(real(a, c.a), real(b, c.b)) / c.y.quant.scale;
              if (std::isnan(v)) return c.y.qmin();
              if (std::isinf(v)) return v < 0 ? c.y.qmin() : c.y.qmax();
              return std::lrint(v) + c.y.quant.zero_point;
            });
  };
  compare(BinaryOp::kSub, [](float a, float b) { return a - b; });
  compare(BinaryOp::kDiv, [](float a, float b) { return a / b; });
  compare(BinaryOp::kMod, [](float a, float b) { return std::fmod(a, b); });
}

TEST(SubTest, LiteRtSubtractsTheRescaledOperandsWithoutVectors) {
  for (ProfileId id : {ProfileId::kTfLite, ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy}) {
    Compare(id, BinaryOp::kSub, [](int64_t a, int64_t b, const Case& c) {
      const double sa = c.a.quant.scale, sb = c.b.quant.scale, sy = c.y.quant.scale;
      const double twice = 2 * std::max(sa, sb);
      const int64_t u = TwoSteps((a - c.a.quant.zero_point) * 1048576, PairOf(sa / twice));
      const int64_t v = TwoSteps((b - c.b.quant.zero_point) * 1048576, PairOf(sb / twice));
      return TwoSteps(u - v, PairOf(twice / (1048576.0 * sy))) + c.y.quant.zero_point;
    });
  }
}

TEST(SquaredDifferenceTest, LiteRtSquaresTheRescaledDifference) {
  for (ProfileId id : {ProfileId::kTfLiteRef, ProfileId::kTfLiteRuy, ProfileId::kTfLiteXnnpack}) {
    Compare(id, BinaryOp::kSquaredDifference, [](int64_t a, int64_t b, const Case& c) {
      const double sa = c.a.quant.scale, sb = c.b.quant.scale, sy = c.y.quant.scale;
      const double twice = 2 * std::max(sa, sb);
      const int64_t u = TwoSteps((a - c.a.quant.zero_point) * 128, PairOf(sa / twice)) -
                        TwoSteps((b - c.b.quant.zero_point) * 128, PairOf(sb / twice));
      return TwoSteps(u * u, PairOf(twice * twice / (16384.0 * sy))) + c.y.quant.zero_point;
    });
  }
}

TEST(SubTest, XnnpackRoundsOnceHalfUp) {
  Compare(ProfileId::kTfLiteXnnpack, BinaryOp::kSub, [](int64_t a, int64_t b, const Case& c) {
    const float ra = c.a.quant.scale / c.y.quant.scale, rb = c.b.quant.scale / c.y.quant.scale;
    const int shift = 20 - std::ilogb(std::max(ra, rb));
    const int64_t ma = std::lrint(std::ldexp(ra, shift)), mb = std::lrint(std::ldexp(rb, shift));
    const int64_t sum = (a - c.a.quant.zero_point) * ma - (b - c.b.quant.zero_point) * mb;
    return QuotientUp(sum, shift) + c.y.quant.zero_point;
  });
}

TEST(SubTest, TpuIsWithinItsBound) {
  for (const Case& c : kCases) {
    for (int bits : {8, 16}) {
      BinaryLayer layer;
      layer.op = BinaryOp::kSub;
      layer.a = c.a;
      layer.b = c.b;
      layer.y = c.y;
      layer.multiplier_bits = bits;
      const auto sub = std::get<isa::Add>(Rules(ProfileId::kTpu).MakeBinary(layer));
      const double bound = 0.5 + 512 * std::ldexp(0.5, -sub.rshift);
      for (int32_t a = c.a.qmin(); a <= c.a.qmax(); ++a) {
        for (int32_t b = c.b.qmin(); b <= c.b.qmax(); ++b) {
          const double real = (a - c.a.quant.zero_point) * static_cast<double>(c.a.quant.scale) -
                              (b - c.b.quant.zero_point) * static_cast<double>(c.b.quant.scale);
          const double exact = real / static_cast<double>(c.y.quant.scale) + c.y.quant.zero_point;
          const double wanted = std::min<double>(std::max<double>(exact, c.y.qmin()), c.y.qmax());
          ASSERT_LE(std::fabs(Result(sub, a, b, c) - wanted), bound) << a << " - " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rshift::test
