// Convolutions.
#ifndef RSHIFT_ISA_OPS_CONV_H_
#define RSHIFT_ISA_OPS_CONV_H_

#include "isa/ops/linear.h"

namespace rshift::isa {

struct Conv {
  RSHIFT_COMMAND(
      kConv, "conv", kInteger,
      "NHWC convolution, packed s8 weights, one requant record per output channel; pads hold Zsrc",
      .leads_epilogue = true, .macs = MacForm::kConv, .buffers = BufferForm::kRequant,
      .mac_ns = 0.004, .element_ns = 0.15)  // [0.15, 2.4]; of padded products

  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  HalfEpilogue half = {.quant_scale = 0};  // kHalfFloat
  Window window;
  int64_t groups = 1;
  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;
  Tensor src2 = kAbsent;      // what a kSum post-operation adds
  Tensor post_ops = kAbsent;  // four numbers for each

  static constexpr void Fields(auto& c, auto&& visit) {
    WeightFields(c, visit);
    WindowFields(c.window, visit);
    visit(Int(Field::kGroups, 1, kMaxWindow), c.groups);
    EpilogueFields(c, visit);
  }
};

struct Depthwise {
  RSHIFT_COMMAND(
      kDepthwise, "depthwise", kInteger,
      "NHWC convolution with one filter per channel (groups = IC = OC); pads hold zero_x of "
      "their channel where it is there, else Zsrc",
      .leads_epilogue = true, .macs = MacForm::kDepthwise, .taps = TapForm::kDepthwiseWindow,
      .buffers = BufferForm::kRequant, .mac_ns = 0.02,
      .element_ns = 0.15)  // [0.07, 2.3]

  ClampQ clamp = {0, 0};
  Rounding rounding = Rounding::kHalfUp;
  HalfEpilogue half = {.quant_scale = 0};  // kHalfFloat
  Window window;
  Tensor dst = 0, src = 0;
  Tensor weights = 0, requant = 0;
  Tensor zero_w = kAbsent;
  Tensor zero_x = kAbsent;
  Tensor src2 = kAbsent;      // what a kSum post-operation adds
  Tensor post_ops = kAbsent;  // four numbers for each

  static constexpr void Fields(auto& c, auto&& visit) {
    WeightFields(c, visit);
    visit(OptionalConst(Field::kZeroX), c.zero_x);
    WindowFields(c.window, visit);
    EpilogueFields(c, visit);
  }
};

struct ConvF32 {
  RSHIFT_COMMAND(kConvF32, "conv_f32", kFloatLibrary,
                 "NHWC; weights f32 [OC, IC/groups, KH, KW], src3 bias [OC]",
                 .macs = MacForm::kConv, .buffers = BufferForm::kWeights, .mac_ns = 0.012,
                 .element_ns = 0.5)  // [0.7, 1.3]; a product [0.008, 0.015]

  Window window;
  int64_t groups = 1;
  Clamp clamp;
  Tensor dst = 0, src = 0;
  Tensor weights = 0;
  Tensor src3 = kAbsent;  // bias

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kWeights), c.weights);
    visit(Optional(Field::kSrc3), c.src3);
    WindowFields(c.window, visit);
    visit(Int(Field::kGroups, 1, kMaxWindow), c.groups);
    ClampFields(c.clamp, visit);
  }
};

// The same fields; its weights are in another order.
struct ConvTransposeF32 : ConvF32 {
  RSHIFT_COMMAND(kConvTransposeF32, "conv_transpose_f32", kFloatLibrary,
                 "NHWC; weights f32 [IC, OC/groups, KH, KW], src3 bias [OC]",
                 .macs = MacForm::kConvTranspose, .buffers = BufferForm::kWeights, .mac_ns = 0.05,
                 .element_ns = 10)  // [2.5, 20] with few channels, by oneDNN's reference; a product
                                    // [0.035, 0.55]
};

// The same fields, of images whose channels are planes.
struct ConvPlanarF32 : ConvF32 {
  RSHIFT_COMMAND(kConvPlanarF32, "conv_planar_f32", kFloat,
                 "NCHW convolution with one filter per channel (groups = IC = OC) or of single "
                 "pixels (1 x 1, groups = 1); weights f32 [OC, IC/groups, KH, KW], src3 bias [OC]",
                 .macs = MacForm::kConvPlanar, .buffers = BufferForm::kNone, .mac_ns = 0.05,
                 .element_ns = 0.5)  // [0.2, 2.2]
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_CONV_H_
