// Quantization whose scale and zero point are found while the program runs. They are a tensor, the
// record: f32 [2], the scale and the zero point as a number.
#ifndef RSHIFT_ISA_OPS_DYNAMIC_H_
#define RSHIFT_ISA_OPS_DYNAMIC_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct DynamicRange {
  RSHIFT_COMMAND(kDynamicRange, "dynamic_range", kInteger,
                 "dst f32 [2]: scale and zero point of u8 between the least and the greatest of "
                 "src, 0 included",
                 .buffers = BufferForm::kNone, .element_ns = 0.2)

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { DenseFields(c, visit); }
};

struct DynamicQuantize {
  RSHIFT_COMMAND(kDynamicQuantize, "dynamic_quantize", kInteger,
                 "f32 to u8 by the scale and zero point in src2, f32 [2]",
                 .buffers = BufferForm::kNone, .element_ns = 0.1)

  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
  }
};

// Operands of both products. dst f32: float(acc) * (src2[0] * scale) + bias_f, each operation
// rounded, both numbers from the channel's requant record; dst s32: acc, the records all zero.
constexpr void DynamicFields(auto& c, auto&& visit) {
  DenseFields(c, visit);
  visit(In(Field::kSrc2), c.src2);
  visit(Const(Field::kWeights), c.weights);
  visit(Const(Field::kRequant), c.requant);
  visit(OptionalConst(Field::kZeroW), c.zero_w);
}

struct DynamicConv {
  RSHIFT_COMMAND(
      kDynamicConv, "dynamic_conv", kInteger,
      "NHWC convolution of s8/u8 with packed s8 weights, of one filter per channel where "
      "groups = IC = OC; src's scale and zero point in src2, f32 [2]; dst f32 or s32",
      .macs = MacForm::kConv, .buffers = BufferForm::kDynamicRequant, .mac_ns = 0.02,
      .element_ns = 1)

  Window window;
  int64_t groups = 1;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) {
    DynamicFields(c, visit);
    WindowFields(c.window, visit);
    visit(Int(Field::kGroups, 1, kMaxWindow), c.groups);
  }
};

struct DynamicMatMul {
  RSHIFT_COMMAND(kDynamicMatMul, "dynamic_matmul", kInteger,
                 "src [..., M, K] of s8/u8 times packed s8 weights [K, N]; src's scale and zero "
                 "point in src2, f32 [2]; dst f32 or s32",
                 .macs = MacForm::kMatMul, .buffers = BufferForm::kDynamicRequant, .mac_ns = 0.004,
                 .element_ns = 1)

  Tensor dst = 0, src = 0, src2 = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) { DynamicFields(c, visit); }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_DYNAMIC_H_
