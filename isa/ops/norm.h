// Softmax and normalizations.
#ifndef RSHIFT_ISA_OPS_NORM_H_
#define RSHIFT_ISA_OPS_NORM_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct Softmax {
  static constexpr Opcode kOpcode = Opcode::kSoftmax;
  static constexpr const char* kName = "softmax";
  static constexpr OpClass kClass = OpClass::kInteger;
  static constexpr const char* kSummary =
      "over the last dimension; mode: SoftmaxArithmetic; table: 256 numbers by max - src";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  Tensor table = 0;
  SoftmaxArithmetic arithmetic = SoftmaxArithmetic::kFixedPoint;
  ClampQ clamp = {0, 0};

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Const(Field::kTable), c.table);
    visit(Mode(kSoftmaxArithmeticCount), c.arithmetic);
    ClampFields(c.clamp, visit);
  }
};

struct SoftmaxF32 {
  static constexpr Opcode kOpcode = Opcode::kSoftmaxF32;
  static constexpr const char* kName = "softmax_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "over one axis; flags 1: logarithm of it";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  int64_t axis = 0;
  bool log = false;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Flags(1), c.log);
  }
};

struct LayerNormF32 {
  static constexpr Opcode kOpcode = Opcode::kLayerNormF32;
  static constexpr const char* kName = "layer_norm_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "over the dimensions from axis on; src2 scale, src3 bias";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0, src2 = 0;
  Tensor src3 = kAbsent;
  int64_t axis = 0;
  float epsilon = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(In(Field::kSrc2), c.src2);
    visit(Optional(Field::kSrc3), c.src3);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Float(Field::kEpsilonF), c.epsilon);
  }
};

struct LrnF32 {
  static constexpr Opcode kOpcode = Opcode::kLrnF32;
  static constexpr const char* kName = "lrn_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary =
      "src / (bias + alpha / count * sum of squares of count neighbours on axis)^beta";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0;
  int64_t axis = 0, count = 1;
  float alpha = 0, beta = 0, bias = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(Int(Field::kAxis, 0, 7), c.axis);
    visit(Int(Field::kCount, 1, kMaxWindow), c.count);
    visit(Float(Field::kAlphaF), c.alpha);
    visit(Float(Field::kBetaF), c.beta);
    visit(Float(Field::kBiasF), c.bias);
  }
};

struct InstanceNormF32 {
  static constexpr Opcode kOpcode = Opcode::kInstanceNormF32;
  static constexpr const char* kName = "instance_norm_f32";
  static constexpr OpClass kClass = OpClass::kFloat;
  static constexpr const char* kSummary = "per image and channel; src2 scale, src3 bias";
  static constexpr OpTraits kTraits = {};

  Tensor dst = 0, src = 0, src2 = 0, src3 = 0;
  float epsilon = 0;

  template <typename Self, typename Visit>
  static constexpr void Fields(Self& c, Visit&& visit) {
    visit(Out(Field::kDst), c.dst);
    visit(In(Field::kSrc), c.src);
    visit(In(Field::kSrc2), c.src2);
    visit(In(Field::kSrc3), c.src3);
    visit(Float(Field::kEpsilonF), c.epsilon);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_NORM_H_
