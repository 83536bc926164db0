#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

std::vector<double> Reference(const TestTensor& x, size_t axis, bool log) {
  const Shape strides = Strides(x.shape);
  const std::vector<float> values = x.As<float>();
  std::vector<double> want;
  ForEachIndex(x.shape, [&](const Shape& index) {
    int64_t first = 0;
    for (size_t d = 0; d < index.size(); ++d) first += d == axis ? 0 : index[d] * strides[d];
    double highest = values[first], sum = 0;
    for (int64_t i = 0; i < x.shape[axis]; ++i) {
      highest = std::max<double>(highest, values[first + i * strides[axis]]);
    }
    for (int64_t i = 0; i < x.shape[axis]; ++i) {
      sum += std::exp(values[first + i * strides[axis]] - highest);
    }
    const double shifted = values[first + index[axis] * strides[axis]] - highest;
    want.push_back(log ? shifted - std::log(sum) : std::exp(shifted) / sum);
  });
  return want;
}

TEST(SoftmaxTest, AnyAxis) {
  const Shape shapes[] = {{1000}, {3, 7}, {2, 3, 4, 5}, {2, 3, 1, 4, 2}, {1, 1}};
  for (const Shape& shape : shapes) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (const bool log : {false, true}) {
        const uint32_t seed = static_cast<uint32_t>(10 * shape.size() + axis);
        SCOPED_TRACE(::testing::Message()
                     << ToString(shape) << " axis " << axis << " log " << log << " seed " << seed);
        std::mt19937 random(seed);
        const TestTensor x = RandomFloats(shape, random, -90, 90);
        CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, x}}, DType::kF32, shape);
        test.Set(Field::kAxis, static_cast<int64_t>(axis)).Set(Field::kFlags, log ? 1 : 0);
        ExpectClose(RunOnAnyIsa(test).As<float>(), Reference(x, axis, log), 3e-7);
      }
    }
  }
}

void CheckSoftmax(const Shape& shape, size_t axis, bool log, uint32_t seed, float reach) {
  SCOPED_TRACE(::testing::Message()
               << ToString(shape) << " axis " << axis << " log " << log << " seed " << seed);
  std::mt19937 random(seed);
  const TestTensor x = RandomFloats(shape, random, -reach, reach);
  CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, x}}, DType::kF32, shape);
  test.Set(Field::kAxis, static_cast<int64_t>(axis)).Set(Field::kFlags, log ? 1 : 0);
  const std::vector<float> got = RunOnAnyIsa(test).As<float>();
  const std::vector<double> want = Reference(x, axis, log);
  if (log) return ExpectClose(got, want, 3e-7);
  // Small ones too, down to the denormals. x - highest is a float: what it is rounded by is an
  // error in the exponent.
  const double relative = 3e-7 + 2.0 * reach * 6e-8;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], relative * want[i] + 3e-45) << "element " << i;
  }
}

// Every length around the groups of eight, as rows and as columns; rows and columns that are more
// than is computed at once.
TEST(SoftmaxTest, EveryLength) {
  for (const bool log : {false, true}) {
    for (int64_t n = 1; n <= 45; ++n) {
      CheckSoftmax({7, n}, 1, log, static_cast<uint32_t>(n), 8);
      CheckSoftmax({3, n, 5}, 1, log, static_cast<uint32_t>(n), 30);
      CheckSoftmax({5, n}, 0, log, static_cast<uint32_t>(n), 60);
    }
    CheckSoftmax({300, 21}, 1, log, 1, 10);
    CheckSoftmax({3, 2500}, 1, log, 2, 10);
    CheckSoftmax({2, 3, 19, 31}, 1, log, 3, 10);
  }
}

TEST(SoftmaxTest, NanAndInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t n : {3, 8, 21, 40}) {
    for (const int64_t inner : {1, 3, 9}) {
      for (const bool log : {false, true}) {
        // Along the axis, in the order of the last dimension's positions.
        for (const auto& [first, rest, want_first, want_rest] :
             {std::tuple{0.0f, -kInfinity, 1.0, 0.0},  // a mask
              {-kInfinity, 0.0f, 0.0, 1.0 / (n - 1)},  // a masked element
              {1e30f, -1e30f, 1.0, 0.0},               // far below
              {-kInfinity, -kInfinity, NAN, NAN},      // nothing left
              {kInfinity, 0.0f, NAN, NAN},
              {NAN, 0.0f, NAN, NAN},
              {-NAN, -kInfinity, NAN, NAN}}) {
          std::vector<float> values(n * inner, rest);
          std::fill_n(values.begin(), inner, first);
          CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, Make<float>({n, inner}, values)}},
                           DType::kF32, {n, inner});
          test.Set(Field::kAxis, 0).Set(Field::kFlags, log ? 1 : 0);
          std::vector<double> want(n * inner, log ? std::log(want_rest) : want_rest);
          std::fill_n(want.begin(), inner, log ? std::log(want_first) : want_first);
          if (log && rest == -1e30f) std::fill(want.begin() + inner, want.end(), -2e30);
          SCOPED_TRACE(::testing::Message()
                       << n << " by " << inner << ": " << first << ", " << rest << " log " << log);
          ExpectClose(RunOnAnyIsa(test).As<float>(), want, 1e-6);
        }
      }
    }
  }
}

TEST(SoftmaxTest, EmptyTensors) {
  // Rows are not counted: the last one would take minutes.
  const int64_t huge = int64_t{1} << 36;
  for (const Shape& shape : {Shape{2, 0}, Shape{0, 3}, Shape{2, 0, 3}, Shape{huge, 0}}) {
    SCOPED_TRACE(ToString(shape));
    const TestTensor x = Make<float>(shape, {});
    CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, x}}, DType::kF32, shape);
    test.Set(Field::kAxis, 1);
    EXPECT_TRUE(RunOnAnyIsa(test).As<float>().empty());
  }
}

TEST(SoftmaxTest, RejectsAnAxisThatIsNotThere) {
  CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, Make<float>({2}, {1, 2})}}, DType::kF32,
                   {2});
  test.Set(Field::kAxis, 1);
  EXPECT_NE(ErrorOf(test), kNoError);
}

}  // namespace
}  // namespace rshift
