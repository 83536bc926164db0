#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

CommandCase LrnCase(const TestTensor& x, int64_t axis, int64_t size) {
  CommandCase test(Opcode::kLrnF32, {{Field::kSrc, x}}, DType::kF32, x.shape);
  test.Set(Field::kAxis, axis).Set(Field::kCount, size);
  test.SetFloat(Field::kAlphaF, 0.5f).SetFloat(Field::kBetaF, 0.75f).SetFloat(Field::kBiasF, 2.0f);
  return test;
}

// ONNX Runtime 1.31.1: make_node("LRN", ["x"], ["y"], size=size, alpha=0.5, beta=0.75, bias=2.0) on
// x = (((arange(15) * 37 + 11) % 101) / 16.0 - 3).reshape(1, 5, 1, 3).
TEST(LrnTest, AgreesWithOnnxRuntime) {
  std::vector<float> values;
  for (int i = 0; i < 15; ++i)
    values.push_back(static_cast<float>((i * 37 + 11) % 101) / 16.0f - 3);
  const TestTensor x = Make<float>({1, 5, 1, 3}, values);
  ExpectClose(RunOnAnyThreads(LrnCase(x, 1, 3)).As<float>(),
              {-0.93058753, 0, 0.770475626, -0.65193212, 0.331886679, 0.808031142, -0.505185366,
               0.560824633, -0.770841837, -0.240075096, 0.677181065, -0.700902283, 0.109935105,
               0.951097608, -0.637796998},
              1e-6);
  ExpectClose(RunOnAnyThreads(LrnCase(x, 1, 5)).As<float>(),
              {-1.03195763, 0, 0.79476583, -0.749384582, 0.310009003, 0.934377789, -0.471413672,
               0.525923967, -0.843996704, -0.225462541, 0.788885951, -0.71216929, 0.106137633,
               1.06166911, -0.594776392},
              1e-6);
}

TEST(LrnTest, AnyAxisAndWindow) {
  const Shape shape{2, 7, 3, 11};
  for (int64_t axis = 0; axis < 4; ++axis) {
    for (const int64_t size : {1, 2, 4, 5, 25}) {
      SCOPED_TRACE(::testing::Message() << "axis " << axis << " size " << size << " seed 9");
      std::mt19937 random(9);
      const TestTensor x = RandomFloats(shape, random);
      const auto values = x.As<float>();
      std::vector<double> want;
      ForEachIndex(shape, [&](const Shape& index) {
        double squares = 0;
        Shape at = index;
        const int64_t first = index[axis] - (size - 1) / 2;
        for (int64_t k = 0; k < size; ++k) {
          at[axis] = first + k;
          if (at[axis] < 0 || at[axis] >= shape[axis]) continue;
          squares += std::pow(values[BroadcastOffset(shape, at)], 2.0);
        }
        want.push_back(values[want.size()] / std::pow(2.0 + 0.5 / size * squares, 0.75));
      });
      ExpectClose(RunOnAnyThreads(LrnCase(x, axis, size)).As<float>(), want, 1e-6);
    }
  }
}

}  // namespace
}  // namespace rshift
