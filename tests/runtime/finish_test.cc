// The finish functions against the definitions: every accumulator that is hard, every shift, the
// extremes of the multipliers, every number of channels.
#include "runtime/kernels/finish.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

struct Case {
  std::vector<int32_t> multiplier, rshift;
  std::vector<float> scale, bias_f;
  PostOpArgs post_op_args;
  RequantArgs args;

  explicit Case(const std::vector<Words>& words) {
    for (const Words& w : words) {
      multiplier.push_back(w.multiplier);
      rshift.push_back(w.rshift);
      scale.push_back(std::bit_cast<float>(w.multiplier));
      bias_f.push_back(std::bit_cast<float>(w.rshift));
    }
    args.multiplier = multiplier.data();
    args.rshift = rshift.data();
    args.scale = scale.data();
    args.bias_f = bias_f.data();
    args.post_op_args = &post_op_args;
    args.zero_y = 3, args.lo = -128, args.hi = 127;
  }
};

std::vector<int32_t> HardAccumulators() {
  std::vector<int32_t> acc = {INT32_MIN,     INT32_MIN + 1, INT32_MIN + 64, -(1 << 24) - 1,
                              (1 << 24) + 1, INT32_MAX - 1, INT32_MAX,      INT32_MAX - 64};
  for (int32_t i = -300; i <= 300; ++i) acc.push_back(i);
  for (int shift = 10; shift < 31; ++shift) {
    for (const int32_t delta : {-1, 0, 1}) {
      acc.push_back((1 << shift) + delta);
      acc.push_back(-(1 << shift) + delta);
    }
  }
  return acc;
}

void ExpectEqualsDefinition(Rounding rounding, const std::vector<Words>& words) {
  const FinishFn finish = FinishFor(rounding, false);
  ASSERT_NE(finish, nullptr);
  for (const Words& w : words) {
    Case c(std::vector<Words>(64, w));
    const std::vector<int32_t> acc = HardAccumulators();
    for (size_t first = 0; first < acc.size(); first += 64) {
      const int64_t count = static_cast<int64_t>(std::min<size_t>(64, acc.size() - first));
      uint8_t y[64];
      finish(c.args, 0, acc.data() + first, count, y);
      for (int64_t i = 0; i < count; ++i) {
        const int32_t a = acc[first + static_cast<size_t>(i)];
        ASSERT_EQ(static_cast<int8_t>(y[i]), Requantized(rounding, a, w, 3, -128, 127))
            << "rounding " << static_cast<int>(rounding) << " acc " << a << " words "
            << w.multiplier << " " << w.rshift;
      }
    }
  }
}

TEST(Finish, IntegerRoundingsAtEveryShift) {
  for (const Rounding rounding : {Rounding::kTwoStep, Rounding::kTwoStepUp, Rounding::kHalfAway}) {
    std::vector<Words> words;
    for (int32_t rshift = 0; rshift <= 62; ++rshift) {
      for (const int32_t m : {0, 1 << 30, (1 << 30) + 1, 1518500250, INT32_MAX}) {
        words.push_back({m, rshift});
      }
    }
    ExpectEqualsDefinition(rounding, words);
  }
}

TEST(Finish, TwoStepUpWithTheTailMarkIsTwoStep) {
  const std::vector<int32_t> acc = HardAccumulators();
  for (int32_t rshift = 0; rshift <= 62; ++rshift) {
    const Case marked({{1518500250, rshift + 64}}), plain({{1518500250, rshift}});
    for (const int32_t a : acc) {
      uint8_t y, expected;
      FinishFor(Rounding::kTwoStepUp, false)(marked.args, 0, &a, 1, &y);
      FinishFor(Rounding::kTwoStep, false)(plain.args, 0, &a, 1, &expected);
      ASSERT_EQ(y, expected) << a << " " << rshift;
    }
  }
}

TEST(Finish, FloatRoundingsFromTheSmallestScaleToTheLargest) {
  std::vector<Words> words = {{0, 0}, {1, 0}, {std::bit_cast<int32_t>(3.4e38f), 0}};
  for (int exponent = -40; exponent <= 8; ++exponent) {
    for (const float mantissa : {1.0f, 1.5f, 1.9999999f, 1.3333334f}) {
      words.push_back({std::bit_cast<int32_t>(std::ldexp(mantissa, exponent)), 0});
    }
  }
  ExpectEqualsDefinition(Rounding::kFloatEven, words);
  for (size_t i = 0; i < words.size(); ++i) {
    const float bias = i % 3 == 0 ? -0.75f : i % 3 == 1 ? 1e9f : -3.4e38f;
    words.push_back({words[i].multiplier, std::bit_cast<int32_t>(bias)});
    if (words.size() > 600) break;
  }
  ExpectEqualsDefinition(Rounding::kFloatZeroEven, words);
}

TEST(Finish, DoubleScales) {
  std::vector<Words> words = {{0, 0}, {0, 7}, {0x7fefffff, -1}};
  Random random(1);
  for (int exponent = -2; exponent <= 40; ++exponent) {
    for (int i = 0; i < 5; ++i)
      words.push_back(RandomWords(random, Rounding::kDoubleAway, exponent, false));
  }
  ExpectEqualsDefinition(Rounding::kDoubleAway, words);
}

TEST(Finish, HalfUpIsTheKernelsOwn) { EXPECT_EQ(FinishFor(Rounding::kHalfUp, false), nullptr); }

TEST(Finish, HalfFloatWithEveryAttribute) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OracleEpilogue epilogue{seed % 2 == 0,
                                  seed / 2 % 2 == 0,
                                  seed / 4 % 2 == 0,
                                  random.Float(0.01f, 4.0f),
                                  static_cast<float>(random.Int(-256, 255)) / 2,
                                  static_cast<RealRounding>(seed % kRealRoundingCount)};
    // Some scales overflow binary16.
    const Words w =
        RandomWords(random, Rounding::kHalfFloat, static_cast<int>(random.Int(-9, 24)), true);
    Case c(std::vector<Words>(64, w));
    c.args.half = {.relu = epilogue.relu,
                   .sqrt_dequant = epilogue.sqrt_dequant,
                   .sqrt_quant = epilogue.sqrt_quant,
                   .quant_scale = epilogue.scale,
                   .quant_offset = epilogue.offset,
                   .mode = epilogue.rounding};
    const std::vector<int32_t> acc = HardAccumulators();
    for (const int32_t a : acc) {
      uint8_t y;
      FinishFor(Rounding::kHalfFloat, false)(c.args, 5, &a, 1, &y);
      ASSERT_EQ(static_cast<int8_t>(y),
                ToByte(HalfChain(a, w, epilogue), epilogue.rounding, 0, -128, 127))
          << a;
    }
  }
}

TEST(Finish, PostOperationsInOrderWithTheirAddendOnEveryInstructionSet) {
  std::vector<Isa> isas = {Isa::kScalar};
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512Vnni}) {
    if (CpuSupports(isa)) isas.push_back(isa);
  }
  for (uint32_t seed = 0; seed < 1200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Case c({});
    std::vector<Words> words;
    words.reserve(64);
    for (int i = 0; i < 64; ++i)
      words.push_back(RandomWords(random, Rounding::kFloatZeroEven, 16, true));
    c = Case(words);
    std::vector<OraclePostOp> ops;
    for (int64_t i = random.Int(1, 4); i > 0; --i) {
      ops.push_back({static_cast<int>(random.Int(0, kPostOpKindCount - 1)),
                     random.Float(-2.0f, 2.0f), random.Float(2.0f, 90.0f),
                     random.Int(0, 2) == 0 ? 1.0f : random.Float(-60.0f, 60.0f)});
      const auto kind = static_cast<PostOpKind>(ops.back().kind);
      for (int channel = 0; channel < 64 * ChannelLists(kind); ++channel) {
        (channel < 64 ? ops.back().alphas : ops.back().betas).push_back(random.Float(-9.0f, 9.0f));
      }
      c.post_op_args.post_ops.push_back({kind, ops.back().alpha, ops.back().beta, ops.back().scale,
                                         ops.back().alphas, ops.back().betas});
    }
    const Bytes addend = random.Data(100);
    c.args.post_op_args = &c.post_op_args;
    c.post_op_args.addend_signed = seed % 2 == 0;
    Bytes dst(100, 0x5a);
    c.post_op_args.dst = dst.data();
    c.post_op_args.addend = addend.data();
    std::vector<int32_t> acc(64);
    for (int32_t& a : acc) a = static_cast<int32_t>(random.Int(-900000, 900000));
    const int64_t count = random.Int(1, 64), at = random.Int(0, 36);
    const Isa isa = isas[seed % isas.size()];
    FinishFor(Rounding::kFloatZeroEven, true, isa)(c.args, 0, acc.data(), count, dst.data() + at);
    for (int64_t i = 0; i < count; ++i) {
      float f = ScaledFloat(Rounding::kFloatZeroEven, acc[i], words[i]);
      const DType type = c.post_op_args.addend_signed ? DType::kS8 : DType::kU8;
      for (const OraclePostOp& op : ops) {
        f = PostOperation(op, f, Value(addend[at + i], type), static_cast<size_t>(i));
      }
      // A NaN is the zero point, whatever it is added to.
      const int32_t y = std::isnan(f) ? 3 : ToByte(f + 3.0f, RealRounding::kEven, 0, -128, 127);
      ASSERT_EQ(static_cast<int8_t>(dst[at + i]), y) << i << " " << f;
    }
    EXPECT_EQ(dst[at + count], 0x5a);
  }
}

}  // namespace
}  // namespace rshift::testing
