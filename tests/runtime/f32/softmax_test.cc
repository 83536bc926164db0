#include <gtest/gtest.h>

#include <cmath>

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
        ExpectClose(RunOnAnyThreads(test).As<float>(), Reference(x, axis, log), 1e-6);
      }
    }
  }
}

TEST(SoftmaxTest, RejectsAnAxisThatIsNotThere) {
  CommandCase test(Opcode::kSoftmaxF32, {{Field::kSrc, Make<float>({2}, {1, 2})}}, DType::kF32,
                   {2});
  test.Set(Field::kAxis, 1);
  EXPECT_NE(ErrorOf(test), "");
}

}  // namespace
}  // namespace rshift
