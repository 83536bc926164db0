// Softmax and normalizations.
#ifndef RSHIFT_ISA_OPS_NORM_H_
#define RSHIFT_ISA_OPS_NORM_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Softmax {
  RSHIFT_COMMAND(
      kSoftmax, "softmax", kInteger,
      "over the last dimension; mode: SoftmaxArithmetic; table: 256 numbers by max - src",
      .buffers = BufferForm::kNone, .element_ns = 2)  // [1.1, 2.9]

  SoftmaxArithmetic arithmetic = SoftmaxArithmetic::kFixedPoint;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kTable), c.table);
    visit(Mode(kSoftmaxArithmeticCount), c.arithmetic);
    ClampFields(c.clamp, visit);
  }
};

struct SoftmaxF32 {
  RSHIFT_COMMAND(kSoftmaxF32, "softmax_f32", kFloat, "over one axis; flags 1: logarithm of it",
                 .buffers = BufferForm::kNone, .element_ns = 1)  // [0.4, 3.3]

  int64_t axis = 0;
  bool log = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(1), c.log);
  }
};

struct LayerNormF32 {
  RSHIFT_COMMAND(kLayerNormF32, "layer_norm_f32", kFloat,
                 "over the dimensions from axis on; src2 scale, src3 bias; flags 1: by the root "
                 "of the mean of squares, less no mean",
                 .buffers = BufferForm::kNone, .element_ns = 0.5)  // [0.2, 0.7]

  int64_t axis = 0;
  float epsilon = 0;
  bool rms = false;
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor src3 = kAbsent;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(1), c.rms);
    visit(Float(Field::kEpsilonF), c.epsilon);
  }
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the dimensions from `axis` on, in
// integers (NUMERICS.md section 27). `channels`: but the last one, whose channels each are
// normalized by themselves. factors: s32, offsets: s64, one for each element of a row, or for each
// channel.
struct Normalize {
  RSHIFT_COMMAND(
      kNormalize, "normalize", kInteger,
      "over the dimensions from axis on; flags 1: less the mean, 2: each channel (last "
      "dimension) by itself; offset: epsilon in units of n^2 Ssrc^2 2^-rshift; src2: s32 "
      "factors >> rshift2, list: s64 offsets with Zdst and the rounding term",
      .buffers = BufferForm::kNone, .element_ns = 0.5)

  int64_t axis = 0;
  bool center = false, channels = false;
  int64_t epsilon = 0;  // of the variance times n^2 and 2^variance_shift
  int32_t variance_shift = 0, rshift = 1;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0;
  Tensor factors = 0, offsets = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Const(Field::kSrc2), c.factors);
    visit(Const(Field::kList), c.offsets);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(2), c.center, c.channels);
    visit(Int(Field::kOffset, 0, (int64_t{1} << 62) - 1), c.epsilon);
    visit(Int(Field::kRshift, 0, 44), c.variance_shift);
    visit(Int(Field::kRshift2, 1, 62), c.rshift);
    ClampFields(c.clamp, visit);
  }
};

// Rows divided by their length, as LiteRT computes it: numerics/l2_normalize.h. dst has the scale
// 1/128 and the zero point 0 (s8) or 128 (u8), and src's type.
struct L2Normalize {
  RSHIFT_COMMAND(kL2Normalize, "l2_normalize", kInteger,
                 "src / root of the sum of squares over the last dimension; dst counts in 1/128",
                 .buffers = BufferForm::kNone, .element_ns = 2)

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { DenseFields(c, visit); }
};

struct LrnF32 {
  RSHIFT_COMMAND(kLrnF32, "lrn_f32", kFloat,
                 "src / (bias + alpha / count * sum of squares of count neighbours on axis)^beta",
                 .taps = TapForm::kNeighbours, .buffers = BufferForm::kNone,
                 .element_ns = 2)  // each tap [1.1, 2.2]

  int64_t size = 1;
  float alpha = 0, beta = 0, bias = 0;
  int64_t axis = 0;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Int(Field::kCount, 1, kMaxWindow), c.size);
    visit(Float(Field::kAlphaF), c.alpha);
    visit(Float(Field::kBetaF), c.beta);
    visit(Float(Field::kBiasF), c.bias);
  }
};

struct InstanceNormF32 {
  RSHIFT_COMMAND(kInstanceNormF32, "instance_norm_f32", kFloat,
                 "per image and channel; src2 scale, src3 bias", .buffers = BufferForm::kNone,
                 .element_ns = 0.5)  // [0.2, 1.2]

  float epsilon = 0;
  Tensor dst = 0, src = 0, src2 = 0, src3 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(In(Field::kSrc3), c.src3);
    visit(Float(Field::kEpsilonF), c.epsilon);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_NORM_H_
