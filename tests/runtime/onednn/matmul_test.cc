#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/onednn/float_library.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

struct MatMulCase {
  Shape a, b, dst;
  bool bias = false, constant = false;  // b is a constant
  float lo = -INFINITY, hi = INFINITY;
};

CommandCase CommandOf(const MatMulCase& c, uint32_t seed) {
  std::mt19937 random(seed);
  const TestTensor a = RandomFloats(c.a, random);
  TestTensor b = RandomFloats(c.b, random);
  b.constant = c.constant;
  CommandCase test(Opcode::kMatMulF32, {{Field::kSrc, a}, {Field::kSrc2, b}}, DType::kF32, c.dst);
  TestTensor bias = RandomFloats({c.b.back()}, random);
  bias.constant = seed % 3 != 0;
  if (c.bias) test.inputs.push_back({Field::kSrc3, bias});
  test.SetFloat(Field::kClampLoF, c.lo).SetFloat(Field::kClampHiF, c.hi);
  return test;
}

std::vector<double> Reference(const MatMulCase& c, const CommandCase& test) {
  const auto a = test.Input(Field::kSrc).As<float>(), b = test.Input(Field::kSrc2).As<float>();
  const auto bias = c.bias ? test.Input(Field::kSrc3).As<float>() : std::vector<float>(c.b.back());
  std::vector<double> want;
  const size_t rank = c.dst.size();
  ForEachIndex(c.dst, [&](const Shape& index) {
    double sum = bias[index.back()];
    Shape at_a = index, at_b = index;
    for (int64_t k = 0; k < c.a.back(); ++k) {
      at_a[rank - 1] = at_b[rank - 2] = k;
      sum += static_cast<double>(a[BroadcastOffset(c.a, at_a)]) * b[BroadcastOffset(c.b, at_b)];
    }
    want.push_back(std::min<double>(std::max<double>(sum, c.lo), c.hi));
  });
  return want;
}

void CheckMatMul(const MatMulCase& c, uint32_t seed) {
  SCOPED_TRACE(::testing::Message()
               << "seed " << seed << " " << ToString(c.a) << " x " << ToString(c.b) << " bias "
               << c.bias << " constant " << c.constant);
  RegisterFloatLibrary();
  const CommandCase test = CommandOf(c, seed);
  const double tolerance = 4e-6 * std::sqrt(static_cast<double>(c.a.back()));
  const std::vector<double> want = Reference(c, test);
  for (const int threads : {1, 2})
    ExpectClose(RunCommand(test, threads).As<float>(), want, tolerance);
  ExpectClose(RunOnAnyIsa(test, true).As<float>(), want, kPortableTolerance);
}

const MatMulCase kShapes[] = {
    {{1, 64}, {64, 10}, {1, 10}},
    {{17, 33}, {33, 65}, {17, 65}},
    {{1, 1}, {1, 1}, {1, 1}},
    {{5, 1}, {1, 7}, {5, 7}},
    {{2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6}},
    {{2, 3, 4, 5}, {1, 1, 5, 6}, {2, 3, 4, 6}},
    {{2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
    {{2, 1, 4, 5}, {1, 3, 5, 6}, {2, 3, 4, 6}},
    {{4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
    {{3, 4, 5}, {2, 1, 5, 6}, {2, 3, 4, 6}},
    {{2, 1, 3, 2, 4, 5}, {2, 1, 1, 5, 6}, {2, 2, 3, 2, 4, 6}},
    {{1, 8, 31, 16}, {1, 8, 16, 31}, {1, 8, 31, 31}},
};

TEST(MatMulF32Test, BroadcastsBatches) {
  uint32_t seed = 0;
  for (MatMulCase c : kShapes) {
    for (int variant = 0; variant < 8; ++variant) {
      c.bias = (variant & 1) != 0;
      c.constant = (variant & 2) != 0;
      c.lo = (variant & 4) != 0 ? -1.0f : -INFINITY;
      c.hi = (variant & 4) != 0 ? 2.0f : INFINITY;
      CheckMatMul(c, seed++);
    }
  }
}

TEST(MatMulF32Test, RejectsShapesThatDoNotFit) {
  RegisterFloatLibrary();
  EXPECT_EQ(ErrorOf(CommandOf({{2, 3}, {3, 4}, {2, 4}}, 1)), kNoError);
  EXPECT_NE(ErrorOf(CommandOf({{2, 3}, {4, 4}, {2, 4}}, 1)), kNoError);
  EXPECT_NE(ErrorOf(CommandOf({{2, 3}, {3, 4}, {2, 5}}, 1)), kNoError);
  EXPECT_NE(ErrorOf(CommandOf({{2, 2, 3}, {3, 3, 4}, {3, 2, 4}}, 1)), kNoError);
}

}  // namespace
}  // namespace rshift
