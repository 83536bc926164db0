#include <gtest/gtest.h>

#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

// Elements of any type as their bytes: a and b hold bytes that never coincide.
TestTensor Pattern(DType type, const Shape& shape, uint8_t seed) {
  TestTensor tensor{type, shape, {}, false, Layout::kPlain};
  tensor.bytes.resize(NumElements(shape) * SizeOf(type));
  for (size_t i = 0; i < tensor.bytes.size(); ++i)
    tensor.bytes[i] = static_cast<uint8_t>(seed + 2 * i);
  if (type == DType::kBool) std::fill(tensor.bytes.begin(), tensor.bytes.end(), seed & 1);
  return tensor;
}

TEST(WhereTest, ChoosesElementsOfEveryType) {
  for (const DType type :
       {DType::kF32, DType::kS8, DType::kU8, DType::kS16, DType::kS32, DType::kS64, DType::kBool}) {
    SCOPED_TRACE(Name(type));
    const Shape dst{4, 3, 5};
    const TestTensor condition = BoolTensor({3, 1}, {1, 0, 1});
    const TestTensor a = Pattern(type, {4, 1, 5}, 0), b = Pattern(type, {5}, 1);
    const CommandCase test(Opcode::kWhere,
                           {{Field::kSrc, condition}, {Field::kSrc2, a}, {Field::kSrc3, b}}, type,
                           dst);
    std::vector<uint8_t> want;
    const size_t size = SizeOf(type);
    ForEachIndex(dst, [&](const Shape& index) {
      const bool first = condition.bytes[BroadcastOffset(condition.shape, index)] != 0;
      const TestTensor& from = first ? a : b;
      const auto at = from.bytes.begin() + BroadcastOffset(from.shape, index) * size;
      want.insert(want.end(), at, at + size);
    });
    EXPECT_EQ(RunOnAnyThreads(test).bytes, want);
  }
}

TEST(WhereTest, RejectsBranchesOfDifferentTypes) {
  const CommandCase test(Opcode::kWhere,
                         {{Field::kSrc, BoolTensor({1}, {1})},
                          {Field::kSrc2, Make<float>({1}, {1})},
                          {Field::kSrc3, Make<int32_t>({1}, {1})}},
                         DType::kF32, {1});
  EXPECT_NE(ErrorOf(test), kNoError);
}

}  // namespace
}  // namespace rshift
