// Portable products on one instruction set and another, on x86-64 and on AArch64 (preset aarch64):
// the checksums below are of all of them. What they compute is tested beside what oneDNN computes,
// in tests/runtime/onednn.
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "tests/runtime/f32/command_harness.h"

namespace rshift {
namespace {

using namespace rshift::testing;

constexpr int64_t kBatch = 2, kHeight = 9, kWidth = 11, kKernel = 3, kStride = 2, kPad = 1;

CommandCase Convolution(Opcode opcode, int64_t groups, int64_t in, int64_t out, uint32_t seed) {
  std::mt19937 random(seed);
  const bool transposed = opcode == Opcode::kConvTransposeF32;
  const auto size = [&](int64_t large) {
    return transposed ? (large - 1) * kStride - 2 * kPad + kKernel
                      : (large + 2 * kPad - kKernel) / kStride + 1;
  };
  const int64_t outer = transposed ? in * groups : out * groups, inner = transposed ? out : in;
  CommandCase test(
      opcode,
      {{Field::kSrc, Nhwc(RandomFloats({kBatch, kHeight, kWidth, in * groups}, random))},
       {Field::kWeights, Constant(RandomFloats({outer, inner, kKernel, kKernel}, random))},
       {Field::kSrc3, Constant(RandomFloats({out * groups}, random))}},
      DType::kF32, {kBatch, size(kHeight), size(kWidth), out * groups}, Layout::kNhwc);
  test.Set(Field::kKernelH, kKernel).Set(Field::kKernelW, kKernel);
  test.Set(Field::kStrideH, kStride).Set(Field::kStrideW, kStride);
  test.Set(Field::kDilationH, 1).Set(Field::kDilationW, 1);
  test.Set(Field::kPadTop, kPad).Set(Field::kPadLeft, kPad);
  if (!transposed) test.Set(Field::kPadBottom, kPad).Set(Field::kPadRight, kPad);
  return test.Set(Field::kGroups, groups);
}

CommandCase Product(bool constant, uint32_t seed) {
  std::mt19937 random(seed);
  TestTensor b = RandomFloats({3, 70, 29}, random);
  b.constant = constant;
  return {Opcode::kMatMulF32,
          {{Field::kSrc, RandomFloats({3, 13, 70}, random)}, {Field::kSrc2, b}},
          DType::kF32,
          {3, 13, 29}};
}

uint32_t Checksum(const CommandCase& test) { return Crc32c(RunOnAnyIsa(test, true).bytes); }

TEST(PortableTest, EveryCpuGivesTheseBytes) {
  EXPECT_EQ(Checksum(Convolution(Opcode::kConvF32, 1, 19, 37, 1)), 1410547179u);
  EXPECT_EQ(Checksum(Convolution(Opcode::kConvF32, 3, 5, 7, 2)), 3087574581u);
  EXPECT_EQ(Checksum(Convolution(Opcode::kConvF32, 45, 1, 1, 3)), 2321027983u);
  EXPECT_EQ(Checksum(Convolution(Opcode::kConvTransposeF32, 1, 19, 37, 4)), 2849392351u);
  EXPECT_EQ(Checksum(Convolution(Opcode::kConvTransposeF32, 45, 1, 1, 5)), 2300484408u);
  EXPECT_EQ(Checksum(Product(true, 6)), 3347025764u);
  EXPECT_EQ(Checksum(Product(false, 7)), 2617255559u);
}

// Products and sums that no float holds on the way, but a double does.
TEST(PortableTest, SumsRunInDouble) {
  const CommandCase test(Opcode::kMatMulF32,
                         {{Field::kSrc, Make<float>({1, 3}, {1e30f, 1.0f, -1e30f})},
                          {Field::kSrc2, Make<float>({3, 1}, {1e20f, 3.0f, 1e20f})}},
                         DType::kF32, {1, 1});
  EXPECT_EQ(RunOnAnyIsa(test, true).As<float>(), std::vector<float>{0.0f});
  const CommandCase small(Opcode::kMatMulF32,
                          {{Field::kSrc, Make<float>({1, 3}, {1e30f, 0x1p-90f, -1e30f})},
                           {Field::kSrc2, Make<float>({3, 1}, {1.0f, 0x1p-59f, 1.0f})}},
                          DType::kF32, {1, 1});
  EXPECT_EQ(RunOnAnyIsa(small, true).As<float>(), std::vector<float>{0.0f});
  const CommandCase denormal(Opcode::kMatMulF32,
                             {{Field::kSrc, Make<float>({1, 1}, {0x1p-90f})},
                              {Field::kSrc2, Make<float>({1, 1}, {0x1p-59f})}},
                             DType::kF32, {1, 1});
  EXPECT_EQ(RunOnAnyIsa(denormal, true).As<float>(), std::vector<float>{0x1p-149f});
}

}  // namespace
}  // namespace rshift
