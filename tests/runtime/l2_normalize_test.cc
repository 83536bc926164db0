// Rows divided by their length: against real numbers and the scalar functions, on every instruction
// set.
#include "quantize/numerics/l2_normalize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

TensorSpec UnitRows(DType type, const Shape& shape) {
  return {type, shape, 0x1p-7f, type == DType::kS8 ? 0 : 128};
}

TEST(L2NormalizeStep, IsTheScalarFunctionAndNearTheRealQuotient) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t rows = random.Int(0, 5), n = random.Int(1, seed % 4 == 0 ? 1500 : 70);
    const DType type = random.Byte();
    const TensorSpec x{type, {rows, n}, 0.1f, random.Zero(type)}, y = UnitRows(type, x.shape);
    Bytes data = random.Data(rows * n);
    for (int64_t i = 0; i < n && rows > 1; ++i) {  // short ones and zeros
      const int32_t near = x.zero_point + (seed % 2 == 0 && i < 3 ? 1 : 0);
      data[static_cast<size_t>(n + i)] = static_cast<uint8_t>(near);
    }
    Bytes expected;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t squares = 0;
      const auto difference = [&](int64_t i) {
        return static_cast<int32_t>(Value(data[static_cast<size_t>(row * n + i)], type)) -
               x.zero_point;
      };
      for (int64_t i = 0; i < n; ++i) squares += int64_t{difference(i)} * difference(i);
      const auto by = numerics::InverseLengthOf(static_cast<int32_t>(squares));
      for (int64_t i = 0; i < n; ++i) {
        const int32_t v = difference(i);
        const int32_t q =
            type == DType::kS8 ? numerics::L2Normalized(v, by) : numerics::L2NormalizedU8(v, by);
        const double length = squares == 0 ? 1 : std::sqrt(static_cast<double>(squares));
        const double real = std::min(128.0 * v / length, 127.0);
        EXPECT_NEAR(q - y.zero_point, real, 1.01) << v << " of " << length;
        expected.push_back(static_cast<uint8_t>(q));
      }
    }
    ProgramBuilder b;
    const int32_t src = b.Input(x), dst = b.Output(y);
    b.Add(Opcode::kL2Normalize, dst, src);
    ASSERT_EQ(RunEverywhere(b, {data}), expected);
  }
}

TEST(L2NormalizeStep, InverseLengthsAreTakenToTheEndOf32Bits) {
  for (int64_t squares : {int64_t{2}, int64_t{3}, int64_t{4}, int64_t{65025}, int64_t{1} << 29,
                          (int64_t{1} << 29) - 1, 33025 * int64_t{65025}}) {
    const auto by = numerics::InverseLengthOf(static_cast<int32_t>(squares));
    const double inverse = std::ldexp(by.multiplier, -by.rshift);
    EXPECT_NEAR(inverse * std::sqrt(static_cast<double>(squares)), 1.0, 1e-5) << squares;
  }
}

TEST(L2NormalizeStep, WrongTensorsAreRefused) {
  struct {
    TensorSpec x, y;
    const char* message;
  } cases[] = {
      {{DType::kS8, {2, 5}}, {DType::kS8, {2, 5}, 0x1p-7f, 3}, "expected 1/128 and 0"},
      {{DType::kU8, {2, 5}}, {DType::kU8, {2, 5}, 0x1p-7f, 0}, "expected 1/128 and 128"},
      {{DType::kS8, {2, 5}}, {DType::kS8, {2, 5}, 0x1p-8f, 0}, "expected 1/128 and 0"},
      {{DType::kU8, {2, 5}}, UnitRows(DType::kS8, {2, 5}), "src"},
      {{DType::kS8, {5, 2}}, UnitRows(DType::kS8, {2, 5}), "src"},
      {{DType::kS8, {1, 33026}}, UnitRows(DType::kS8, {1, 33026}), "at most 33025"},
      {{DType::kS8, {}}, UnitRows(DType::kS8, {}), "expected rows"},
      {{DType::kS16, {2, 5}}, {DType::kS16, {2, 5}, 0x1p-7f, 0}, "s16"},
  };
  for (const auto& bad : cases) {
    ProgramBuilder b;
    const int32_t src = b.Input(bad.x), dst = b.Output(bad.y);
    b.Add(Opcode::kL2Normalize, dst, src);
    EXPECT_NE(LoadError(b).find(bad.message), std::string::npos) << LoadError(b);
  }
}

}  // namespace
}  // namespace rshift::testing
