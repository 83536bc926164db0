#include <gtest/gtest.h>

#include "tests/codegen/test_graph.h"

namespace rshift {
namespace {

constexpr Window kWindow{3, 2, 2, 1, 1, 1, 1, 0, 0, 1};

TEST(LowerMaxPool, OneCommandForFloatAndInteger) {
  for (const Kind& kind : {Nhwc({1, 8, 8, 4}), QuantizedNhwc({1, 8, 8, 4}, {0.5f, 1})}) {
    TestGraph test;
    const ValueId x = test.Input("x", kind);
    Kind out = kind;
    out.shape = {1, 4, 8, 4};
    test.Output(test.Node("y", out, MaxPool{kWindow}, {x}));
    const ProgramImage image = CompileChecked(test);
    ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kMaxPool});
    EXPECT_EQ(image.commands[0].Get(Field::kKernelH), 3);
    EXPECT_EQ(image.commands[0].Get(Field::kPadRight), 1);
  }
}

TEST(LowerAveragePool, CountsPadsOnRequest) {
  for (const bool include_pad : {false, true}) {
    TestGraph test;
    const ValueId x = test.Input("x", Nhwc({1, 8, 8, 4}));
    test.Output(test.Node("y", Nhwc({1, 4, 8, 4}), AveragePool{{kWindow, include_pad}}, {x}));
    const ProgramImage image = CompileChecked(test);
    ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kAveragePoolF32});
    EXPECT_EQ(image.commands[0].Get(Field::kFlags), include_pad ? 1 : 0);
  }
}

TEST(LowerQAveragePool, CarriesScaleOffsetAndClamp) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedNhwc({1, 8, 8, 4}, {0.5f, 1}));
  isa::AveragePool op;
  op.window = kWindow;
  op.scale = 0.75f;
  op.offset = -2.5f;
  op.count_include_pad = true;
  op.clamp = {-100, 50};
  test.Output(test.Node("y", QuantizedNhwc({1, 4, 8, 4}, {0.25f, 2}), op, {x}));
  const ProgramImage image = CompileChecked(test);
  ASSERT_EQ(OpcodesOf(image), std::vector{Opcode::kAveragePool});
  const Command& pool = image.commands[0];
  EXPECT_EQ(pool.GetFloat(Field::kScaleF), 0.75f);
  EXPECT_EQ(pool.GetFloat(Field::kOffsetF), -2.5f);
  EXPECT_EQ(pool.Get(Field::kFlags), 1);
  EXPECT_EQ(pool.Get(Field::kClampLoQ), -100);
  EXPECT_EQ(pool.Get(Field::kClampHiQ), 50);
}

TEST(LowerQAveragePool, CarriesItsWords) {
  TestGraph test;
  const ValueId x = test.Input("x", QuantizedNhwc({1, 8, 8, 4}, {0.5f, 1}));
  const isa::AveragePool op{.window = kWindow,
                            .clamp = {-100, 50},
                            .arithmetic = PoolArithmetic::kRequantize,
                            .rounding = Rounding::kTwoStep,
                            .words = {1 << 30, 35}};
  test.Output(test.Node("y", QuantizedNhwc({1, 4, 8, 4}, {0.25f, 2}), op, {x}));
  const Command pool = CompileChecked(test).commands[0];
  EXPECT_EQ(pool.Get(Field::kMode), 3);
  EXPECT_EQ(pool.Get(Field::kRounding), 1);
  EXPECT_EQ(pool.Get(Field::kMultiplier), 1 << 30);
  EXPECT_EQ(pool.Get(Field::kRshift), 35);
}

}  // namespace
}  // namespace rshift
