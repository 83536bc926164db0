#include "runtime/f32/f32_steps.h"

#include "runtime/f32/makers.h"

namespace rshift {

void RegisterF32Steps() {
  RegisterStep(Opcode::kBinaryF32, f32::MakeBinary);
  RegisterStep(Opcode::kUnaryF32, f32::MakeUnary);
  RegisterStep(Opcode::kClipF32, f32::MakeClip);
  RegisterStep(Opcode::kLeakyReluF32, f32::MakeLeakyRelu);
  RegisterStep(Opcode::kPReluF32, f32::MakePRelu);
  RegisterStep(Opcode::kSoftmaxF32, f32::MakeSoftmax);
  RegisterStep(Opcode::kLayerNormF32, f32::MakeLayerNorm);
  RegisterStep(Opcode::kReduceF32, f32::MakeReduce);
  RegisterStep(Opcode::kArgMax, f32::MakeArgMax);
  RegisterStep(Opcode::kWhere, f32::MakeWhere);
  RegisterStep(Opcode::kCast, f32::MakeCast);
  RegisterStep(Opcode::kResizeF32, f32::MakeResize);
  RegisterStep(Opcode::kLrnF32, f32::MakeLrn);
  RegisterStep(Opcode::kInstanceNormF32, f32::MakeInstanceNorm);
}

}  // namespace rshift
