#include <gtest/gtest.h>

#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

TEST(LowerQuantize, FromFloatToIntegersAndBack) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4}));
  const ValueId q = test.Node("q", QuantizedPlain({4}, {0.5f, 3}), Quantize{}, {x});
  const ValueId r =
      test.Node("r", QuantizedPlain({4}, {0.25f, -3}), Requantize{{1 << 30, 29}, {-10, 20}}, {q});
  test.Output(test.Node("y", F32({4}), Dequantize{}, {r}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image),
            (std::vector{Opcode::kQuantize, Opcode::kRequantize, Opcode::kDequantize}));
  EXPECT_EQ(RecordOf(image, image.commands[0], Field::kDst).zero_point, 3);
  EXPECT_EQ(image.commands[1].Get(Field::kMultiplier), 1 << 30);
  EXPECT_EQ(image.commands[1].Get(Field::kRshift), 29);
  EXPECT_EQ(image.commands[1].Get(Field::kClampLoQ), -10);
  EXPECT_EQ(image.commands[1].Get(Field::kClampHiQ), 20);
  EXPECT_FALSE(RecordOf(image, image.commands[2], Field::kDst).quantized);
}

TEST(LowerQuantize, CarriesTheRealRounding) {
  TestGraph test;
  const ValueId x = test.Input("x", F32({4}));
  test.Output(test.Node("q", QuantizedPlain({4}, {0.5f, 3}), Quantize{RealRounding::kFloor}, {x}));
  EXPECT_EQ(CompileChecked(test).commands[0].Get(Field::kMode),
            static_cast<int64_t>(RealRounding::kFloor));
}

}  // namespace
}  // namespace rshift
